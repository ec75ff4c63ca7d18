package cli

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// semver is a semantic version.
type semver struct {
	numbers    [3]uint64
	prerelease string
}

var (
	versionPattern = lazyregexp.New(
		`^v?(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$`,
	)
	// Builds between releases: git describe's v1.2.3-4-gabcdef0, and Go's
	// v1.2.4-0.20260102030405-abcdef012345.
	unreleasedPattern = lazyregexp.New(`-[0-9]+-g[0-9a-f]{4,}(-dirty)?$|-dirty$|[-.][0-9]{14}-[0-9a-f]{12}(\+.*)?$`)
)

// parseVersion parses a release version. ok is false for a build between releases, which has no
// defined order.
func parseVersion(s string) (v semver, ok bool) {
	m := versionPattern.FindStringSubmatch(s)
	if m == nil || unreleasedPattern.MatchString(s) {
		return v, false
	}
	for i := range v.numbers {
		n, err := strconv.ParseUint(m[i+1], 10, 64)
		if err != nil {
			return v, false
		}
		v.numbers[i] = n
	}
	v.prerelease = m[4]
	return v, true
}

// compare returns a negative number if v is older than w, zero if they are equal, and a positive
// number otherwise. A prerelease is older than its release.
func (v semver) compare(w semver) int {
	for i := range v.numbers {
		if c := cmp.Compare(v.numbers[i], w.numbers[i]); c != 0 {
			return c
		}
	}
	switch {
	case v.prerelease == w.prerelease:
		return 0
	case v.prerelease == "":
		return 1
	case w.prerelease == "":
		return -1
	}
	a, b := strings.Split(v.prerelease, "."), strings.Split(w.prerelease, ".")
	for i := range min(len(a), len(b)) {
		if c := comparePrereleasePart(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// comparePrereleasePart compares two prerelease identifiers: numbers numerically and before words,
// words as strings.
func comparePrereleasePart(a, b string) int {
	na, nb := isNumeric(a), isNumeric(b)
	switch {
	case na && nb:
		ta, tb := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(ta), len(tb)), cmp.Compare(ta, tb))
	case na:
		return -1
	case nb:
		return 1
	}
	return cmp.Compare(a, b)
}

func isNumeric(s string) bool { return strings.Trim(s, "0123456789") == "" }
