-- +goose Up

-- purge_jobs empties at most "most" jobs that ended before "before", and returns
-- how many it emptied. What stays of each is the row with owner, key and
-- fingerprint, so that the key is never free again. It runs with the rights of
-- its owner: the service itself may not delete anything.
-- +goose StatementBegin
CREATE FUNCTION purge_jobs(before timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
	chosen uuid[];
BEGIN
	SELECT array_agg(id) INTO chosen FROM (
		SELECT j.id FROM jobs j
		WHERE j.purged_at IS NULL
		  AND j.created_at < before -- narrows what is looked at
		  -- every attempt has ended, and long enough ago: none may still come back
		  AND NOT EXISTS (SELECT FROM attempts a
		                  WHERE a.job_id = j.id AND (a.ended_at IS NULL OR a.ended_at >= before))
		  AND (j.completed_at IS NULL OR j.completed_at < before)
		  AND (j.cancelled_at IS NULL OR j.cancelled_at < before)
		ORDER BY j.id
		LIMIT most
		FOR NO KEY UPDATE OF j SKIP LOCKED) old;
	IF chosen IS NULL THEN
		RETURN 0;
	END IF;
	-- A new attempt may have been started between our look and our lock: now that
	-- we hold the lock none can be, so look again.
	SELECT array_agg(id) INTO chosen FROM unnest(chosen) AS c(id)
	WHERE NOT EXISTS (SELECT FROM attempts a WHERE a.job_id = c.id AND a.ended_at IS NULL);
	IF chosen IS NULL THEN
		RETURN 0;
	END IF;
	UPDATE jobs
	SET    purged_at = clock_timestamp(), request = NULL, intent = NULL,
	       result = NULL, completed_by = NULL, completed_at = NULL
	WHERE  id = ANY (chosen);
	DELETE FROM races WHERE job_id = ANY (chosen);
	DELETE FROM attempt_events WHERE job_id = ANY (chosen);
	DELETE FROM attempts WHERE job_id = ANY (chosen);
	RETURN cardinality(chosen);
END $$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION purge_jobs FROM PUBLIC;
