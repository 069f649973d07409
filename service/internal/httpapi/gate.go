package httpapi

import (
	"errors"
	"net/http"
)

type providerList struct {
	Providers []Provider `json:"providers"`
}

// listProviders answers GET /v1/providers: names and models, no routes or keys.
func listProviders(s *Server, c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	return c.cachedByContent(providerList{Providers: s.providers.List()})
}

// askGate answers GET /v1/failover?from=&to=&contract=. A shut gate is an
// answer like an open one, so both are 200; allowed says which.
func askGate(s *Server, c *call) error {
	q, err := c.query("from", "to", "contract")
	if err != nil {
		return err
	}
	for _, name := range []string{"from", "to", "contract"} {
		if q[name] == "" {
			return refuse(queryInvalid, "from, to and contract are wanted")
		}
	}
	for _, name := range []string{q["from"], q["to"]} {
		if !s.providers.Known(name) {
			return &refusal{kind: paramsInvalid, detail: "provider " + quoted(name) + " is not known"}
		}
	}
	contract, err := s.contracts.Resolve(q["contract"])
	if err != nil {
		return &refusal{kind: paramsInvalid, detail: "contract " + quoted(q["contract"]) + " is not deployed"}
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	a, err := s.gate.Ask(ctx, q["from"], q["to"], contract)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, a)
}

// putCertificate answers PUT /v1/certificates: one DSSE envelope. Putting the
// same one again is no error.
func putCertificate(s *Server, c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	envelope, err := c.readBody(s.limits.Certificate, "application/json", "application/vnd.dsse.envelope.v1+json")
	if err != nil {
		return err
	}
	ctx, cancel := c.storeContext()
	defer cancel()
	taken, err := s.gate.Put(ctx, envelope)
	if invalid, ok := errors.AsType[*CertificateError](err); ok {
		return &refusal{kind: certificateInvalid, reasons: invalid.Reasons, detail: "it would not open the gate"}
	}
	if err != nil {
		return err
	}
	c.log.Info("certificate", "actor", c.who.actor(), "sha256", taken.SHA256, "provider", taken.Provider)
	status := http.StatusOK
	if taken.New {
		status = http.StatusCreated
	}
	return c.answer(status, taken)
}
