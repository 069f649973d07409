package scenarios

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"

	"github.com/interlock-harness/interlock/harness/stage"
)

// submits is the figure in which the service counts the submits that it is done
// with, however they came out.
const submits = "interlock_submits_total"

// handled returns how many submits the service is done with.
func (w *World) handled(ctx SpecContext) float64 {
	GinkgoHelper()
	if !w.sees(3) {
		return 0
	}
	n, err := w.Service.Metric(ctx, submits)
	w.works(err)
	return n
}

// isDoneWith waits until the service is done with n more submits than it was
// with before: whatever it makes of a request that broke off, it has made.
//
// A target without figures is given no more than the time until the next click.
func (w *World) isDoneWith(ctx SpecContext, n int, before float64) {
	GinkgoHelper()
	if !w.sees(3) {
		return
	}
	w.arrives(stage.Until(within(ctx, toArrive), fmt.Sprintf("the service is done with %d more submits", n),
		func(ctx context.Context) (bool, error) {
			now, err := w.Service.Metric(ctx, submits)
			return now >= before+float64(n), err
		}))
}
