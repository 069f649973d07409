package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// statements are those that a mutant may change, by name. The text stands
// beside the function that runs it.
var statements = map[string]string{
	"submit-job":       submitJob,
	"submit-jobs":      submitJobs,
	"job-by-key":       jobByKey,
	"lock-job":         lockJob,
	"lock-unless-busy": lockJobUnlessBusy,
	"expired-leases":   expiredLeases,
	"start-attempt":    startAttempt,
	"claim-attempts":   claimAttempts,
	"complete-job":     completeJob,
	"win-attempt":      winAttempt,
	"lose-attempt":     loseAttempt,
	"record-race":      recordRace,
	"fail-attempt":     failAttempt,
	"unknown-attempt":  unknownAttempt,
	"reap-attempt":     reapAttempt,
	"cancel-job":       cancelJob,
	"cancel-attempt":   cancelAttempt,
	"release-attempt":  releaseAttempt,
	"resolve-attempt":  resolveAttempt,
	"job-by-id":        jobByID,
	"list-attempts":    listAttempts,
	"list-events":      listEvents,
	"list-races":       listRaces,
	"trigger-attempt":  triggeredAttempt,
	"cancel-not-begun": cancelNotBegun,
}

// compiled is a statement as PostgreSQL gets it: numbered parameters, and which
// named argument each of them is.
type compiled struct {
	name string // of the prepared statement
	text string
	args []string
}

var namedArgument = regexp.MustCompile(`@([a-z_]+)`)

// compile rewrites named arguments once per statement and store.
func (s *Store) compile(sql string) (*compiled, error) {
	if c, ok := s.compiled.Load(sql); ok {
		return c.(*compiled), nil
	}
	names := pgx.NamedArgs{}
	for _, m := range namedArgument.FindAllStringSubmatch(sql, -1) {
		names[m[1]] = m[1]
	}
	text, args, err := names.RewriteQuery(context.Background(), nil, sql, nil)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	c := &compiled{name: "interlock_" + hex.EncodeToString(sum[:8]), text: text}
	for _, a := range args {
		name, ok := a.(string)
		if !ok {
			return nil, fmt.Errorf("argument %v has no name in %s", a, sql)
		}
		c.args = append(c.args, name)
	}
	s.compiled.Store(sql, c)
	return c, nil
}

// values puts named values into the order of the parameters. A missing or a
// superfluous one is a mistake in this package.
func (c *compiled) values(named pgx.NamedArgs) ([]any, error) {
	values := make([]any, len(c.args))
	for i, name := range c.args {
		v, ok := named[name]
		if !ok {
			return nil, fmt.Errorf("statement %s: no value for @%s", c.name, name)
		}
		if id, ok := v.(uuid.UUID); ok {
			// As itself it would go through the interface of database/sql, as a text
			// that is tried in binary first, which takes thirteen times as long.
			v = pgtype.UUID{Bytes: id, Valid: true}
		}
		values[i] = v
	}
	return values, nil
}

// Statements are the texts of the statements that move jobs and attempts, by name,
// with named arguments.
func Statements() map[string]string { return maps.Clone(statements) }
