// Package suite_test shows how another module runs the scenarios in a Ginkgo
// suite of its own: against its own service, or against the built-in one.
package suite_test

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/harness/target"
	"github.com/interlock-harness/interlock/scenarios"
	"github.com/interlock-harness/interlock/service"
)

// TestMain lets this test binary be the built-in service too. A suite that only
// ever judges its own service needs no TestMain.
func TestMain(m *testing.M) {
	stage.Child(service.Main)
	os.Exit(m.Run())
}

func TestJobs(t *testing.T) {
	RegisterFailHandler(Fail)
	scenarios.Configure(stage.Options{Foreign: ours()})
	t.Cleanup(func() {
		if err := scenarios.Close(); err != nil {
			t.Error(err)
		}
	})
	RunSpecs(t, "jobs")
}

// ours is the service that JOBS_URL names; nil, without it, is the built-in one.
func ours() *stage.Foreign {
	urls := os.Getenv("JOBS_URL")
	if urls == "" {
		return nil
	}
	return &stage.Foreign{
		URLs: strings.Split(urls, ","),
		Adapter: &target.Adapter{
			Name:           "our jobs",
			ConflictStatus: 409,
		},
		Owners: []stage.Credential{
			{Owner: "ada", Key: os.Getenv("JOBS_KEY_ADA")},
			{Owner: "bob", Key: os.Getenv("JOBS_KEY_BOB")},
		},
	}
}

// A suite has specs of its own beside the scenarios.
var _ = Describe("the scenarios", func() {
	It("are there to be run by their slugs", func() {
		_, known := scenarios.Find("reverse-order")
		Expect(known).To(BeTrue())
	})
})
