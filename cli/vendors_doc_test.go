package cli_test

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// documented is one command of a page.
type documented struct {
	words      []string
	background bool
}

// commands are the lines of the blocks of kind sh of a page.
func commands(t *testing.T, file string) []documented {
	t.Helper()
	var list []documented
	block := ""
	lines := bufio.NewScanner(bytes.NewReader(mustRead(t, file)))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "```") && block == "":
			block = strings.TrimPrefix(line, "```") + " "
		case strings.HasPrefix(line, "```"):
			block = ""
		case strings.HasPrefix(block, "sh ") && strings.TrimSpace(line) != "":
			list = append(list, documented{strings.Fields(line), strings.Contains(block, "background")})
		}
	}
	return list
}

// TestThePageForVendorsCanBeFollowed runs every command of docs/vendors.md as it
// stands there, but for the port, which may be taken.
func TestThePageForVendorsCanBeFollowed(t *testing.T) {
	list := commands(t, "../docs/vendors.md")
	if len(list) != 5 {
		t.Fatalf("%d commands, want 5", len(list))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	t.Chdir(t.TempDir())
	for _, c := range list {
		for i := range c.words {
			c.words[i] = strings.ReplaceAll(c.words[i], "127.0.0.1:9417", address)
		}
		switch {
		case c.words[0] == "export":
			name, value, _ := strings.Cut(c.words[1], "=")
			t.Setenv(name, value)
		case c.words[0] != "interlock":
			t.Errorf("%q is no command of ours", c.words)
		case c.background:
			standing(t, c.words[1:])
		default:
			if code, out, talk := run(t, c.words[1:]...); code != 0 {
				t.Fatalf("%q: %d\n%s%s", c.words, code, out, talk)
			}
		}
	}
	noCanary(t, os.Getenv("OPENAI_API_KEY"))
}

// standing starts a command that stays, as a child of this test, and waits until it
// listens.
func standing(t *testing.T, args []string) {
	t.Helper()
	child := exec.Command(binary(t), append([]string{asProgram}, args...)...)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Signal(os.Interrupt)
		_ = child.Wait()
	})
	says := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		says <- line
	}()
	select {
	case line := <-says:
		if !strings.Contains(line, `"listening"`) {
			t.Fatalf("it says %q", line)
		}
	case <-time.After(toListen):
		t.Fatal("it does not listen")
	}
}

// toListen bounds how long a child may take until it listens.
const toListen = 20 * time.Second

// binary is this test as a program, wherever the test stands now.
func binary(t *testing.T) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}
