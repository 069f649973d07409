package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// values are what pgbench puts in the place of the named arguments. Ids rise with
// time, as those of the service do; sizes are those of the bench's own requests. A
// colon before a letter or digit would be a variable, also inside a text.
var values = map[string]string{
	"job":     `(lpad(to_hex(:n::bigint), 12, '0') || '7' || lpad(to_hex(:client_id::bigint), 3, '0') || '8' || lpad(to_hex(:a::bigint), 15, '0'))::uuid`,
	"attempt": `(lpad(to_hex(:n::bigint), 12, '0') || '7' || lpad(to_hex(:client_id::bigint), 3, '0') || '9' || lpad(to_hex(:a::bigint), 15, '0'))::uuid`,
	"op":      `(lpad(to_hex(:n::bigint), 12, '0') || '7' || lpad(to_hex(:client_id::bigint), 3, '0') || 'a' || lpad(to_hex(:a::bigint), 15, '0'))::uuid`,
	"owner":   `'bench'`, "key": `:client_id::bigint || '-' || :n::bigint`,
	"fingerprint": `'\x` + strings.Repeat("5a", 32) + `'::bytea`, "algorithm": "1",
	"request": "convert_to('" + intent(atOnce, "") + "', 'UTF8')",
	"intent":  `'{"contract":"triage@1.0.0","provider":"at-once","input":{"text":"The printer on floor 2 is out of paper."},"failover":{"mode":"manual"},"deadline_ms": 30000}'`,
	"actor":   `'owner-bench'`, "provider": `'at-once'`, "deadline_ms": "30000",
	// of a claim
	"above": "0", "busy": "'{}'::text[]", "limit": "1", "worker": "'w'", "lease": "'30 s'",
	// of a compare-and-swap
	"result": `'{"queue":"technical","urgency":"low","summary":"No paper."}'`, "reason": "'ok'", "why": "'job succeeded'",
}

// ofClaimed are arguments that a compare-and-swap takes from what was claimed.
var ofClaimed = map[string]string{"job": ":c_job_id::uuid", "attempt": ":c_id::uuid", "fence": ":c_fence::bigint", "version": ":c_version::bigint"}

var (
	lineComment = regexp.MustCompile(`--[^\n]*`)
	argument    = regexp.MustCompile(`@([a-z_]+)`)
	white       = regexp.MustCompile(`\s+`)
)

// statement is one of the service's for pgbench, on one line.
func (r *rig) statement(name string, own ...map[string]string) (string, error) {
	text, ok := r.o.Statements[name]
	if !ok {
		return "", fmt.Errorf("the service has no statement %s", name)
	}
	var missing error
	text = argument.ReplaceAllStringFunc(lineComment.ReplaceAllString(text, ""), func(arg string) string {
		for _, from := range append(own, values) {
			if v, ok := from[arg[1:]]; ok {
				return v
			}
		}
		missing = fmt.Errorf("statement %s: pgbench has no value for %s", name, arg)
		return arg
	})
	return strings.TrimSpace(white.ReplaceAllString(text, " ")), missing
}

// submitScript is one new job in one commit.
func (r *rig) submitScript() (string, error) {
	submit, err := r.statement("submit-job")
	return "\\set n :n + 1\n\\set a random(0, 1000000000000)\n" + submit + ";\n", err
}

// lifeScript is a whole life: a submit, a claim and a compare-and-swap, each
// committed; the statements of the last travel together, as the service sends them.
func (r *rig) lifeScript() (string, error) {
	script, err := r.submitScript()
	if err != nil {
		return "", err
	}
	claim, err := r.statement("claim-attempts")
	if err != nil {
		return "", err
	}
	script += claim + "\\aset c_\n\\startpipeline\nBEGIN;\n"
	for _, name := range []string{"complete-job", "win-attempt", "cancel-not-begun"} {
		text, err := r.statement(name, ofClaimed)
		if err != nil {
			return "", err
		}
		script += text + ";\n"
	}
	return script + "COMMIT;\n\\endpipeline\n", nil
}

// pgbench runs a script on a database of its own for a while and returns the
// transactions of each second.
func (r *rig) pgbench(ctx context.Context, name, script string, d time.Duration) (float64, error) {
	if r.rivals[name] == "" {
		made, err := r.migrated(ctx)
		if err != nil {
			return 0, err
		}
		r.rivals[name] = made
	}
	file := filepath.Join(r.dir, name+".sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return 0, err
	}
	at, err := url.Parse(r.database.URL(r.rivals[name]))
	if err != nil {
		return 0, err
	}
	password, _ := at.User.Password()
	env := append(os.Environ(), "PGPASSWORD="+password)
	for seconds := max(2, int(d.Seconds()+0.5)); ; seconds *= 2 {
		// what an earlier turn used up stays used: numbers go on from the time
		rate, err := r.pgbenchFor(ctx, env, seconds, "-f", file, "-D", "n="+strconv.FormatInt(time.Now().UnixMilli(), 10),
			"-D", "c_id=00000000-0000-0000-0000-000000000000", "-D", "c_job_id=00000000-0000-0000-0000-000000000000", "-D", "c_fence=0", "-D", "c_version=0",
			"-h", at.Hostname(), "-p", at.Port(), "-U", at.User.Username(), strings.TrimPrefix(at.Path, "/"))
		if err != nil || rate > 0 {
			return rate, err
		}
		if seconds > mostSeconds {
			return 0, fmt.Errorf("pgbench did nothing in %d s: the machine is too busy", seconds)
		}
	}
}

// mostSeconds of pgbench after which it need not be given twice as many.
const mostSeconds = 30

// pgbenchFor runs pgbench. The rate is 0 when all of its time went into opening
// its connections, as it may on a busy machine: their time counts as its own.
func (r *rig) pgbenchFor(ctx context.Context, env []string, seconds int, args ...string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+toStart)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, "pgbench"),
		append([]string{"-n", "-M", "prepared", "-c", strconv.Itoa(r.o.Clients), "-j", "2", "-T", strconv.Itoa(seconds)}, args...)...)
	cmd.Env = env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("pgbench: %w: %.400s", err, strings.TrimSpace(said.String()))
	}
	found := regexp.MustCompile(`tps = ([0-9.]+)`).FindStringSubmatch(said.String())
	if found == nil {
		return 0, nil
	}
	return strconv.ParseFloat(found[1], 64)
}
