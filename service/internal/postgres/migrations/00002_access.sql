-- +goose Up

-- API keys: the hash of each, never the key. A revoked one stays for the audit.
CREATE TABLE credentials (
	sha256     bytea       PRIMARY KEY,
	owner      text        NOT NULL,
	role       text        NOT NULL,
	created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	revoked_at timestamptz,
	CONSTRAINT credential_is_sha256 CHECK (octet_length(sha256) = 32),
	CONSTRAINT credential_owner_is_named CHECK (owner <> '' AND owner <> '*'),
	CONSTRAINT credential_role_is_known CHECK (role IN ('owner', 'operator'))
);
