package mutant

// Mutants of what several transactions, workers or clocks make of one row.
func init() {
	register(
		Mutant{
			Name: "late-failure-reopens", Scenario: "stale-settle", Invariant: "I6",
			Description: "a failure takes back whatever its job has by now",
			Schema:      []string{unfreezeJobs},
			Replace: []Replacement{{Statement: "fail-attempt", Old: `		RETURNING id, job_id
	)`, New: `		RETURNING id, job_id
	), reopened AS (
		UPDATE jobs SET result = NULL, completed_by = NULL, completed_at = NULL
		WHERE  id = (SELECT job_id FROM failed) AND completed_by IS NOT NULL
	)`}},
		},
		Mutant{
			Name: "rescue-by-age", Scenario: "slow-but-alive", Invariant: "I7",
			Description: "an attempt that runs for long is taken for lost, however alive its worker is",
			Replace: []Replacement{
				{Statement: "claim-attempts", Old: `a.state = 'starting'
		  AND  a.worker IS NULL`, New: `(a.state = 'starting' AND a.worker IS NULL OR a.state = 'running' AND a.since < clock_timestamp() - interval '200 ms')`},
				{Statement: "claim-attempts", Old: `
		  AND  a.state = 'starting' -- nobody else took it: 0 rows, do not call`, New: ``},
			},
		},
		Mutant{
			Name: "cancelled-is-sent", Scenario: "cancelled-before-claim", Invariant: "I4",
			Description: "what was cancelled before a worker had it is sent all the same",
			Schema: []string{unfreezeAttempts, `ALTER TABLE attempts DROP CONSTRAINT IF EXISTS terminal_has_ended`,
				`DROP INDEX IF EXISTS one_open_attempt_per_job`},
			Replace: []Replacement{
				{Statement: "claim-attempts", Old: `a.state = 'starting'
		  AND  a.worker IS NULL`, New: `a.state IN ('starting', 'cancelled') AND a.worker IS NULL`},
				{Statement: "claim-attempts", Old: `
		  AND  a.state = 'starting' -- nobody else took it: 0 rows, do not call`, New: ``},
			},
		},
		Mutant{
			Name: "moves-not-guarded", Scenario: "every-move", Invariant: "I4",
			Description: "the database lets an attempt go from any state to any other",
			Schema:      []string{unfreezeAttempts},
		},
		Mutant{
			Name: "resolve-any-state", Scenario: "provider-duplicate-callback", Invariant: "I4",
			Description: "what a callback says counts in any state of the attempt",
			Schema:      []string{unfreezeJobs, unfreezeAttempts},
			Replace: []Replacement{{Statement: "resolve-attempt", Old: `
		  AND  state IN ('unknown', 'released')`, New: ``}},
			Policy: []Policy{ResolveAnyState},
		},
		Mutant{
			Name: "claim-by-new-column", Scenario: "mixed-version-rollout", Invariant: "I7",
			Description: "a new version claims by a column that an old version does not know",
			Schema: []string{`ALTER TABLE attempts ADD COLUMN IF NOT EXISTS claimed boolean NOT NULL DEFAULT false`,
				`DO $$ BEGIN GRANT UPDATE (claimed) ON attempts TO interlock_service; EXCEPTION WHEN undefined_object THEN NULL; END $$`},
			Replace: []Replacement{
				{Statement: "claim-attempts", Old: `a.state = 'starting'
		  AND  a.worker IS NULL`, New: `NOT a.claimed AND a.state IN ('starting', 'running')`},
				{Statement: "claim-attempts", Old: `SET    state = 'running', worker`, New: `SET    claimed = true, state = 'running', worker`},
				{Statement: "claim-attempts", Old: `
		  AND  a.state = 'starting' -- nobody else took it: 0 rows, do not call`, New: ``},
			},
		},
		Mutant{
			Name: "advisory-lock-too-short", Scenario: "hundred-clicks", Invariant: "I1",
			Description: "a key is looked for under an advisory lock that ends before the insert",
			Schema:      []string{keysNotUnique, plainKeyIndex},
			Replace: []Replacement{
				{Statement: "submit-job", Old: `
		ON CONFLICT ON CONSTRAINT jobs_owner_key DO NOTHING`, New: ``},
				{Statement: "submit-jobs", Old: `
		ON CONFLICT ON CONSTRAINT jobs_owner_key DO NOTHING`, New: ``},
			},
			Policy: []Policy{AdvisoryLockTooShort},
		},
		Mutant{
			Name: "lost-start-is-new", Scenario: "ack-lost-on-attempt-insert", Invariant: "I3",
			Description: "an attempt whose COMMIT was lost is started once more",
			Schema:      []string{`DROP INDEX IF EXISTS one_open_attempt_per_job`},
			Policy:      []Policy{LostStartIsNew},
		},
		Mutant{
			Name: "job-and-attempt-apart", Scenario: "backend-terminated-mid-tx", Invariant: "I8",
			Description: "a job and its first attempt are stored in two transactions",
			Replace: []Replacement{
				{Statement: "submit-job", Old: `
		INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms)
		SELECT @attempt, id, 1, @provider, 'starting', @deadline_ms
		FROM   new_job
		RETURNING id, job_id`, New: `
		SELECT @attempt::uuid AS id, id AS job_id
		FROM   new_job
		WHERE  @provider::text = '' AND @deadline_ms::bigint = 0`},
				{Statement: "submit-jobs", Old: `
		INSERT INTO attempts (id, job_id, n, provider, state, deadline_ms)
		SELECT a.attempt, a.job, 1, a.provider, 'starting', a.deadline_ms
		FROM   new_job JOIN asked a ON a.job = new_job.id
		ORDER  BY a.i -- who came first is claimed first
		RETURNING id, job_id`, New: `
		SELECT attempt AS id, job AS job_id
		FROM   asked
		WHERE  false`},
			},
			Policy: []Policy{JobAndAttemptApart},
		},
		Mutant{
			Name: "unknown-locks-for-ever", Scenario: "cancel-of-unknown-unlocks", Invariant: "I3",
			Description: "an attempt that was fenced still keeps a new one from starting",
			Schema: []string{`DROP INDEX IF EXISTS one_open_attempt_per_job`,
				`CREATE UNIQUE INDEX one_open_attempt_per_job ON attempts (job_id) WHERE state IN ('starting', 'running', 'unknown', 'cancelled')`},
		},
		Mutant{
			Name: "second-queue", Scenario: "crash-after-cas-before-ack", Invariant: "I7",
			Description: "what a worker had taken and never gave back is done again by the next one, finished or not",
			Schema:      []string{unfreezeAttempts, `ALTER TABLE attempts DROP CONSTRAINT IF EXISTS terminal_has_ended`},
			Replace: []Replacement{
				{Statement: "claim-attempts", Old: `a.state = 'starting'
		  AND  a.worker IS NULL`, New: `(a.state = 'starting' AND a.worker IS NULL OR a.state = 'succeeded' AND a.worker <> @worker)`},
				{Statement: "claim-attempts", Old: `
		  AND  j.completed_by IS NULL`, New: ``},
				{Statement: "claim-attempts", Old: `
		  AND  a.state = 'starting' -- nobody else took it: 0 rows, do not call`, New: ``},
			},
		},
		Mutant{
			Name: "lease-is-no-fence", Scenario: "zombie-worker-wakes", Invariant: "I5",
			Description: "whoever once held a lease may write the result",
			Schema:      []string{unfreezeJobs, manyWinners},
			Replace: []Replacement{{Statement: "complete-job", Old: casGuards, New: `
	  AND  EXISTS (SELECT FROM attempts a WHERE a.id = @attempt AND a.worker IS NOT NULL AND @version::bigint > 0)`}},
		},
		Mutant{
			Name: "deadline-by-wall-clock", Scenario: "clock-jump-forward", Invariant: "I4",
			Description: "an attempt whose deadline lies in the past of the clock has failed",
			Replace: []Replacement{
				{Statement: "reap-attempt", Old: `SET    state = 'unknown', reason = 'lease', since = clock_timestamp()`,
					New: `SET    state = CASE WHEN deadline_at < clock_timestamp() THEN 'failed' ELSE 'unknown' END, reason = 'lease',
		       since = clock_timestamp(), ended_at = CASE WHEN deadline_at < clock_timestamp() THEN clock_timestamp() END`},
				{Statement: "reap-attempt", Old: `RETURNING id, job_id`, New: `RETURNING id, job_id, state`},
				{Statement: "reap-attempt", Old: `'running', 'unknown', @actor`, New: `'running', state, @actor`},
			},
		},
		Mutant{
			Name: "result-from-the-future", Scenario: "clock-jump-back", Invariant: "I5",
			Description: "of two results the one with the later time counts, and one from the future counts as none",
			Schema:      []string{unfreezeJobs, manyWinners},
			Replace: []Replacement{{Statement: "complete-job", Old: casGuards, New: `
	  AND  (completed_at IS NULL OR completed_at > clock_timestamp())
	  AND  cancelled_at IS NULL AND @version::bigint > 0`}},
		},
	)
}
