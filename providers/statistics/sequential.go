package statistics

import "math"

// Decision of a sequential test.
type Decision string

const (
	Accept Decision = "accept" // the rate is Good
	Reject Decision = "reject" // the rate is Bad
	Go     Decision = "go on"
)

// Sequential is Wald's test of a pass rate: it may stop long before the last
// trial when the answers are clear.
type Sequential struct {
	Good, Bad   float64 // rates, Good above Bad
	Alpha, Beta float64 // chances to reject a good one, to accept a bad one

	score float64
}

// Observe takes one trial and says whether the test is over.
func (s *Sequential) Observe(pass bool) Decision {
	if pass {
		s.score += math.Log(s.Bad / s.Good)
	} else {
		s.score += math.Log((1 - s.Bad) / (1 - s.Good))
	}
	switch {
	case s.score >= math.Log((1-s.Beta)/s.Alpha):
		return Reject
	case s.score <= math.Log(s.Beta/(1-s.Alpha)):
		return Accept
	}
	return Go
}
