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
func didYouMean(word string, known []string) string {
	return formatSuggestions(nearestWords(word, known))
}

func formatSuggestions(words []string) string {
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

// nearestWords are the known words that somebody may have meant who typed word: that begin with
// it, or are one slip away, or two where the word is long and begins as it does. The nearest
// stand first.
func nearestWords(word string, known []string) []string {
	word = strings.ToLower(word)
	maxDistance := 1
	if len(word) > 4 {
		maxDistance = 2
	}
	far := map[string]int{}
	var near []string
	for _, k := range known {
		n := editDistance(word, strings.ToLower(k))
		if n > 1 && k != "" && word != "" && word[0] != strings.ToLower(k)[0] {
			n = maxComparedLength
		}
		if n > maxDistance && word != "" && strings.HasPrefix(strings.ToLower(k), word) {
			n = maxDistance
		}
		if _, twice := far[k]; n <= maxDistance && !twice {
			far[k] = n
			near = append(near, k)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return far[a] - far[b] })
	return near
}

// maxComparedLength bounds the words that are compared; nobody mistypes a longer one.
const maxComparedLength = 64

// editDistance is how many slips lie between two words: a letter left out, put in, taken for
// another, or two that changed places.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxComparedLength || len(y) > maxComparedLength {
		return maxComparedLength
	}
	return editdistance.Distance(x, y)
}

// maxCommandSuggestions is how many commands of a name are proposed; more are no help.
const maxCommandSuggestions = 3

// similarCommands proposes commands for a word that is none of cmd's: its own that are near,
// else those of that very name in other groups, what belongs to the job before all others.
func similarCommands(cmd *cobra.Command, word string) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
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
	near := nearestWords(word, names)
	switch {
	case len(near) > 0 && editDistance(strings.ToLower(word), near[0]) <= 1:
		return near
	case len(job)+len(others) <= maxCommandSuggestions && len(near) == 0:
		return append(job, others...)
	case len(job) > 0 && len(job) <= maxCommandSuggestions:
		return job
	}
	return near
}

// explainFlagError says in plain words what is wrong with a flag.
func explainFlagError(cmd *cobra.Command, err error) error {
	var unknownFlag *pflag.NotExistError
	var invalidValue *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknownFlag):
		return fmt.Errorf("%w%s", err, suggestFlags(cmd, unknownFlag.GetSpecifiedName()))
	case errors.As(err, &invalidValue):
		expected := map[string]string{"int": "a whole number", "float64": "a number", "duration": "a time, as 90s or 24h", "bool": "true or false"}[invalidValue.GetFlag().Value.Type()]
		if expected != "" {
			return fmt.Errorf("--%s takes %s, not %q", invalidValue.GetFlag().Name, expected, invalidValue.GetValue())
		}
	}
	return err
}

// suggestFlags proposes flags for a name that is none of cmd's.
func suggestFlags(cmd *cobra.Command, name string) string {
	if len(name) < 2 {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := nearestWords(name, names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return formatSuggestions(near)
}
