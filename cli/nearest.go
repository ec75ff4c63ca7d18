package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/internal/editdistance"
)

// didYouMean proposes the nearest of the known words; empty where none is near.
func didYouMean(word string, known []string) string { return orList(nearest(word, known)) }

func orList(words []string) string {
	if len(words) == 0 {
		return ""
	}
	quoted := make([]string, min(3, len(words)))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%q", words[i])
	}
	last := len(quoted) - 1
	if last == 0 {
		return "; did you mean " + quoted[0] + "?"
	}
	return "; did you mean " + strings.Join(quoted[:last], ", ") + " or " + quoted[last] + "?"
}

// nearest are the known words that somebody may have meant who typed word: that begin with
// it, or are one slip away, or two where the word is long and begins as it does. The nearest
// stand first.
func nearest(word string, known []string) []string {
	word = strings.ToLower(word)
	slips := 1
	if len(word) > 4 {
		slips = 2
	}
	far := map[string]int{}
	var near []string
	for _, k := range known {
		n := distance(word, strings.ToLower(k))
		if n > 1 && k != "" && word != "" && word[0] != strings.ToLower(k)[0] {
			n = longestTyped
		}
		if n > slips && word != "" && strings.HasPrefix(strings.ToLower(k), word) {
			n = slips
		}
		if _, twice := far[k]; n <= slips && !twice {
			far[k] = n
			near = append(near, k)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return far[a] - far[b] })
	return near
}

// longestTyped bounds the words that are compared; nobody mistypes a longer one.
const longestTyped = 64

// distance is how many slips lie between two words: a letter left out, put in, taken for
// another, or two that changed places.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > longestTyped || len(y) > longestTyped {
		return longestTyped
	}
	return editdistance.Distance(x, y)
}

// mostElsewhere is how many commands of a name are proposed; more are no help.
const mostElsewhere = 3

// nearCommands proposes commands for a word that is none of cmd's: its own that are near,
// else those of that very name in other groups, what belongs to the job before all others.
func nearCommands(cmd *cobra.Command, word string) []string {
	var own []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			own = append(own, c.Name())
		}
	}
	var job, others []string
	for _, g := range cmd.Root().Commands() {
		for _, c := range g.Commands() {
			if c.Name() != word || g == cmd {
				continue
			}
			path := strings.TrimPrefix(c.CommandPath(), cmd.Root().Name()+" ")
			if g.GroupID == "job" {
				job = append(job, path)
			} else {
				others = append(others, path)
			}
		}
		if g.Name() == word && cmd != cmd.Root() {
			job = append(job, word)
		}
	}
	near := nearest(word, own)
	switch {
	case len(near) > 0 && distance(strings.ToLower(word), near[0]) <= 1:
		return near
	case len(job)+len(others) <= mostElsewhere && len(near) == 0:
		return append(job, others...)
	case len(job) > 0 && len(job) <= mostElsewhere:
		return job
	}
	return near
}

// wrongFlag says in plain words what is wrong with a flag.
func wrongFlag(cmd *cobra.Command, err error) error {
	var none *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &none):
		return fmt.Errorf("%w%s", err, nearFlags(cmd, none.GetSpecifiedName()))
	case errors.As(err, &value):
		what := map[string]string{"int": "a whole number", "float64": "a number", "duration": "a time, as 90s or 24h", "bool": "true or false"}[value.GetFlag().Value.Type()]
		if what != "" {
			return fmt.Errorf("--%s takes %s, not %q", value.GetFlag().Name, what, value.GetValue())
		}
	}
	return err
}

// nearFlags proposes flags for a name that is none of cmd's.
func nearFlags(cmd *cobra.Command, name string) string {
	if len(name) < 2 {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := nearest(name, names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return orList(near)
}
