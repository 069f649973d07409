package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/cli"
)

// rowTests says which tests show the rows H and I of the collection of bad inputs.
var rowTests = map[string]string{
	"H01": "TestRowsOfBadCommandLines", "H02": "TestRowsOfBadCommandLines", "H03": "TestRowsOfBadCommandLines", "H04": "TestRowsOfBadCommandLines",
	"H05": "TestRowsOfBadCommandLines", "H06": "TestRowsOfBadCommandLines", "H07": "TestRowsOfBadCommandLines", "H08": "TestRowsOfBadCommandLines",
	"H09": "TestRowsOfBadCommandLines", "H10": "TestRowsOfBadCommandLines TestCheckHostRefusesLinkLocalInEverySpelling TestBalancerDialsNoLinkLocalAddress",
	"H11": "TestATargetThatIsNoJobService", "H12": "TestTheAddressOfADatabaseIsNotRepeated TestWrongURLDoesNotRepeatThePassword",
	"H13": "TestADatabaseOfSomebodyElseIsLeftAlone", "H14": "TestADatabaseOfSomebodyElseIsLeftAlone",
	"H15": "TestStrayAndBeatenVariablesAreNoted", "H16": "TestStrayAndBeatenVariablesAreNoted", "H17": "TestRowsOfBadCommandLines",
	"H18": "TestExitCodes", "H19": "TestTwoSignalsAtOnceAreOne TestUpServesUntilInterrupted TestSignals TestASecondSignalEndsAtOnce", "H20": "TestExitCodes",
	"H21": "TestPrivateServerListensOnLoopbackOnly", "H22": "TestScenarios", // clock-jump-back
	"H23": "TestRecordAsksFirst", "H24": "TestACertificationEndsAfterSoManyCalls", "H25": "TestRowsOfBadCommandLines",

	"I01": "TestFiveHundredHostileTextsHaveNoEffect TestHostileTextIsTextInThePage", "I02": "TestHostileTextIsTextInThePage", "I03": "TestFiveHundredHostileTextsHaveNoEffect",
	"I04": "TestUntrustedTextIsHarmlessInEachSink", "I05": "TestFiveHundredHostileTextsHaveNoEffect", "I06": "TestAForgedRecordIsOneLine",
	"I07": "TestFiveHundredHostileTextsHaveNoEffect TestAnnotationIsOneCommandWhateverTheTextHolds", "I08": "TestFiveHundredHostileTextsHaveNoEffect",
	"I09": "TestUntrustedTextIsHarmlessInEachSink", "I10": "TestFiveHundredHostileTextsHaveNoEffect", "I11": "TestWhatIsFoundStaysWithinTheLimits",
	"I12": "TestFiveHundredHostileTextsHaveNoEffect", "I13": "TestHostileLabelsAreEscaped", "I14": "TestPastedCommandsRunNothingElse",
}

// testNames are the tests of the module, so that nobody can name one that there is not.
func testNames(t *testing.T) []string {
	t.Helper()
	var names []string
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestEveryRowHasItsTest checks the table above, and the names in the table of exit
// codes.
func TestEveryRowHasItsTest(t *testing.T) {
	known := testNames(t)
	for section, rows := range map[string]int{"H": 25, "I": 14} {
		for n := 1; n <= rows; n++ {
			if rowTests[fmt.Sprintf("%s%02d", section, n)] == "" {
				t.Errorf("row %s%02d has no test", section, n)
			}
		}
	}
	named := regexp.MustCompile(`Test[A-Z]\w+`)
	look := func(where, text string) {
		for _, name := range named.FindAllString(text, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s names %s, which there is not", where, name)
			}
		}
	}
	for row, tests := range rowTests {
		look(row, tests)
	}
	for command, codes := range exitNever {
		for code, why := range codes {
			look(fmt.Sprintf("%s %d", command, code), why)
		}
	}
}

func TestATargetThatIsNoJobService(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	write(t, keys, "ada owner a\nbob owner b\n")
	for name, answer := range map[string]http.HandlerFunc{
		"404 to everything":  func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"HTML to everything": func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html><h1>Report</h1></html>") },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			code, out := interlock(t, "verify", "double-click", "--target", server.URL, "--target-keys", keys)
			if code != cli.ExitInfrastructure || !regexp.MustCompile(`does not (speak the contract|take a job)`).MatchString(out) {
				t.Errorf("exit %d: %s", code, out)
			}
		})
	}
}

func TestTheAddressOfADatabaseIsNotRepeated(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://u:s3cret@127.0.0.1:1/d")
	for _, args := range [][]string{{"verify", "double-click"}, {"mutants", "last-write-wins"}, {"explore", "--plans", "1"}, {"up", "--port", "0", "--no-input"}} {
		code, out := interlock(t, args...)
		if code != cli.ExitInfrastructure || strings.Contains(out, "s3cret") || !strings.Contains(out, "127.0.0.1:1") {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
	}
}

func TestACertificationEndsAfterSoManyCalls(t *testing.T) {
	server := vendor(t, "")
	code, out, said := run(t, "certify", "vendor", "--profiles", "profiles", "--contract", "triage", "--live", "--no-job-service", "--max-calls", "7")
	if calls := len(server.Ledger()); code != cli.ExitInconclusive || calls != 7 {
		t.Errorf("exit %d after %d calls: %s%s", code, calls, out, said)
	}
}

func TestAForgedRecordIsOneLine(t *testing.T) {
	code, _, said := run(t, "serve", "--role", "x\nlevel=error msg=forged\n::error::forged")
	if code != cli.ExitUsage || strings.Contains(said, "\nlevel=error") || strings.Contains(said, "\n::error") {
		t.Errorf("exit %d: %q", code, said)
	}
}
