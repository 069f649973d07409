package job

import "time"

// Role is what a credential may do with its owner's jobs.
type Role string

const (
	// RoleOwner submits, reads, starts attempts and cancels jobs.
	RoleOwner Role = "owner"
	// RoleOperator may also cancel, release and resolve attempts, and bring certificates.
	RoleOperator Role = "operator"
)

// APIKey is one credential, known by the SHA-256 of its text alone. It reaches
// the jobs of Owner and no other's, whatever its role. An owner may have several.
type APIKey struct {
	Owner     Owner
	Role      Role
	Hash      [32]byte
	ExpiresAt *time.Time
	RevokedAt *time.Time
}
