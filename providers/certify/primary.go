package certify

import (
	"context"
	"fmt"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/check"
)

// primary is what the primary answers where it is free to call the contract's
// tool, asked twice. It is nil where there is no primary: in mode live nobody is
// taken for one unless he is named.
func (o Options) primary(ctx context.Context) ([]*check.Observation, error) {
	switch {
	case o.Primary == nil && o.Mode == certificate.Live, o.Contract.Tool.Name == "":
		return nil, nil
	case o.Primary != nil && o.Primary.Seen != nil:
		return o.Primary.Seen, nil
	case o.Primary == nil:
		return PrimaryAnswers(ctx, o)
	}
	own := o
	own.Profile, own.Secret = o.Primary.Profile, o.Primary.Secret
	seen, err := PrimaryAnswers(ctx, own)
	if err != nil {
		return nil, fmt.Errorf("primary %s: %w", own.Profile.Name, err)
	}
	return seen, nil
}

// PrimaryAnswers asks the provider of o, without its fault, as a primary is asked.
func PrimaryAnswers(ctx context.Context, o Options) ([]*check.Observation, error) {
	o.Fault = nil
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	calls, err := o.primaryCalls()
	if err != nil {
		return nil, err
	}
	s, err := o.sender()
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.sendAll(ctx, calls, newWatch(nil, nil))
}

func (o Options) primaryCalls() ([]Call, error) {
	cases, err := o.cases()
	if err != nil {
		return nil, err
	}
	l := &lister{o: o}
	for repeat := 1; repeat <= primaryRepeats; repeat++ {
		for i, k := range cases {
			stream := o.Profile.Protocol != providers.BedrockConverse && i%2 == 1
			l.add(triggerCall(k, o.Contract.Tool.Name, repeat, stream))
		}
	}
	return l.calls, nil
}
