package scf

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Aliases is a table of framework names that lists the alternative names of each framework. The zero value is an
// empty table.
type Aliases struct {
	// Aliases lists names that mean the framework with the code.
	Aliases []Alias `yaml:"aliases"`
	// Laws is like Aliases, but a year that follows a name or the code is ignored.
	Laws []Alias `yaml:"laws"`
	// Editions lists codes of successive editions of one work, oldest first.
	Editions [][]string `yaml:"editions"`
}

// Alias is a framework's code and the names used for it in workbook headers.
type Alias struct {
	Code  string   `yaml:"code" json:"code"`
	Names []string `yaml:"names" json:"names"`
}

// Limits of a user's alias table.
const (
	maxAliases    = 2000
	maxAliasNames = 50
	maxAliasText  = 200
)

// ParseAliases parses a table in the format of frameworks.yaml. It returns an error if the table or a code in it is
// invalid, or if two frameworks claim the same name.
func ParseAliases(text []byte) (*Aliases, error) {
	a := &Aliases{}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(a); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the alias table can't be read: %w", err)
	}
	if len(a.Aliases)+len(a.Laws)+len(a.Editions) > maxAliases {
		return nil, fmt.Errorf("the alias table has more than %d entries", maxAliases)
	}
	taken := map[string]string{}
	for _, e := range slices.Concat(a.Aliases, a.Laws) {
		if e.Code == "" || len(e.Code) > maxAliasText || e.Code != Slug(e.Code) {
			return nil, fmt.Errorf("alias code %q must consist of lower-case words joined by hyphens, such as %q", e.Code, "nist-csf-2.0")
		}
		if len(e.Names) > maxAliasNames {
			return nil, fmt.Errorf("%s has more than %d names", e.Code, maxAliasNames)
		}
		for _, name := range e.Names {
			slug := Slug(name)
			if slug == "" || len(name) > maxAliasText {
				return nil, fmt.Errorf("a name of %s is empty or too long: %.40q", e.Code, name)
			}
			if other, duplicate := taken[slug]; duplicate && other != e.Code {
				return nil, fmt.Errorf("both %[2]s and %[3]s list the name %[1]q", name, other, e.Code)
			}
			taken[slug] = e.Code
		}
	}
	return a, nil
}

// Merge returns the combination of two alias tables. If they disagree about a name, preferred takes
// precedence.
func (a *Aliases) Merge(preferred *Aliases) *Aliases {
	return &Aliases{
		Aliases: slices.Concat(preferred.Aliases, a.Aliases), Laws: slices.Concat(preferred.Laws, a.Laws),
		Editions: slices.Concat(preferred.Editions, a.Editions),
	}
}

//go:embed frameworks.yaml
var builtinAliases []byte

// BuiltinAliases returns the built-in table of framework aliases.
var BuiltinAliases = sync.OnceValue(func() *Aliases {
	a, err := ParseAliases(builtinAliases)
	if err != nil {
		panic("catalog: " + err.Error()) // can't happen: covered by a test
	}
	return a
})

// aliasIndex is an alias table, indexed by slug (the normalized spelling of a name).
type aliasIndex struct {
	bySlug        map[string]aliasTarget // by Slug
	byUndatedSlug map[string]string
}

// aliasTarget is the code of the framework that a name stands for, and the rank of the name, which is its position
// in the framework's list of names.
type aliasTarget struct {
	code string
	rank int
}

func (a *Aliases) newIndex() *aliasIndex {
	x := &aliasIndex{bySlug: map[string]aliasTarget{}, byUndatedSlug: map[string]string{}}
	put := func(slug string, k aliasTarget) {
		if _, taken := x.bySlug[slug]; !taken {
			x.bySlug[slug] = k
		}
	}
	for _, e := range a.Aliases {
		for i, name := range e.Names {
			put(Slug(name), aliasTarget{e.Code, i})
		}
		put(e.Code, aliasTarget{e.Code, 0})
	}
	for _, e := range a.Laws {
		for _, name := range slices.Concat([]string{e.Code}, e.Names) {
			slug := Slug(name)
			put(slug, aliasTarget{e.Code, 0})
			if _, taken := x.byUndatedSlug[slug]; !taken {
				x.byUndatedSlug[slug] = e.Code
			}
		}
	}
	return x
}

var builtinAliasIndex = sync.OnceValue(func() *aliasIndex { return BuiltinAliases().newIndex() })

var yearSuffix = lazyregexp.New(`^(.+)-(?:19|20)\d\d$`)

// lookUp returns the framework that a slug stands for. It returns false if the table doesn't contain the slug.
func (x *aliasIndex) lookUp(slug string) (aliasTarget, bool) {
	if k, ok := x.bySlug[slug]; ok {
		return k, true
	}
	if m := yearSuffix.FindStringSubmatch(slug); m != nil {
		if code, ok := x.byUndatedSlug[m[1]]; ok {
			return aliasTarget{code, 1}, true
		}
	}
	return aliasTarget{}, false
}

// NewerEditions returns the codes of the newer editions of a framework, oldest first. There are none if the
// framework is the newest edition or is unknown.
func (a *Aliases) NewerEditions(code string) []string {
	for _, line := range a.Editions {
		if i := slices.Index(line, code); i >= 0 {
			return line[i+1:]
		}
	}
	return nil
}

// applyRenameRules applies the first rename rule that matches a slug. If none matches, it returns the slug
// unchanged.
func applyRenameRules(slug string) string {
	for _, rule := range renameRules {
		if rule.pattern.MatchString(slug) {
			return rule.pattern.ReplaceAllString(slug, rule.replacement)
		}
	}
	return strings.Clone(slug)
}
