package cli

import (
	"strings"

	"golang.org/x/mod/semver"

	"github.com/scf-service/service/internal/lazyregexp"
)

// unreleasedPattern matches versions of builds between releases: git describe's
// v1.2.3-4-gabcdef0, and Go's v1.2.4-0.20260102030405-abcdef012345.
var unreleasedPattern = lazyregexp.New(`-[0-9]+-g[0-9a-f]{4,}(-dirty)?$|-dirty$|[-.][0-9]{14}-[0-9a-f]{12}(\+.*)?$`)

// releaseSemverOrEmpty returns the version of a release with a leading v, as package semver expects. It
// returns "" if s is not a semantic version with three numbers. It also returns "" for a build between
// releases, because such builds have no defined order.
func releaseSemverOrEmpty(s string) string {
	v := "v" + strings.TrimPrefix(s, "v")
	if !semver.IsValid(v) || strings.Count(v, ".") < 2 || unreleasedPattern.MatchString(v) {
		return ""
	}
	return v
}
