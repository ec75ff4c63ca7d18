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

// didYouMean returns a suggestion of the closest known words, or "" if none is close.
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

// nearestWords returns the known words that are similar to word, closest first. A known word is similar if it starts
// with word or differs from word by one edit. If word is long and the first letters are equal, two edits are allowed.
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

// maxComparedLength is the maximum length of words that are compared.
const maxComparedLength = 64

// editDistance returns the number of edits between two words: insertions, deletions, substitutions
// and transpositions.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxComparedLength || len(y) > maxComparedLength {
		return maxComparedLength
	}
	return editdistance.Distance(x, y)
}

// maxCommandSuggestions is the maximum number of commands suggested.
const maxCommandSuggestions = 3

// similarCommands returns commands to suggest for an unknown subcommand of cmd: subcommands with a similar name or, if
// there are none, commands with exactly this name in other groups. Commands for assessment work come first.
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

// explainFlagError explains a flag error in plain language.
func explainFlagError(cmd *cobra.Command, err error) error {
	var unknownFlag *pflag.NotExistError
	var invalidValue *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknownFlag):
		return fmt.Errorf("%w%s", err, suggestFlags(cmd, unknownFlag.GetSpecifiedName()))
	case errors.As(err, &invalidValue):
		expected := map[string]string{
			"int":      "a whole number",
			"float64":  "a number",
			"duration": "a duration, e.g. 90s or 24h",
			"bool":     "true or false",
		}[invalidValue.GetFlag().Value.Type()]
		if expected != "" {
			return fmt.Errorf("--%s takes %s, not %q", invalidValue.GetFlag().Name, expected, invalidValue.GetValue())
		}
	}
	return err
}

// suggestFlags suggests flags similar to an unknown one.
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
