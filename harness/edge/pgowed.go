package edge

// owed is what the server has yet to answer on one connection, oldest first: an
// execution, or the end of a series (Sync, or a simple query).
type owed struct {
	list    []byte        // 'E' or 'S'
	settled chan struct{} // closed when list becomes empty; nil while nobody waits
}

// asked takes note of a message of the service.
func (o *owed) asked(typ byte) {
	switch typ {
	case 'E': // Execute
		o.list = append(o.list, 'E')
	case 'S', 'Q': // Sync, Query
		o.list = append(o.list, 'S')
	}
}

// answered takes note of a message of the server.
func (o *owed) answered(typ byte) {
	switch typ {
	case 'C', 'I', 's': // CommandComplete, EmptyQueryResponse, PortalSuspended
		if len(o.list) > 0 && o.list[0] == 'E' {
			o.list = o.list[1:]
		}
	case 'E': // ErrorResponse: the rest of the series is skipped
		for len(o.list) > 0 && o.list[0] == 'E' {
			o.list = o.list[1:]
		}
	case 'Z': // ReadyForQuery
		for len(o.list) > 0 {
			end := o.list[0] == 'S'
			if o.list = o.list[1:]; end {
				break
			}
		}
	}
	if len(o.list) == 0 && o.settled != nil {
		close(o.settled)
		o.settled = nil
	}
}

// nothing is closed when all is answered.
func (o *owed) nothing() <-chan struct{} {
	if len(o.list) == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if o.settled == nil {
		o.settled = make(chan struct{})
	}
	return o.settled
}

// ends says whether a message of the server may be the last that it owes.
func ends(typ byte) bool {
	switch typ {
	case 'C', 'I', 's', 'E', 'Z':
		return true
	}
	return false
}
