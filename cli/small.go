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

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// equalCode tells whether two codes are the same, however they are spelled: poam-1 is POAM-001.
func equalCode(a, b string) bool { return strings.EqualFold(a, b) || tidyCode(a) == tidyCode(b) }

// tidyCode is a code without what people leave out: case, hyphens and zeros before a number.
func tidyCode(code string) string {
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

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

func joinWords(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "()" }), " ")
}

// joinSome lists the first few of many.
func joinSome(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(words[:most], "; "), len(words)-most)
}

// tally lists counts by word, in the order given.
func tally[S ~string](counts map[S]int, order []S) string {
	var parts []string
	for _, s := range order {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], plain(s)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// none says in words that a list is empty.
func (a *app) none(p *print.Page, n int, format string, args ...any) {
	if n == 0 {
		p.Text(format, args...)
	}
}

// narrowed tells whether flags of the list itself leave something out.
func narrowed(cmd *cobra.Command) (yes bool) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		yes = yes || f.Changed && f.Name != "limit" && f.Name != "sort"
	})
	return yes
}

// limits are the flags that bound a list.
type limits struct {
	limit  int
	cursor string
}

func (l *limits) add(cmd *cobra.Command, limit int) {
	cmd.Flags().IntVar(&l.limit, "limit", limit, "print at most so many; 0 means all")
	cmd.Flags().StringVar(&l.cursor, "cursor", "", "go on after the page whose next_cursor this is")
	inner := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if l.limit < 0 {
			return usage("--limit %d: give 0 for all, or how many", l.limit)
		}
		return inner(cmd, args)
	}
}

// more tells at the end of a table that there is more.
func (a *app) more(shown int, p api.Pagination) {
	if a.out.ForPeople() && p.HasMore {
		a.say("%d of %d are shown; --limit 0 shows all", shown, p.Total)
	}
}

// given is a pointer to a flag's value where it was typed, else nil.
func given[T any](cmd *cobra.Command, flag string, value T) *T {
	if cmd.Flags().Changed(flag) {
		return &value
	}
	return nil
}

// optional is a field of a patch: the flag's value, null where it is empty, absent where it was not typed.
func optional[T ~string](cmd *cobra.Command, flag string, value T) api.Opt[T] {
	if !cmd.Flags().Changed(flag) {
		return api.Opt[T]{}
	}
	if value == "" {
		return api.Opt[T]{Set: true}
	}
	return api.Some(value)
}

// revision makes a change conditional on what was read.
func revision(n int) api.Match { return api.Match{IfMatch: fmt.Sprintf("%q", fmt.Sprint(n))} }

// anyChanged refuses an edit that would change nothing.
func anyChanged(cmd *cobra.Command) error {
	changed := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { changed = changed || f.Changed })
	if !changed {
		return advise(usage("`%s` was told nothing to change", cmd.CommandPath()), "`%s --help` lists what can be changed", cmd.CommandPath())
	}
	return nil
}
