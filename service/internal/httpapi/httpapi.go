// Package httpapi is the HTTP contract of the job service, in and out.
//
// It reads requests strictly (keys, bodies, conditions, cursors, paths), says
// who asks from the credential alone, and writes jobs, attempts and events as
// JSON, and every refusal as application/problem+json with a stable type.
// The rule it keeps: a refused request writes no row and does not consume its
// idempotency key, and an answer never claims more than what is stored. Rules
// of jobs and attempts are not here but in job and in the store's statements.
package httpapi
