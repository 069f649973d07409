package cli_test

import (
	"os"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/service"
)

// asProgram as the first argument makes this test binary the program.
const asProgram = "as-program"

// TestMain lets this test binary be the service too: certify sends cases through
// it.
func TestMain(m *testing.M) {
	stage.Child(service.Main)
	if len(os.Args) > 1 && os.Args[1] == asProgram {
		os.Exit(cli.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
