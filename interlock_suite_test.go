package main_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/scenarios"
	"github.com/interlock-harness/interlock/service"
)

// asProgram as the first argument makes this test binary the program.
const asProgram = "as-program"

// TestMain lets this test binary be the service too: the stage starts it again
// with the argument serve.
func TestMain(m *testing.M) {
	stage.Child(service.Main)
	if len(os.Args) > 1 && os.Args[1] == asProgram {
		os.Exit(cli.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestScenarios binds the scenarios to `go test` and to
// `ginkgo -focus=reverse-order`.
func TestScenarios(t *testing.T) {
	RegisterFailHandler(Fail)
	scenarios.Configure(stage.Options{PGURL: os.Getenv("DATABASE_URL"), Toxiproxy: os.Getenv("INTERLOCK_TOXIPROXY")})
	t.Cleanup(func() {
		if err := scenarios.Close(); err != nil {
			t.Errorf("the stage left something behind: %v", err)
		}
	})
	RunSpecs(t, "interlock")
}
