package postgres

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shared lists the SQL words that are common to PostgreSQL, CockroachDB and YugabyteDB, as far as the driver uses
// them. Before adding a word, look it up in the documentation of each database: extensions, advisory locks, LISTEN,
// FOR UPDATE SKIP LOCKED, cursors, tables created within transactions, collations and large objects are not common to
// all of them. The settings may be unknown to a database.
var shared = strings.Fields(`
	AND ANY AS BEGIN BY CASE COMMIT CONFLICT CREATE DELETE DESC DO END EXISTS FROM IF IN INSERT INTO ISOLATION KEY LEVEL LIMIT NOT
	NOTHING NULL ON ONLY OR ORDER PRIMARY READ REPEATABLE ROLLBACK SCHEMA SELECT SERIALIZABLE SET TABLE THEN UPDATE VALUES WHEN
	WHERE WRITE
	bytea clock_timestamp excluded unnest
	entries new old tbl key value
	OFF enable_bitmapscan enable_seqscan enable_sort
`)

var (
	sqlLiteral = regexp.MustCompile(`'[^']*'`)
	sqlWord    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	sqlOther   = regexp.MustCompile(`^([\s(),.;*=<>0-9]|<>|>=|<=|::|\[\]|\$[0-9])*$`)
	looksLike  = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|BEGIN|COMMIT|ROLLBACK|SET|LOCK|LISTEN|NOTIFY|COPY|` +
		`DECLARE|FETCH|WITH|TRUNCATE|VACUUM|SAVEPOINT)\b[^,]`)
)

// TestStatements compares every statement with these words, and checks that all statements are in one file.
func TestStatements(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case e.Name() == "statements.go":
				found++
				checkStatement(t, text)
			case looksLike.MatchString(text):
				t.Errorf("%s: the statement %q belongs in statements.go", e.Name(), text)
			}
			return true
		})
	}
	if found < 15 {
		t.Errorf("only %d statements were found", found)
	}
}

func checkStatement(t *testing.T, statement string) {
	rest := sqlLiteral.ReplaceAllString(statement, "")
	for _, word := range sqlWord.FindAllString(rest, -1) {
		if !slices.Contains(shared, word) {
			t.Errorf("%s\nuses %s, which is not in the list of what all databases know", statement, word)
		}
	}
	if other := sqlWord.ReplaceAllString(rest, ""); !sqlOther.MatchString(other) {
		t.Errorf("%s\nuses an operator that is not in the list: %s", statement, other)
	}
}
