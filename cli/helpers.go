package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// equalCodes tells whether two codes are the same, however they are spelled: poam-1 is POAM-001.
func equalCodes(a, b string) bool {
	return strings.EqualFold(a, b) || normalizeCode(a) == normalizeCode(b)
}

// normalizeCode is a code without what people leave out: case, hyphens and zeros before a number.
func normalizeCode(code string) string {
	var b strings.Builder
	var last rune
	for n, r := range strings.ToUpper(strings.TrimSpace(code)) {
		if r == '-' || r == '_' || r == ' ' {
			continue
		}
		before := last
		last = r
		if r == '0' && (before < '0' || before > '9') && n+1 < len(code) {
			last = before // of the number that follows
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

func joinNonEmpty(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "()" }), " ")
}

// joinFirst lists the first few of many.
func joinFirst(words []string, limit int) string {
	if len(words) <= limit {
		return strings.Join(words, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(words[:limit], "; "), len(words)-limit)
}

// formatCounts lists counts by word, in the order given.
func formatCounts[S ~string](counts map[S]int, order []S) string {
	var parts []string
	for _, s := range order {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], humanize(s)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// textIfEmpty says in words that a list is empty.
func (a *app) textIfEmpty(p *print.Page, n int, format string, args ...any) {
	if n == 0 {
		p.Text(format, args...)
	}
}

// hasFilterFlags tells whether flags of the list itself leave something out.
func hasFilterFlags(cmd *cobra.Command) (yes bool) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		yes = yes || f.Changed && f.Name != "limit" && f.Name != "sort"
	})
	return yes
}

// listFlags are the flags that bound a list.
type listFlags struct {
	limit  int
	cursor string
}

func (l *listFlags) register(cmd *cobra.Command, limit int) {
	cmd.Flags().IntVar(&l.limit, "limit", limit, "print at most so many; 0 means all")
	cmd.Flags().StringVar(&l.cursor, "cursor", "", "go on after the page whose next_cursor this is")
	inner := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if l.limit < 0 {
			return usageError("--limit %d: give 0 for all, or how many", l.limit)
		}
		return inner(cmd, args)
	}
}

// noteMoreResults tells at the end of a table that there is more.
func (a *app) noteMoreResults(shown int, p api.Pagination) {
	if a.out.IsHumanReadable() && p.HasMore {
		a.printNotice("%d of %d are shown; --limit 0 shows all", shown, p.Total)
	}
}

// flagIfChanged is a pointer to a flag's value where it was typed, else nil.
func flagIfChanged[T any](cmd *cobra.Command, flag string, value T) *T {
	if cmd.Flags().Changed(flag) {
		return &value
	}
	return nil
}

// optionalFlag is a field of a patch: the flag's value, null where it is empty, absent where it was not typed.
func optionalFlag[T ~string](cmd *cobra.Command, flag string, value T) api.Opt[T] {
	if !cmd.Flags().Changed(flag) {
		return api.Opt[T]{}
	}
	if value == "" {
		return api.Opt[T]{Set: true}
	}
	return api.Some(value)
}

// matchRevision makes a change conditional on what was read.
func matchRevision(n int) api.Match { return api.Match{IfMatch: fmt.Sprintf("%q", fmt.Sprint(n))} }

// requireAnyFlag refuses an edit that would change nothing.
func requireAnyFlag(cmd *cobra.Command) error {
	changed := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { changed = changed || f.Changed })
	if !changed {
		return withHint(
			usageError("`%s` was told nothing to change", cmd.CommandPath()),
			"`%s --help` lists what can be changed",
			cmd.CommandPath(),
		)
	}
	return nil
}
