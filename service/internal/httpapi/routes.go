package httpapi

// routes is the whole contract: what is served, to whom, and what each route
// may answer. The OpenAPI document is written from it.
func routes() []route {
	return []route{
		{"POST", "/v1/jobs", submit, owners, doc{
			id: "submitJob", summary: "Submit an intent: one job for one key, however often it is sent",
			headers: []string{"Idempotency-Key", "Prefer"}, body: "Submit",
			answers: []answerDoc{
				{201, "Job", "A new job"},
				{200, "Job", "The job of this key, replayed (Idempotency-Replayed), or with Prefer: wait a job that ended"},
				{202, "Job", "With Prefer: wait, a job that did not end in time"},
			},
			problems: []*problemKind{keyMissing, keyInvalid, headerInvalid, bodyUnreadable, bodyNotJSON, bodyTimeout, keyReused,
				jobPurged, bodyTooLarge, mediaType, paramsInvalid, rateLimited},
		}},
		{"GET", "/v1/jobs", listJobs, owners, doc{
			id: "listJobs", summary: "List your own jobs, newest first and without results, or find the one of a key",
			headers: []string{"If-None-Match"}, query: []string{"key", "status", "limit", "after"},
			answers:  []answerDoc{{200, "JobList", "One page"}, {304, "", "Nothing changed"}},
			problems: []*problemKind{cursorInvalid, headerInvalid, notFound, jobPurged},
		}},
		{"GET", "/v1/jobs/{id}", getJob, owners, doc{
			id: "getJob", summary: "Read a job", headers: []string{"If-None-Match"},
			answers:  []answerDoc{{200, "Job", "The job"}, {304, "", "Nothing changed"}},
			problems: []*problemKind{idInvalid, headerInvalid, notFound, jobPurged},
		}},
		{"POST", "/v1/jobs/{id}/cancel", cancelJob, owners, doc{
			id: "cancelJob", summary: "Cancel a job: no attempt can win any more",
			headers: []string{"If-Match"}, body: "CancelJob", optional: true,
			answers:  []answerDoc{{200, "Job", "The cancelled job"}},
			problems: changes(jobTerminal, jobPurged),
		}},
		{"GET", "/v1/jobs/{id}/attempts", listAttempts, owners, doc{
			id: "listAttempts", summary: "List a job's attempts, oldest first", headers: []string{"If-None-Match"},
			answers:  []answerDoc{{200, "AttemptList", "All attempts"}, {304, "", "Nothing changed"}},
			problems: []*problemKind{idInvalid, headerInvalid, notFound, jobPurged},
		}},
		{"POST", "/v1/jobs/{id}/attempts", startAttempt, owners, doc{
			id: "startAttempt", summary: "Start one more attempt: one for one key of this job",
			headers: []string{"Idempotency-Key", "If-Match"}, body: "Start", optional: true,
			answers:  []answerDoc{{202, "Attempt", "A new attempt, or the one of this key, replayed (Idempotency-Replayed)"}},
			problems: changes(keyMissing, keyInvalid, keyReused, attemptInFlight, jobTerminal, notCertified, jobPurged, rateLimited),
		}},
		{"POST", "/v1/jobs/{id}/attempts/{n}/cancel", cancelAttempt, operators, doc{
			id: "cancelAttempt", summary: "Fence an attempt for ever: it can never win",
			headers: []string{"If-Match"}, body: "Act",
			answers:  []answerDoc{{200, "Attempt", "The cancelled attempt"}},
			problems: changes(attemptTerminal, jobPurged),
		}},
		{"POST", "/v1/jobs/{id}/attempts/{n}/release", releaseAttempt, operators, doc{
			id: "releaseAttempt", summary: "Let a new attempt start beside an unknown one, which stays a contender",
			headers: []string{"If-Match"}, body: "Act",
			answers:  []answerDoc{{200, "Attempt", "The released attempt"}},
			problems: changes(notReleasable, jobPurged),
		}},
		{"POST", "/v1/jobs/{id}/attempts/{n}/resolve", resolveAttempt, operators, doc{
			id: "resolveAttempt", summary: "Say with evidence how an unknown attempt ended",
			headers: []string{"If-Match"}, body: "Resolve",
			answers:  []answerDoc{{200, "Attempt", "The attempt, succeeded, failed, or lost where the job had ended before"}},
			problems: changes(notUnknown, resultInvalid, jobPurged),
		}},
		{"GET", "/v1/jobs/{id}/events", listEvents, owners, doc{
			id: "listEvents", summary: "Read what happened to a job; with Accept: text/event-stream as it happens",
			headers: []string{"Accept", "Last-Event-ID", "If-None-Match"}, stream: true,
			answers:  []answerDoc{{200, "EventList", "All events, or a stream whose id is the event's number"}, {304, "", "Nothing changed"}},
			problems: []*problemKind{idInvalid, headerInvalid, notFound, jobPurged, streamsSpent},
		}},
		{"GET", "/v1/races", listRaces, owners, doc{
			id: "listRaces", summary: "List results that came too late, newest first, without their payloads",
			headers: []string{"If-None-Match"}, query: []string{"job", "limit", "after"},
			answers:  []answerDoc{{200, "RaceList", "One page"}, {304, "", "Nothing changed"}},
			problems: []*problemKind{idInvalid, cursorInvalid, headerInvalid, notFound, jobPurged},
		}},
		{"GET", "/v1/unknown", listUnknown, owners, doc{
			id: "listUnknown", summary: "List attempts whose outcome nobody knows, oldest first; an operator sees those of all owners",
			query:   []string{"older_than_ms", "limit"},
			answers: []answerDoc{{200, "UnknownList", "The oldest ones"}},
		}},
		{"GET", "/v1/providers", listProviders, owners, doc{
			id: "listProviders", summary: "List the configured providers", headers: []string{"If-None-Match"},
			answers:  []answerDoc{{200, "ProviderList", "All providers"}, {304, "", "Nothing changed"}},
			problems: []*problemKind{headerInvalid},
		}},
		{"GET", "/v1/failover", askGate, owners, doc{
			id: "askGate", summary: "Ask whether a failover is allowed now, and why", query: []string{"from", "to", "contract"},
			answers:  []answerDoc{{200, "GateAnswer", "The gate's answer, open or shut"}},
			problems: []*problemKind{paramsInvalid},
		}},
		{"PUT", "/v1/certificates", putCertificate, operators, doc{
			id: "putCertificate", summary: "Bring a signed certificate", body: "Envelope",
			answers:  []answerDoc{{201, "Certificate", "Taken"}, {200, "Certificate", "Known already"}},
			problems: []*problemKind{roleRequired, bodyUnreadable, bodyTimeout, bodyTooLarge, mediaType, certificateInvalid},
		}},
		{"GET", "/livez", livez, everybody, doc{
			id: "livez", summary: "Does the process serve?", answers: []answerDoc{{200, "Alive", "It does"}},
		}},
		{"GET", "/readyz", readyz, everybody, doc{
			id: "readyz", summary: "Should it get requests now?",
			answers: []answerDoc{{200, "Readiness", "It should"}, {503, "Readiness", "It should not; the checks say why"}},
		}},
		{"GET", "/metrics", scrape, everybody, doc{
			id: "metrics", summary: "Figures in the Prometheus text format", text: "text/plain", answers: []answerDoc{{200, "", "All metrics"}},
		}},
		{"GET", "/openapi.json", openAPI, everybody, doc{
			id: "openapi", summary: "This document", answers: []answerDoc{{200, "Document", "OpenAPI 3.1"}},
		}},
		{"GET", "/problems/{type}", problemPage, everybody, doc{
			id: "problem", summary: "What a type of problem means and what to do", text: "text/markdown",
			answers: []answerDoc{{200, "", "Its page"}}, problems: []*problemKind{notFound},
		}},
	}
}

// changes are the problems of every verb on a job or attempt, and its own.
func changes(own ...*problemKind) []*problemKind {
	return append([]*problemKind{idInvalid, headerInvalid, notFound, versionMismatch,
		bodyUnreadable, bodyNotJSON, bodyTimeout, bodyTooLarge, mediaType, paramsInvalid}, own...)
}

// RouteNames lists method and path of every route, for tests that go through all.
func RouteNames() []string {
	var names []string
	for _, r := range routes() {
		names = append(names, r.method+" "+r.path)
	}
	return names
}
