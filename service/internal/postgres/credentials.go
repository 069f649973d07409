package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/interlock-harness/interlock/service/internal/job"
)

const (
	credentialByHash = `
	SELECT owner, role
	FROM   credentials
	WHERE  sha256 = @sum
	  AND  revoked_at IS NULL -- a revoked key is no key`

	putCredential = `
	INSERT INTO credentials (sha256, owner, role)
	VALUES (@sum, @owner, @role)
	ON CONFLICT (sha256) DO UPDATE
	SET    role = excluded.role, revoked_at = NULL
	WHERE  credentials.owner = excluded.owner -- a key never changes hands: 0 rows`

	revokeUnlisted = `
	UPDATE credentials
	SET    revoked_at = clock_timestamp()
	WHERE  revoked_at IS NULL
	  AND  sha256 <> ALL (@listed::bytea[])
	RETURNING owner, role, sha256`
)

// Credential returns whose API key has that SHA-256, or job.ErrNotFound.
func (s *Store) Credential(ctx context.Context, sum [32]byte) (job.Credential, error) {
	c := job.Credential{SHA256: sum}
	q := &query{sql: credentialByHash, args: pgx.NamedArgs{"sum": sum[:]}, read: one(&c.Owner, &c.Role)}
	if err := s.read(ctx, q); err != nil {
		return job.Credential{}, fmt.Errorf("look up a credential: %w", err)
	}
	if q.rows == 0 {
		return job.Credential{}, job.ErrNotFound
	}
	return c, nil
}

// PutCredentials adds API keys by their hash, or brings revoked ones back. A
// hash that belongs to another owner is refused. Repeating it is harmless.
func (s *Store) PutCredentials(ctx context.Context, all []job.Credential) error {
	for some := range slices.Chunk(all, keysInATrip) {
		queries := make([]*query, len(some))
		for i, c := range some {
			queries[i] = &query{sql: putCredential, args: pgx.NamedArgs{"sum": c.SHA256[:], "owner": c.Owner, "role": c.Role}}
		}
		if err := s.read(ctx, queries...); err != nil {
			return fmt.Errorf("store the credentials of %s and %d after it: %w", some[0].Owner, len(some)-1, err)
		}
		for i, q := range queries {
			if q.rows == 0 {
				return fmt.Errorf("the credential of %s is another owner's", some[i].Owner)
			}
		}
	}
	return nil
}

// keysInATrip is how many API keys are stored in one round trip.
const keysInATrip = 500

// RevokeUnlisted makes every API key useless whose hash is not in listed, and
// returns those that it revoked. They stay in the table for the audit. Repeating
// it is harmless.
func (s *Store) RevokeUnlisted(ctx context.Context, listed []job.Credential) ([]job.Credential, error) {
	sums := make([][]byte, len(listed))
	for i := range listed {
		sums[i] = listed[i].SHA256[:]
	}
	var revoked []job.Credential
	q := &query{sql: revokeUnlisted, args: pgx.NamedArgs{"listed": sums}, read: func(rows pgx.Rows) error {
		revoked = revoked[:0]
		for rows.Next() {
			var c job.Credential
			var sum []byte
			if err := rows.Scan(&c.Owner, &c.Role, &sum); err != nil {
				return err
			}
			copy(c.SHA256[:], sum)
			revoked = append(revoked, c)
		}
		return nil
	}}
	if err := s.read(ctx, q); err != nil {
		return nil, fmt.Errorf("revoke credentials: %w", err)
	}
	return revoked, nil
}
