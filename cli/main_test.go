package cli_test

import (
	"os"
	"testing"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/service"
)

// TestMain lets this test binary be the service too: certify sends cases through
// it.
func TestMain(m *testing.M) {
	stage.Child(service.Main)
	os.Exit(m.Run())
}
