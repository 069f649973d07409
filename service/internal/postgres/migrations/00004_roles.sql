-- +goose Up

-- Two roles: interlock_migrator owns nothing yet and may be granted to whoever
-- migrates; interlock_service is what the service runs as. It cannot delete, nor
-- change owner, key or fingerprint. The service assumes it by itself on every
-- connection (SET ROLE) where its login may. Where the migrating user may not
-- create roles, nothing is done here and docs say what an administrator runs.
-- +goose StatementBegin
DO $$
DECLARE
	wanted text;
BEGIN
	IF NOT (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) THEN
		RAISE NOTICE 'no right to create roles: the service runs with the rights of its login';
		RETURN;
	END IF;
	FOREACH wanted IN ARRAY ARRAY['interlock_migrator', 'interlock_service'] LOOP
		BEGIN
			IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
				EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
			END IF;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN
			NULL; -- another database of this cluster was migrated at the same time
		END;
	END LOOP;
	BEGIN
		EXECUTE format('GRANT interlock_service TO %I', current_user);
	EXCEPTION WHEN OTHERS THEN
		RAISE NOTICE 'interlock_service is not granted to %: %', current_user, SQLERRM;
	END;

	EXECUTE format('GRANT USAGE ON SCHEMA %I TO interlock_service, interlock_migrator', current_schema());
	EXECUTE format('GRANT CREATE ON SCHEMA %I TO interlock_migrator', current_schema());
	GRANT SELECT ON goose_db_version TO interlock_service; -- readiness looks at the version
	GRANT SELECT ON jobs, attempts, attempt_events, races, credentials, job_status TO interlock_service;
	GRANT INSERT ON jobs, attempts, attempt_events, races, credentials TO interlock_service;
	GRANT UPDATE (version, result, completed_by, completed_at, cancelled_at) ON jobs TO interlock_service;
	GRANT UPDATE (state, reason, worker, lease_until, deadline_at, provider_ref, since, ended_at, retry_at) ON attempts TO interlock_service;
	GRANT UPDATE (role, revoked_at) ON credentials TO interlock_service;
	GRANT EXECUTE ON FUNCTION purge_jobs TO interlock_service;
END $$;
-- +goose StatementEnd
