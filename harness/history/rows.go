package history

// TableRead is one read of a table at level L2.
type TableRead struct {
	r      *Recorder
	e      Event
	owners []string
	rows   int
}

// Reading records that a table is about to be read for owners (none: for all
// jobs of the scenario). Read no rows of other scenarios' jobs. What the database held at some moment between this
// event and a row's event is what the row says.
func (r *Recorder) Reading(table string, owners ...string) *TableRead {
	t := &TableRead{r: r, owners: owners, e: Event{Lane: "postgres", Kind: Snapshot, Op: table, Call: r.NextCall()}}
	r.Record(t.e, SnapshotFacts{Owners: owners})
	return t
}

// Table is the table that is read.
func (t *TableRead) Table() string { return t.e.Op }

// Row records one row; data encodes to the row's columns (Job, Attempt, Move,
// Race or a map). job and attempt name what the row is about.
func (t *TableRead) Row(job, attempt string, data any) Event {
	t.rows++
	e := t.e
	e.Kind, e.Job, e.Attempt = Row, job, attempt
	return t.r.Record(e, data)
}

// JobRow records a row of the table jobs with its owner and key.
func (t *TableRead) JobRow(owner, key, job string, data any) Event {
	t.rows++
	e := t.e
	e.Kind, e.Owner, e.Key, e.Job = Row, owner, key, job
	return t.r.Record(e, data)
}

// Done records that the read is complete: what it did not show is not there.
func (t *TableRead) Done() Event {
	return t.r.Record(t.e, SnapshotFacts{Complete: true, Rows: t.rows, Owners: t.owners})
}
