package postgres

import "github.com/interlock-harness/interlock/service/internal/job"

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

// InAir has a key count as being read, so that those who come wait for the next read.
func (s *Store) InAir(owner job.Owner, key job.Key) { s.reads.join(ownedKey{owner, key}) }

// ReadLanded ends that read, and the next begins.
func (s *Store) ReadLanded(owner job.Owner, key job.Key) { s.onRead(ownedKey{owner, key})() }

// FailRead has the next read of a key end with err, without any.
func (s *Store) FailRead(owner job.Owner, key job.Key, err error) {
	next := s.reads.landed(ownedKey{owner, key})
	next.err = err
	close(next.done)
}

// AwaitsRead reports whether somebody waits for the next read of a key.
func (s *Store) AwaitsRead(owner job.Owner, key job.Key) bool {
	s.reads.mu.Lock()
	defer s.reads.mu.Unlock()
	return s.reads.air[ownedKey{owner, key}] != nil
}

// ReadsInAir is how many keys are being read.
func (s *Store) ReadsInAir() int {
	s.reads.mu.Lock()
	defer s.reads.mu.Unlock()
	return len(s.reads.air)
}
