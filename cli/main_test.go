package cli_test

import (
	"os"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/service"
)

// asProgram as the first argument makes this test binary the program, for itself
// and for the processes that it starts.
const asProgram = "as-program"

// TestMain lets this test binary be the service too: certify sends cases through
// it.
func TestMain(m *testing.M) {
	stage.Child(service.Main)
	const inherited = "CLI_TEST_AS_PROGRAM"
	args := os.Args[1:]
	if len(args) > 0 && args[0] == asProgram {
		args = args[1:]
		if err := os.Setenv(inherited, "1"); err != nil {
			panic(err)
		}
	}
	if os.Getenv(inherited) != "" {
		os.Exit(cli.Main(args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
