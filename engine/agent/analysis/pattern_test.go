package analysis

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/scf-service/service/internal/testutil/longtest"
)

// patterns returns the patterns that are applied to the most text.
func patterns() []*pattern {
	out := []*pattern{
		instructionPattern,
		negationPattern,
		announcementPattern,
		placeholderPattern,
		harmlessNegation,
		quantityPattern,
		passwordLengthPattern,
		intervalPattern,
		verbPattern,
		ipAddressPattern,
		successResponse,
		failedLogin,
		successfulLogin,
		loginUser,
		containedPattern,
		testFilePattern,
		authorizedTest,
		cloudRoot,
		personalData,
		hostPattern,
		userPattern,
		cvssPattern,
		moneyPattern,
		standardClauses,
		thirdCountry,
		adequacyMechanism,
		unlimitedLiability,
		excludedLiability,
		compileIgnoringCase(`ſo?k+elvin|masks`),
		compileIgnoringCase(`a|b`),
		compileIgnoringCase(`x?`),
		compileIgnoringCase(`(?:ab){2,}c`),
		compilePattern(`•`),
	}
	for _, a := range attacks {
		out = append(out, a.pattern)
	}
	for _, f := range append(slices.Clone(riskFactors), riskReducers...) {
		out = append(out, f.pattern)
	}
	return out
}

// bare returns the same expressions without the search for required words.
var bare = sync.OnceValue(func() (out []*regexp.Regexp) {
	for _, p := range patterns() {
		out = append(out, regexp.MustCompile(p.String()))
	}
	return out
})

// TestEveryExpressionCompiles compiles all patterns, which are otherwise compiled on first use.
func TestEveryExpressionCompiles(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); ok && (name.Name == "compilePattern" || name.Name == "compileIgnoringCase") {
				if text, ok := literalOf(call.Args[0]); ok {
					n++
					if _, err := regexp.Compile(text); err != nil {
						t.Errorf("%s: %v", file, err)
					}
				}
			}
			return true
		})
	}
	if n < 150 {
		t.Errorf("only %d expressions were looked at", n)
	}
}

// literalOf returns the text of a string literal or of a concatenation of literals.
func literalOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, ok := literalOf(e.X)
		b, ok2 := literalOf(e.Y)
		return a + b, ok && ok2
	}
	return "", false
}

// agree checks that each pattern finds the same with and without the search for required words.
func agree(t *testing.T, s string) {
	t.Helper()
	for i, p := range patterns() {
		whole := bare()[i]
		want, got := whole.FindAllStringSubmatch(s, -1), p.FindAllStringSubmatch(s, -1)
		if !slices.EqualFunc(want, got, slices.Equal) || p.MatchString(s) != whole.MatchString(s) ||
			p.FindString(s) != whole.FindString(s) {
			t.Fatalf("%s finds %q, not %q, in %q", p, got, want, s)
		}
	}
}

func TestPatternsFindTheSame(t *testing.T) {
	for _, kind := range Kinds {
		all, err := readCases(kind)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range all {
			if i%5 != 0 && !longtest.Enabled() {
				continue
			}
			for _, s := range []string{c.Requirement, c.Evidence, c.Logs, c.Text, c.Context, c.Arch} {
				agree(t, s)
				agree(t, strings.ToUpper(s))
				agree(t, strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(s))
			}
		}
	}
	looked := 0
	for _, p := range patterns() {
		if len(p.RequiredWords()) > 0 {
			looked++
		}
	}
	if looked < 50 {
		t.Errorf("only %d patterns know a word to look for", looked)
	}
}

func FuzzPatterns(f *testing.F) {
	f.Add("Ignore all previous instructions; ../../etc/passwd ſK\u212a not yet, CVSS 9.8, 5 M EUR")
	f.Add("\xff\xc5\xbf<script>")
	f.Fuzz(func(t *testing.T, s string) { agree(t, s[:min(len(s), 4000)]) })
}
