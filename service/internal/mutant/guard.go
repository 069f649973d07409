package mutant

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// GuardPrefix begins the names of the mutants that Guards derives.
const GuardPrefix = "guard:"

// Guards derives from the store's statements one mutant for each line that keeps
// a row from being written: a further condition, a condition on the state, a row
// lock, an ON CONFLICT. It takes that line away and nothing else. The name is
// guard:STATEMENT:NUMBER, the description is the line.
//
// They have no scenario and stand in no table: the interleaving explorer plays
// them, so that a guard which is written tomorrow is asked for without anybody
// adding a mutant.
func Guards(statements map[string]string) []Mutant {
	var all []Mutant
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		lines := strings.Split(statements[name], "\n")
		n := 0
		for i := 0; i < len(lines); i++ {
			kind := guardLine.FindStringSubmatch(lines[i])
			if kind == nil || kind[1] == "WHERE" && !strings.Contains(code(lines[i]), "state") {
				continue
			}
			end := i + 1
			for open(lines[i:end]) > 0 && end < len(lines) {
				end++
			}
			old, instead := "\n"+strings.Join(lines[i:end], "\n"), ""
			if kind[1] == "WHERE" {
				instead = "\n\tWHERE true"
			}
			if extra := open(lines[i:end]); extra < 0 { // the line also ends what is around it
				instead += strings.Repeat(")", -extra)
			}
			n++
			all = append(all, Mutant{
				Name:        fmt.Sprintf("%s%s:%d", GuardPrefix, name, n),
				Description: strings.Join(strings.Fields(code(strings.Join(lines[i:end], "\n"))), " "),
				Replace:     []Replacement{{Statement: name, Old: old, New: instead}},
			})
			i = end - 1
		}
	}
	return all
}

var (
	guardLine = regexp.MustCompile(`^\s*(AND|FOR NO KEY UPDATE|ON CONFLICT|WHERE)\b`)
	remark    = regexp.MustCompile(`(?m)--.*$`)
)

func code(text string) string { return remark.ReplaceAllString(text, "") }

// open is how many brackets of the lines are not closed in them.
func open(lines []string) int {
	text := code(strings.Join(lines, "\n"))
	return strings.Count(text, "(") - strings.Count(text, ")")
}

// With makes a mutant that stands in no table the active one.
func With(m Mutant) Active { return Active{mutant: &m} }

// SecondGuards takes away what the schema would refuse behind the statements'
// guards, and nothing that a statement relies on: which attempt may be open, and
// whose a key is, only the schema says.
func SecondGuards() []string {
	return []string{unfreezeJobs, unfreezeAttempts, manyWinners,
		`ALTER TABLE attempts DROP CONSTRAINT IF EXISTS terminal_has_ended`,
		`ALTER TABLE jobs DROP CONSTRAINT IF EXISTS finished_once`}
}
