package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxTyped is longer than any name of ours with any slip of the hand.
const maxTyped = 100

// didYouMean returns " Did you mean NAME?" for the nearest of names, or nothing
// where none is near enough to be a slip of the hand.
func didYouMean(typed string, names []string) string {
	if len(typed) > maxTyped {
		return ""
	}
	best, distance := "", 1+max(1, len(typed)/3)
	for _, name := range names {
		if d := editDistance(typed, name); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %s?", best)
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours (optimal string alignment).
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	previous2, previous, current := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(s); i++ {
		current[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				current[j] = min(current[j], previous2[j-2]+1)
			}
		}
		previous2, previous, current = previous, current, previous2
	}
	return previous[len(t)]
}
