package certificate_test

import (
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers/certificate"
)

func TestTrustFilesComeBackAsWritten(t *testing.T) {
	k := key(t).Public()
	data := certificate.DefaultTrust("demo", k, "openai-demo", "anthropic-demo").Write()
	tr, err := certificate.ReadTrust(data)
	if err != nil || tr.Issuers[0].Key != k || len(tr.AcceptReplay) != 2 || string(tr.Write()) != string(data) {
		t.Fatalf("%v\n%s", err, data)
	}
}

func TestBadTrustFilesAreRefused(t *testing.T) {
	good := string(certificate.DefaultTrust("demo", key(t).Public(), "openai-demo").Write())
	for name, change := range map[string][2]string{
		"version 2":         {`"version": 1`, `"version": 2`},
		"threshold 0":       {`"threshold": 1`, `"threshold": 0`},
		"no threshold":      {`"threshold": 1,`, ``},
		"replay for all":    {`"openai-demo"`, `"*"`},
		"unknown status":    {`"active"`, `"fine"`},
		"retired, no date":  {`"active"`, `"retired"`},
		"unknown field":     {`"version"`, `"treshold": 2, "version"`},
		"another case":      {`"threshold": 1`, `"threshold": 2, "Threshold": 1`},
		"twice":             {`"threshold": 1`, `"threshold": 2, "threshold": 1`},
		"no issuer name":    {`"name": "demo"`, `"name": ""`},
		"weak key":          {`"key": "ed25519:`, `"key": "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "x": "`},
		"other key type":    {`ed25519:`, `rsa:`},
		"life too long":     {`"version"`, `"max_life": "337h", "version"`},
		"life no duration":  {`"version"`, `"max_life": "14d", "version"`},
		"negative skew":     {`"version"`, `"skew": "-1s", "version"`},
		"null list":         {`[`, `null, "x": [`},
		"a second document": {`{`, `{} {`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s: nothing replaced", name)
		}
		if _, err := certificate.ReadTrust([]byte(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := certificate.ReadTrust([]byte(good)); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestAnUnreadableTrustFileDenies(t *testing.T) {
	w := newWorld(t)
	w.file(sign(t, w.statement, w.key))
	w.evidence.Trust = nil
	_, w.evidence.TrustErr = certificate.ReadTrust([]byte("{"))
	w.expect(3, "trust file")
	w.evidence.Files = []certificate.File{}
	w.expect(10, "no certificate") // nothing there to be believed
}
