package stage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
)

func TestForeignLevelFollowsFromWhatIsKnown(t *testing.T) {
	both := map[string]string{stage.OpenAI: "127.0.0.1:1", stage.Anthropic: "127.0.0.1:2"}
	for want, f := range map[invariant.Level]stage.Foreign{
		0: {},
		1: {Providers: both, PGURL: "postgres://h/d"}, // nobody said where the target finds its database
		2: {Providers: both, PGURL: "postgres://h/d", PGListen: "127.0.0.1:3"},
		3: {Providers: both, PGURL: "postgres://h/d", PGListen: "127.0.0.1:3", Adapter: &target.Adapter{Commands: map[string][]string{"start": {"true"}}}},
	} {
		if got := f.Level(); got != want {
			t.Errorf("%+v is seen at %s, want %s", f, got, want)
		}
	}
}

func TestForeignCheckNamesWhatIsMissing(t *testing.T) {
	owners := make([]stage.Credential, 2)
	both := map[string]string{stage.OpenAI: "127.0.0.1:1", stage.Anthropic: "127.0.0.1:2"}
	good := stage.Foreign{URLs: []string{"http://127.0.0.1:8080"}, Owners: owners, Providers: both}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*stage.Foreign){
		"has no URL":             func(f *stage.Foreign) { f.URLs = nil },
		"link-local address":     func(f *stage.Foreign) { f.URLs = []string{"http://169.254.169.254/"} },
		"must look like http://": func(f *stage.Foreign) { f.URLs = []string{"https://h:1"} },
		"at least 2 owners":      func(f *stage.Foreign) { f.Owners = owners[:1] },
		"no stand-in":            func(f *stage.Foreign) { f.Providers = map[string]string{"mine": "127.0.0.1:1"} },
		"both providers":         func(f *stage.Foreign) { f.Providers = map[string]string{stage.OpenAI: "127.0.0.1:1"} },
		"127.0.0.1:18081, not":   func(f *stage.Foreign) { f.Providers = map[string]string{stage.OpenAI: "x", stage.Anthropic: "y"} },
		"belong together":        func(f *stage.Foreign) { f.PGURL = "postgres://h/d" },
		"200 owners":             func(f *stage.Foreign) { f.PGURL, f.PGListen = "postgres://h/d", "127.0.0.1:3" },
		"level L2 includes L1": func(f *stage.Foreign) {
			f.PGURL, f.PGListen, f.Providers, f.Owners = "postgres://h/d", "127.0.0.1:3", nil, make([]stage.Credential, 200)
		},
	} {
		f := good
		change(&f)
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestForeignOperatorIsWhoWasNamed(t *testing.T) {
	f := stage.Foreign{URLs: []string{"http://127.0.0.1:1"}, Owners: []stage.Credential{{Owner: "ada", Key: "a"}, {Owner: "bob", Key: "b"}}}
	for name, c := range map[string]struct {
		operator stage.Credential
		key      string
		err      error
	}{
		"nobody":   {stage.Credential{}, "", stage.ErrNoOperator},
		"somebody": {stage.Credential{Owner: "ops", Key: "o"}, "o", nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := f
			f.Operator = c.operator
			s, err := stage.Start(t.Context(), stage.Options{Foreign: &f})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			w, err := s.World(t.Context(), "who")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			if key, err := w.OperatorKey(); key != c.key || !errors.Is(err, c.err) {
				t.Errorf("the operator's key is %q, %v, want %q, %v", key, err, c.key, c.err)
			}
		})
	}
}
