package layout

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the import rules into .golangci.yml")

const (
	rulesBegin = "        # import rules: generated from internal/layout/rooms_test.go by `go test ./internal/layout -update`\n"
	rulesEnd   = "        # end of the import rules\n"
)

// depguard returns the picture as linter rules, so that editors mark forbidden imports.
func depguard(rs []room) string {
	lone := map[string]bool{}
	for _, r := range rs {
		lone[r.path] = r.lone
	}
	pkg := func(path string) string {
		if lone[path] {
			return modulePath + "/" + path + "$"
		}
		return modulePath + "/" + path
	}
	var b strings.Builder
	for _, r := range rs {
		files := "${config-path}/" + r.path + "/**"
		if r.lone {
			files = "${config-path}/" + r.path + "/*.go"
		}
		b.WriteString("        " + strings.ReplaceAll(r.path, "/", "-") + ":\n" +
			"          list-mode: lax\n" +
			"          files: [\"" + files + "\", \"!$test\"]\n" +
			"          allow:\n")
		for _, k := range append([]string{r.path}, r.knows...) {
			b.WriteString("            - " + pkg(k) + "\n")
		}
		b.WriteString("          deny:\n" +
			"            - pkg: " + modulePath + "\n" +
			"              desc: imports point down only, see ARCHITECTURE.md\n")
	}
	return b.String()
}

func TestLinterHasTheSameArrows(t *testing.T) {
	file := filepath.Join(root(t), ".golangci.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), rulesBegin)
	have, after, ended := strings.Cut(rest, rulesEnd)
	if !begun || !ended {
		t.Fatalf(".golangci.yml lacks the lines\n%s%s", rulesBegin, rulesEnd)
	}
	want := depguard(rooms(t))
	if have == want {
		return
	}
	if !*update {
		t.Fatal("the import rules in .golangci.yml differ from rooms_test.go: run `go test ./internal/layout -update`")
	}
	if err := os.WriteFile(file, []byte(before+rulesBegin+want+rulesEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
