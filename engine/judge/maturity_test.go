package judge

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/examples/judged"
)

// What is looked for first, and apart, changes nothing of what is found.
func TestGuardedSignsOfMaturity(t *testing.T) {
	figures := regexp.MustCompile(
		`(?i)\b(?:metrics?|kpis?|kris?|measured|measurements?|dashboards?|percentage|mean time|average|trend|scorecard|target value|threshold|statistics|service level)\b|\d ?%`,
	)
	texts := []string{
		"",
		"95 % of",
		"95%of",
		"a95%b",
		"in 95 %x",
		"%",
		"METRIC",
		"asymmetrical",
		"\u212apis",
		"Statiſtics",
		"Mean  time",
		"mean time",
	}
	err := fs.WalkDir(judged.Folder(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(judged.Folder(), path)
		texts = append(texts, strings.Split(string(data), "\n")...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range texts {
		if figures.MatchString(s) {
			found++
		}
		if got := mentionsMetrics(s); got != figures.MatchString(s) {
			t.Errorf("%q: figures %v", s, got)
		}
		for _, one := range []interface {
			MatchString(string) bool
			String() string
		}{oversightPattern, improvementPattern} {
			if got := one.MatchString(s); got != regexp.MustCompile(one.String()).MatchString(s) {
				t.Errorf("%q: %s %v", s, one, got)
			}
		}
	}
	if !mentionsMetrics("Management saw that 97 % of staff took the course.") {
		t.Error("a percentage is no figure")
	}
	if found < 5 {
		t.Errorf("only %d texts of %d speak of figures", found, len(texts))
	}
}
