package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// isSameCode reports whether two codes are the same after normalization: poam-1 equals POAM-001.
func isSameCode(a, b string) bool {
	return strings.EqualFold(a, b) || normalizeCode(a) == normalizeCode(b)
}

// normalizeCode returns a code in upper case, without separators and without leading zeros in numbers.
func normalizeCode(code string) string {
	var b strings.Builder
	var last rune
	code = strings.ToUpper(strings.TrimSpace(code))
	for n, r := range code {
		if r == '-' || r == '_' || r == ' ' {
			continue
		}
		before := last
		last = r
		if r == '0' && (before < '0' || before > '9') && n+1 < len(code) {
			last = before // so that a zero after it counts as a leading zero, too
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func joinNonEmpty(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "()" }), " ")
}

// joinFirst joins at most limit words with semicolons, and states how many more there are.
func joinFirst(words []string, limit int) string {
	shown := make([]string, min(len(words), limit))
	for i := range shown {
		shown[i] = strings.TrimSuffix(words[i], ".")
	}
	joined := strings.Join(shown, "; ")
	if len(words) <= limit {
		return joined
	}
	return fmt.Sprintf("%s; and %d more", joined, len(words)-limit)
}

// maxCell is the length to which tables truncate sentences; CSV, JSON and the page of an item have them in full.
const maxCell = 100

// firstSentence returns the first sentence of a text for a cell of a table, truncated if it is long.
func firstSentence(text string) string {
	for _, end := range []string{"\n", "; ", ". "} {
		text, _, _ = strings.Cut(text, end)
	}
	return prose.Truncate(strings.TrimSuffix(text, "."), maxCell)
}

// formatCounts lists the nonzero counts in the given order, or returns "none".
func formatCounts[S ~string](counts map[S]int, order []S) string {
	var parts []string
	for _, s := range order {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], prose.Humanize(s)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// renderTextIfEmpty prints the formatted text if count is 0 and the format is not empty.
func renderTextIfEmpty(p *print.Page, count int, format string, args ...any) {
	if count == 0 && format != "" {
		p.Text(format, args...)
	}
}

// hasGivenFilterFlags reports whether any filter flag of a list command was set.
func hasGivenFilterFlags(cmd *cobra.Command) (yes bool) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		yes = yes || f.Changed && f.Name != "limit" && f.Name != "sort"
	})
	return yes
}

// listFlags holds the paging flags of list commands.
type listFlags struct {
	limit  int
	cursor string
}

func (l *listFlags) addFlags(cmd *cobra.Command, defaultLimit int) {
	cmd.Flags().IntVar(&l.limit, "limit", defaultLimit, "maximum number of entries to print; 0 prints all")
	cmd.Flags().StringVar(&l.cursor, "cursor", "", "continue from this cursor, the next_cursor of the previous page")
	inner := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if l.limit < 0 {
			return usageError("--limit %d is invalid; use 0 for all, or a positive number", l.limit)
		}
		return inner(cmd, args)
	}
}

// printMoreResultsNotice prints a notice if a list was truncated.
func (a *app) printMoreResultsNotice(shown int, p api.Pagination) {
	if a.out.IsHumanReadable() && p.HasMore {
		a.printNotice("showing %d of %d; use --limit 0 to show all", shown, p.Total)
	}
}

// flagIfChanged returns a pointer to a flag's value, or nil if the flag was not set.
func flagIfChanged[T any](cmd *cobra.Command, flag string, value T) *T {
	if cmd.Flags().Changed(flag) {
		return &value
	}
	return nil
}

// matchRevision returns the precondition that the record still has revision n.
func matchRevision(n int) api.Match { return api.Match{IfMatch: fmt.Sprintf("%q", fmt.Sprint(n))} }

// requireAnyFlag returns a usage error if no flag of the command was set.
func requireAnyFlag(cmd *cobra.Command) error {
	changed := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { changed = changed || f.Changed })
	if !changed {
		return withHint(
			usageError("`%s` needs at least one change", cmd.CommandPath()),
			"`%s --help` lists what can be changed",
			cmd.CommandPath(),
		)
	}
	return nil
}
