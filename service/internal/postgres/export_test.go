package postgres

// MostFlights is how many submits, or groups of them, are in the air at once.
const MostFlights = mostFlights

// Crowd takes all flights of submits, so that those that come wait and are grouped.
func (s *Store) Crowd() {
	s.groups.mu.Lock()
	defer s.groups.mu.Unlock()
	s.groups.flights = mostFlights
}

// Land ends one flight.
func (s *Store) Land() { s.onLanding()() }

// Waiting is how many submits wait for a flight.
func (s *Store) Waiting() int {
	s.groups.mu.Lock()
	defer s.groups.mu.Unlock()
	return len(s.groups.waiting)
}
