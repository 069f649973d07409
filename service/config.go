package service

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

// config is all that can be set. A flag wins over its environment variable
// (INTERLOCK_ and the flag's name in capitals), that over the file of --config,
// that over the default.
type config struct {
	Listen       string
	Roles        []string
	PGURL        string
	PoolSize     int
	Keys         string
	Profiles     string
	Contracts    string
	Certificates string
	Trust        string
	TLSCert      string
	TLSKey       string
	Deadline     time.Duration
	HardLimit    time.Duration
	Lease        time.Duration
	Heartbeat    time.Duration
	Poll         time.Duration
	Reap         time.Duration
	Ask          time.Duration
	MaxAttempts  int
	Concurrency  int
	Grace        time.Duration
	Rate         float64
	PurgeAfter   time.Duration
	UnknownAlarm time.Duration
	BodyTime     time.Duration
	LogLevel     string
	OTLPEndpoint string
	CanaryEvery  time.Duration
	AllowUnsafe  bool
	Migrate      bool
	Mutant       string
}

// Variables lists the environment variables that stand for flags of the service's
// commands.
func Variables() []string {
	var names []string
	for _, command := range []string{"serve", "migrate"} {
		Flags(command).VisitAll(func(f *flag.Flag) { names = append(names, variable(f.Name)) })
	}
	return names
}

// Flags are those of a command of the service, for who tells people about them: one
// without a text is hidden.
func Flags(command string) *flag.FlagSet {
	fs, _ := (&config{}).flags(command)
	return fs
}

// variable is the environment variable that stands for a flag.
func variable(name string) string {
	return "INTERLOCK_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func (c *config) flags(command string) (*flag.FlagSet, *string) {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	file := fs.String("config", "", "YAML `file` with these settings by name")
	fs.StringVar(&c.PGURL, "pg-url", "", "PostgreSQL `URL`; better in INTERLOCK_PG_URL or DATABASE_URL, where other users do not see it")
	fs.StringVar(&c.Mutant, "mutant", "", "") // hidden: throw-away databases of a stage only
	fs.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
	if command == "migrate" {
		return fs, file
	}
	fs.StringVar(&c.Listen, "listen", "127.0.0.1:8080", "`address` to serve on; port 0 takes a free one")
	fs.Func("role", "what this process does: api, worker, or both with a comma (default api,worker)", c.setRoles)
	fs.IntVar(&c.PoolSize, "pool-size", 16, "connections to PostgreSQL")
	fs.StringVar(&c.Keys, "keys", "", "`file` of API keys, lines NAME ROLE SHA256-OF-KEY")
	fs.StringVar(&c.Profiles, "profiles", "", "`folder` of provider profiles")
	fs.StringVar(&c.Contracts, "contracts", "", "`folder` of contracts")
	fs.StringVar(&c.Certificates, "certificates", "", "`folder` of certificates")
	fs.StringVar(&c.Trust, "trust", "", "`file` that says whose certificates count")
	fs.StringVar(&c.TLSCert, "tls-cert", "", "certificate chain `file`; serves HTTPS")
	fs.StringVar(&c.TLSKey, "tls-key", "", "private key `file` of tls-cert")
	fs.DurationVar(&c.Deadline, "deadline", 30*time.Second, "soft deadline of an attempt where the job names none")
	fs.DurationVar(&c.HardLimit, "hard-limit", 10*time.Minute, "how long the connection to a provider is kept open at most")
	fs.DurationVar(&c.Lease, "lease", 30*time.Second, "after which a silent worker's attempt is unknown")
	fs.DurationVar(&c.Heartbeat, "heartbeat", 10*time.Second, "how often a worker renews its lease")
	fs.DurationVar(&c.Poll, "poll", 100*time.Millisecond, "how often an idle worker looks for attempts")
	fs.DurationVar(&c.Reap, "reap", time.Second, "how often passed leases are looked for")
	fs.DurationVar(&c.Ask, "ask", 5*time.Second, "before a provider is first asked about an unknown attempt whose work it keeps; doubles from there")
	fs.IntVar(&c.MaxAttempts, "max-attempts", 8, "attempts of one job at most")
	fs.IntVar(&c.Concurrency, "concurrency", 16, "calls to providers at once")
	fs.DurationVar(&c.Grace, "shutdown-grace", 20*time.Second, "how long running work may take after SIGTERM")
	fs.DurationVar(&c.BodyTime, "body-time", 15*time.Second, "how long the body of a request may take to arrive")
	fs.Float64Var(&c.Rate, "owner-rate", 2000, "submits and starts of one owner a second; 0 is no limit")
	fs.DurationVar(&c.PurgeAfter, "purge-after", 0, "empty jobs that ended so long ago; 0 keeps them")
	fs.DurationVar(&c.CanaryEvery, "canary-every", 0, "ask each provider with a live certificate 32 cases of its contract in so long, to see whether it changed; 0 asks none")
	fs.DurationVar(&c.UnknownAlarm, "unknown-alarm", 15*time.Minute, "log attempts that stay unknown for longer")
	fs.StringVar(&c.OTLPEndpoint, "otlp-endpoint", "", "`URL` of an OpenTelemetry collector (OTLP over HTTP) that gets traces; also OTEL_EXPORTER_OTLP_ENDPOINT")
	fs.BoolVar(&c.AllowUnsafe, "allow-unsafe-database", false, "run although acknowledged work could be lost")
	fs.BoolVar(&c.Migrate, "migrate", false, "bring the schema up to date first")
	return fs, file
}

func (c *config) setRoles(list string) error {
	c.Roles = nil
	for role := range strings.SplitSeq(list, ",") {
		if role = strings.TrimSpace(role); role != "api" && role != "worker" {
			return fmt.Errorf("roles are api and worker")
		}
		if !slices.Contains(c.Roles, role) {
			c.Roles = append(c.Roles, role)
		}
	}
	return nil
}

func (c *config) has(role string) bool { return slices.Contains(c.Roles, role) }

// readConfig fills a config from args, the environment and the configuration
// file. Errors are usage errors that name the flag, variable or line.
func readConfig(command string, args []string, stdout io.Writer, getenv func(string) (string, bool)) (*config, error) {
	c := &config{Roles: []string{"api", "worker"}}
	fs, file := c.flags(command)
	switch err := fs.Parse(args); {
	case err == flag.ErrHelp:
		printHelp(stdout, command, fs)
		return nil, errHelp
	case err != nil:
		return nil, usage("%s; interlock %s --help lists the flags", lowerFirst(err.Error()), command)
	case fs.NArg() > 0:
		return nil, usage("takes flags only, not %q; interlock %s --help lists them", fs.Arg(0), command)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["pg-url"] && holdsPassword(c.PGURL) {
		return nil, usage("--pg-url holds a password, which every user of this machine can read: put the URL into DATABASE_URL or the file of --config")
	}
	if value, ok := getenv("INTERLOCK_CONFIG"); ok && !given["config"] {
		*file = value
	}
	settings := map[string]setting{}
	if *file != "" {
		var err error
		if settings, err = readSettings(*file); err != nil {
			return nil, err
		}
	}
	for name, s := range settings {
		if fs.Lookup(name) == nil || name == "config" || name == "mutant" {
			return nil, usage("%s:%d: there is no setting %q", *file, s.line, name)
		}
	}
	var fault error
	fs.VisitAll(func(f *flag.Flag) {
		if given[f.Name] || f.Name == "config" || fault != nil {
			return
		}
		variable := variable(f.Name)
		if value, ok := getenv(variable); ok && value != "" {
			if f.Value.Set(value) != nil {
				fault = usage("%s holds no valid value for --%s", variable, f.Name)
			}
		} else if s, ok := settings[f.Name]; ok {
			if f.Value.Set(s.value) != nil {
				fault = usage("%s:%d: no valid value for %s", *file, s.line, f.Name)
			}
		}
	})
	if value, ok := getenv("DATABASE_URL"); ok && c.PGURL == "" {
		c.PGURL = value
	}
	if fault != nil {
		return nil, fault
	}
	return c, c.check(command)
}

// holdsPassword says whether a database URL, or a list of keywords, names a password.
func holdsPassword(address string) bool {
	if u, err := url.Parse(address); err == nil {
		if _, has := u.User.Password(); has {
			return true
		}
	}
	return strings.Contains(strings.ReplaceAll(strings.ToLower(address), " ", ""), "password=")
}

// check finds values that are well-formed and make no sense together.
func (c *config) check(command string) error {
	if c.PGURL == "" {
		return usage("which database? Set --pg-url, INTERLOCK_PG_URL or DATABASE_URL")
	}
	if _, ok := logLevels[c.LogLevel]; !ok {
		return usage("--log-level is debug, info, warn or error")
	}
	if command == "migrate" {
		return nil
	}
	for name, d := range map[string]time.Duration{"deadline": c.Deadline, "hard-limit": c.HardLimit, "lease": c.Lease,
		"heartbeat": c.Heartbeat, "poll": c.Poll, "reap": c.Reap, "ask": c.Ask, "shutdown-grace": c.Grace, "body-time": c.BodyTime, "unknown-alarm": c.UnknownAlarm} {
		if d <= 0 {
			return usage("--%s must be longer than nothing", name)
		}
	}
	switch {
	case c.Heartbeat >= c.Lease:
		return usage("--heartbeat (%s) must be shorter than --lease (%s)", c.Heartbeat, c.Lease)
	case c.Deadline > c.HardLimit:
		return usage("--deadline (%s) must not be longer than --hard-limit (%s)", c.Deadline, c.HardLimit)
	case c.MaxAttempts < 1 || c.Concurrency < 1 || c.PoolSize < 1:
		return usage("--max-attempts, --concurrency and --pool-size must be at least 1")
	case c.CanaryEvery != 0 && c.CanaryEvery < time.Second:
		return usage("--canary-every is 0 or at least a second, and in earnest an hour: each canary costs what a job costs")
	case c.Rate < 0 || c.PurgeAfter < 0:
		return usage("--owner-rate and --purge-after must not be negative")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return usage("--tls-cert and --tls-key come together")
	}
	return nil
}

func printHelp(w io.Writer, command string, fs *flag.FlagSet) {
	about := map[string]string{
		"serve":   "Runs the job service.",
		"migrate": "Brings the database schema up to date.",
	}[command]
	_, _ = fmt.Fprintf(w, "%s\n\nUsage: interlock %s [flags]\n\n", about, command)
	fs.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" {
			return
		}
		kind, text := flag.UnquoteUsage(f)
		head := "  --" + strings.TrimSpace(f.Name+" "+kind)
		if f.DefValue != "" && f.DefValue != "false" {
			text += " (default " + f.DefValue + ")"
		}
		_, _ = fmt.Fprintf(w, "%-26s %s\n", head, text)
	})
	_, _ = fmt.Fprintln(w, "\nEach flag can be set in the environment too, as INTERLOCK_<FLAG>, and by name in the file of --config.")
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
