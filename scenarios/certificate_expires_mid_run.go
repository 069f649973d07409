package scenarios

import (
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/providers/certificate"
	"github.com/interlock-harness/interlock/providers/profile"
)

var certificateExpiresMidRun = Info{
	Number: 57, Slug: "certificate-expires-mid-run", Title: "a certificate ends between the decision and the call", Group: Failover, Level: 4,
	Fault:  "the fallback's certificate is replaced by one that has ended, after the attempt was started and before a worker claims it",
	Expect: invariant.Expect{Invariants: []invariant.ID{"I12"}},
}

var _ = Describe(certificateExpiresMidRun.text(), about(certificateExpiresMidRun), func() {
	It("asks the gate once more at the moment of the call", func(ctx SpecContext) {
		certificates := newCertificates(ctx)
		now := time.Now()
		certificates.write(1, now.Add(-time.Minute), now.Add(time.Hour))
		w := begin(ctx, stage.Isolated(stage.ServiceOptions{Replicas: 1, Workers: -1, Args: certificates.flags()}))
		client := w.Client("client-1")
		w.Recorder.Certified(history.CertifiedFacts{Provider: anthropic, Contract: contractOfStage, Valid: true})

		By("deciding for the fallback while no worker is there")
		job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
		w.expect(err).NotTo(HaveOccurred())
		_, err = w.Operator().CancelAttempt(ctx, job.ID, 1, "the primary has an incident")
		w.expect(err).NotTo(HaveOccurred())
		_, err = client.StartAttempt(ctx, job.ID, w.Key("retry"), anthropic)
		w.expect(err).NotTo(HaveOccurred(), "the gate is open")

		By("letting the certificate end, then starting a worker")
		certificates.write(2, now.Add(-2*time.Hour), now.Add(-time.Hour))
		w.Recorder.Certified(history.CertifiedFacts{Provider: anthropic, Contract: contractOfStage, Valid: false, Why: "its certificate had expired"})
		_, err = w.Service.AddWorker(ctx)
		w.works(err)
		attempt, err := w.AttemptState(within(ctx, toComplete), client, job.ID, 2, "failed", "succeeded")
		w.expect(err).NotTo(HaveOccurred())
		w.expect(attempt.State).To(Equal("failed"))
		w.expect(attempt.Reason).To(Equal("not_sent.denied"))
		w.expect(w.Provider(anthropic).Calls(anyCall)).To(BeEmpty())
	}, SpecTimeout(toPlay))
})

// certificates is a folder of certificates of its own, with its own trust.
type certificates struct {
	folder, trust string
	config        stage.Config
	signer        *certificate.Signer
}

// newCertificates makes a folder in which only what write writes counts.
func newCertificates(ctx SpecContext) *certificates {
	GinkgoHelper()
	s, err := setStage(ctx)
	Expect(err).NotTo(HaveOccurred())
	c := &certificates{config: s.Config()}
	c.folder, err = os.MkdirTemp(c.config.Dir, "certificates-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, c.folder)
	c.trust = filepath.Join(c.folder, "trust.json")
	c.signer, err = certificate.NewSigner()
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(c.trust, certificate.DefaultTrust("stage", c.signer.Public(), anthropic).Write(), 0o600)).To(Succeed())
	return c
}

// write certifies the fallback from begin to end.
func (c *certificates) write(serial int64, begin, end time.Time) {
	GinkgoHelper()
	p, err := profile.Load(os.DirFS(c.config.Profiles), anthropic+".yaml")
	Expect(err).NotTo(HaveOccurred())
	facts, err := certificate.ReadContracts(os.DirFS(c.config.Contracts), ".")
	Expect(err).NotTo(HaveOccurred())
	statement := StatementOf(p, facts[contractOfStage], begin, end)
	statement.Predicate.Serial = serial
	envelope, err := certificate.Sign(statement, c.signer)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(c.folder, certificate.FileName(anthropic, contractOfStage)), envelope, 0o600)).To(Succeed())
}

// flags make a service go by this folder.
func (c *certificates) flags() []string {
	return []string{"--certificates", c.folder, "--trust", c.trust}
}
