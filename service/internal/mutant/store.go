package mutant

// Statements are changed by the mutants below; schema parts are run as the
// owner of the tables and may be repeated.
const (
	// unfreeze removes the triggers that would stop a wrong move after all.
	unfreezeJobs     = `DROP TRIGGER IF EXISTS finished_job_is_frozen ON jobs`
	unfreezeAttempts = `DO $$ BEGIN
		DROP TRIGGER IF EXISTS terminal_attempt_is_frozen ON attempts;
		DROP TRIGGER IF EXISTS attempt_moves_legally ON attempts;
	END $$`
	manyWinners   = `DROP INDEX IF EXISTS one_winner_per_job`
	plainKeyIndex = `CREATE INDEX IF NOT EXISTS jobs_owner_key_plain ON jobs (owner, key)`
	keysNotUnique = `ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_owner_key`
)

const casGuards = `
	  AND  version = @version    -- nobody moved the job since we claimed
	  AND  completed_by IS NULL  -- nobody finished it before us
	  AND  cancelled_at IS NULL  -- its owner still wants it`

func init() {
	register(
		Mutant{
			Name: "check-then-insert", Scenario: "double-click", Invariant: "I1",
			Description: "a submit looks for the key and then inserts, without a unique index",
			Schema:      []string{keysNotUnique, plainKeyIndex},
			Replace: []Replacement{{
				Statement: "submit-job",
				Old: `VALUES (@job, @owner, @key, @fingerprint, @algorithm, @request, @intent)
		ON CONFLICT ON CONSTRAINT jobs_owner_key DO NOTHING`,
				New: `SELECT @job, @owner, @key, @fingerprint, @algorithm, @request, @intent
		WHERE  NOT EXISTS (SELECT FROM jobs WHERE owner = @owner AND key = @key)`,
			}, {
				Statement: "submit-jobs",
				Old: `ORDER  BY owner, key, i -- one order for all groups, so that two of them never wait for each other
		ON CONFLICT ON CONSTRAINT jobs_owner_key DO NOTHING`,
				New: `WHERE  NOT EXISTS (SELECT FROM jobs WHERE jobs.owner = asked.owner AND jobs.key = asked.key)`,
			}},
		},
		Mutant{
			Name: "key-unique-for-all-owners", Scenario: "same-key-two-owners", Invariant: "I11",
			Description: "keys are unique for all owners together",
			Schema: []string{keysNotUnique,
				`ALTER TABLE jobs ADD CONSTRAINT jobs_owner_key UNIQUE (key)`},
			Replace: []Replacement{{
				Statement: "job-by-key",
				Old:       `j.owner = @owner -- a key means something within its owner only`,
				New:       `@owner::text IS NOT NULL`,
			}},
		},
		Mutant{
			Name: "lost-submit-is-new", Scenario: "ack-lost-on-commit", Invariant: "I1",
			Description: "a submit whose COMMIT was lost is sent again as a new one",
			Policy:      []Policy{LostSubmitIsNew},
		},
		Mutant{
			Name: "lost-commit-is-success", Scenario: "commit-lost", Invariant: "I8",
			Description: "an EOF at COMMIT is taken for success",
			Policy:      []Policy{LostCommitIsSuccess},
		},
		Mutant{
			Name: "lost-commit-is-repeated", Scenario: "ack-lost-on-result-cas", Invariant: "I6",
			Description: "a result whose COMMIT was lost is written again blindly, and its own win counts as a lost race",
			Policy:      []Policy{LostCommitIsRepeated},
		},
		Mutant{
			Name: "no-open-attempt-index", Scenario: "provider-stall-then-second-attempt", Invariant: "I3",
			Description: "nothing keeps two attempts of a job from being open at once",
			Schema:      []string{`DROP INDEX IF EXISTS one_open_attempt_per_job`},
		},
		Mutant{
			Name: "unknown-does-not-block", Scenario: "provider-stall-then-second-attempt", Invariant: "I3",
			Description: "a new attempt may start while one is unknown",
			Schema: []string{`DROP INDEX IF EXISTS one_open_attempt_per_job`,
				`CREATE UNIQUE INDEX one_open_attempt_per_job ON attempts (job_id) WHERE state IN ('starting', 'running')`},
		},
		Mutant{
			Name: "last-write-wins", Scenario: "reverse-order", Invariant: "I5",
			Description: "the result is written without looking at what is there",
			Schema:      []string{unfreezeJobs, manyWinners},
			Replace:     []Replacement{{Statement: "complete-job", Old: casGuards, New: ``}},
		},
		Mutant{
			Name: "read-then-write", Scenario: "simultaneous-finish", Invariant: "I5",
			Description: "the compare-and-swap compares what it read before it waited for the row",
			Schema:      []string{unfreezeJobs, manyWinners},
			Replace: []Replacement{{Statement: "complete-job", Old: casGuards, New: `
	  AND  (SELECT j.completed_by IS NULL AND j.cancelled_at IS NULL FROM jobs j WHERE j.id = @job AND @version::bigint > 0)`}},
		},
		Mutant{
			Name: "cancelled-attempt-may-win", Scenario: "late-after-cancel", Invariant: "I15",
			Description: "a cancelled attempt is still a contender",
			Schema:      []string{unfreezeAttempts},
			Replace: []Replacement{{Statement: "win-attempt",
				Old: `state IN ('running', 'unknown', 'released')`,
				New: `state IN ('running', 'unknown', 'released', 'cancelled')`}},
		},
		Mutant{
			Name: "cancel-bumps-no-version", Scenario: "cancel-vs-complete", Invariant: "I15",
			Description: "the cancel of a job is no move that a compare-and-swap would notice",
			Schema:      []string{unfreezeJobs, `ALTER TABLE jobs DROP CONSTRAINT IF EXISTS finished_once`},
			Replace: []Replacement{
				{Statement: "cancel-job", Old: `, version = version + 1 -- every`, New: ` -- every`},
				{Statement: "complete-job", Old: `
	  AND  cancelled_at IS NULL  -- its owner still wants it`, New: ``},
			},
		},
		Mutant{
			Name: "failed-may-win", Scenario: "late-after-terminal", Invariant: "I6",
			Description: "a late success overwrites a failure",
			Schema:      []string{unfreezeAttempts},
			Replace: []Replacement{{Statement: "win-attempt",
				Old: `state IN ('running', 'unknown', 'released')`,
				New: `state IN ('running', 'unknown', 'released', 'failed')`}},
		},
		Mutant{
			Name: "race-not-recorded", Scenario: "reverse-order", Invariant: "I6",
			Description: "a late result is dropped without a trace",
			Replace: []Replacement{{Statement: "record-race",
				Old: `WHERE  a.id = @attempt`, New: `WHERE  a.id = @attempt AND false`}},
		},
		Mutant{
			Name: "reaper-sends-again", Scenario: "crash-after-provider-call", Invariant: "I7",
			Description: "an attempt whose worker died is put back into the queue",
			Schema:      []string{unfreezeAttempts},
			Replace:     reaped(`'starting'`),
		},
		Mutant{
			Name: "reaper-writes-failed", Scenario: "crash-after-answer-before-cas", Invariant: "I4",
			Description: "an attempt whose worker died has failed",
			Replace: append(reaped(`'failed'`), Replacement{Statement: "reap-attempt",
				Old: `since = clock_timestamp()`, New: `since = clock_timestamp(), ended_at = clock_timestamp()`}),
		},
		Mutant{
			Name: "reaper-by-id", Scenario: "reaper-vs-complete", Invariant: "I4",
			Description: "the reaper moves the attempt that it saw, whatever became of it",
			Schema:      []string{unfreezeAttempts, `ALTER TABLE attempts DROP CONSTRAINT IF EXISTS terminal_has_ended`},
			Replace: []Replacement{{Statement: "reap-attempt", Old: `
		  AND  state = 'running'                  -- its worker did not settle it since we looked
		  AND  lease_until < clock_timestamp()    -- nor renewed its lease`, New: ``}},
		},
		Mutant{
			Name: "claim-without-lock", Scenario: "two-workers-one-job", Invariant: "I7",
			Description: "workers take what they saw waiting, without locking or looking again",
			Replace: []Replacement{
				{Statement: "claim-attempts", Old: `
		FOR NO KEY UPDATE OF a, j SKIP LOCKED`, New: ``},
				{Statement: "claim-attempts", Old: `
		  AND  a.state = 'starting' -- nobody else took it: 0 rows, do not call`, New: ``},
			},
		},
		Mutant{
			Name: "start-moves-the-job", Scenario: "job-row-untouched", Invariant: "I16",
			Description: "each attempt is counted on the row of its job",
			Replace: []Replacement{
				{Statement: "start-attempt", Old: `	WITH added AS (`, New: `	WITH counted AS (
		UPDATE jobs SET version = version WHERE id = @job
	), added AS (`},
			},
		},
		Mutant{
			Name: "owner-not-asked", Scenario: "same-key-two-owners", Invariant: "I11",
			Description: "a job is found by its id alone, whoever asks",
			Replace: []Replacement{{Statement: "job-by-id",
				Old: `(j.owner = @owner OR @owner = '*') -- another owner's job does not exist`,
				New: `@owner::text IS NOT NULL`}},
		},
		Mutant{
			Name: "failover-on-unknown", Scenario: "failover-while-unknown", Invariant: "I3",
			Description: "the job goes on at the next provider although nobody knows how its attempt ended",
			Schema: []string{`DROP INDEX IF EXISTS one_open_attempt_per_job`,
				`CREATE UNIQUE INDEX one_open_attempt_per_job ON attempts (job_id) WHERE state IN ('starting', 'running')`},
			Policy: []Policy{FailoverOnUnknown},
		},
	)
}

// reaped writes another state where the reaper says unknown.
func reaped(state string) []Replacement {
	return []Replacement{
		{Statement: "reap-attempt", Old: `SET    state = 'unknown'`, New: `SET    state = ` + state},
		{Statement: "reap-attempt", Old: `'running', 'unknown', @actor`, New: `'running', ` + state + `, @actor`},
	}
}
