package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/ollamatest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
	"github.com/scf-service/service/internal/testutil/s3test"
	"github.com/scf-service/service/internal/testutil/testdir"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/internal/testutil/weightstest"
)

// TestMain runs the test binary as the program in scripts and in tests that start processes.
func TestMain(m *testing.M) {
	s3test.ServeIfStarted()
	checkUpdate = updatelimit.Check
	testscript.Main(postgrestest.Stopping{M: m}, map[string]func(){"service": func() {
		useTestDatabase()
		os.Exit(run())
	}, "await": await})
}

// testDatabase is the environment variable with the URL of a PostgreSQL database in which the program keeps the records of
// each data folder, in a schema of its own.
const testDatabase = "SERVICE_TEST_DATABASE"

// useTestDatabase sets SERVICE_STORE to the schema of the data folder that the command line or the environment names.
func useTestDatabase() {
	address, err := url.Parse(os.Getenv(testDatabase))
	if err != nil || address.Scheme == "" || os.Getenv("SERVICE_STORE") != "" {
		return
	}
	folder := ""
	for i, arg := range os.Args {
		if value, ok := strings.CutPrefix(arg, "--data"); ok && (value == "" || value[0] == '=') {
			if folder = strings.TrimPrefix(value, "="); folder == "" && i+1 < len(os.Args) {
				folder = os.Args[i+1]
			}
		}
	}
	dir, err := resolveDataDir(folder)
	if err != nil {
		return
	}
	sum := sha256.Sum256([]byte(dir))
	query := address.Query()
	query.Set("schema", query.Get("schema")+"_"+hex.EncodeToString(sum[:8]))
	address.RawQuery = query.Encode()
	_ = os.Setenv("SERVICE_STORE", address.String())
}

// writeWeights writes the weights of a network whose readings are random.
func writeWeights(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), weightstest.File(weightstest.Header), 0o600))
}

// gcPercent is the GOGC value for the many short processes that tests start. With the default, they would spend a
// sixth of their time on garbage collection.
const gcPercent = "400"

// TestScripts runs the scripts. Each follows a user through a feature, or through misuse of it. With
// SERVICE_TEST_STORE=postgres, they run on PostgreSQL.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("../../testscripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	if testing.Short() {
		files = slices.DeleteFunc(files, func(path string) bool { return !runsConcurrently(t, path) })
	}
	runScripts(t, files)
}

// scriptsOnPostgres are the scripts that TestScriptsOnPostgres runs in its short form.
var scriptsOnPostgres = []string{
	"api", "backup", "catalog", "clone-daemons", "custom", "daemon", "documents", "email", "login", "migrate", "search", "sync", "workflow",
}

// TestScriptsOnPostgres runs some of the scripts on PostgreSQL, and all of them in its long form.
func TestScriptsOnPostgres(t *testing.T) {
	postgrestest.NewURL(t) // or skips the test
	t.Setenv(enginetest.StoreVariable, "postgres")
	files, err := filepath.Glob("../../testscripts/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if !longtest.Enabled() {
		files = slices.DeleteFunc(files, func(path string) bool {
			return !slices.Contains(scriptsOnPostgres, strings.TrimSuffix(filepath.Base(path), ".txtar"))
		})
		if len(files) != len(scriptsOnPostgres) {
			t.Fatalf("of the scripts %q, only %q exist", scriptsOnPostgres, files)
		}
	}
	runScripts(t, files)
}

// runScripts runs scripts with the records in data folders or, if tests use it, on PostgreSQL.
func runScripts(t *testing.T, files []string) {
	t.Helper()
	evidence, err := filepath.Abs("../../examples/harbor/evidence")
	if err != nil {
		t.Fatal(err)
	}
	cache := testdir.CacheFolder(t.TempDir())
	enginetest.NewDatabaseURL(t) // starts the server if there will be one, or skips the test
	testscript.Run(t, testscript.Params{
		Files: files,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"damage":       damageFile,
			"edit-sheet":   editSheet,
			"desk":         issueDesks(),
			"collector":    startCollector(t),
			"mail-server":  startMailServer,
			"model-server": startModelServer,
			"model-set":    setModelServer,
			"model-wait":   waitForModelServer,
			"mails":        writeMails,
			"weights":      writeWeights,
			"page":         openPage,
		},
		Condition: evaluateCondition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HARBOR", evidence)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GOGC", gcPercent)
			env.Setenv("SERVICE_KEYRING", "off") // don't use the keyring of the user who runs the tests
			// All scripts share the compiled PDF reader.
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv(testDatabase, enginetest.NewDatabaseURL(t))
			return nil
		},
	})
}

// TestPostgresScripts runs the scripts that need a PostgreSQL database and a bucket.
func TestPostgresScripts(t *testing.T) {
	server, faulty := s3test.Start(t), s3test.Start(t)
	cache := testdir.CacheFolder(t.TempDir())
	postgrestest.NewURL(t) // starts the server, or skips the test
	old := ""
	if longtest.Enabled() {
		old = buildOldProgram(t)
	}
	testscript.Run(t, testscript.Params{
		Dir:       "../../testscripts/postgres",
		Condition: evaluateCondition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"bucket":      func(ts *testscript.TestScript, neg bool, args []string) { disturbBucket(t, faulty, ts, neg, args) },
			"mail-server": startMailServer,
			"mails":       writeMails,
		},
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{
				"HOME": filepath.Join(env.WorkDir, "home"), "GOGC": gcPercent, "SERVICE_KEYRING": "off", "XDG_CACHE_HOME": cache,
				"AWS_ACCESS_KEY_ID": os.Getenv("AWS_ACCESS_KEY_ID"), "AWS_SECRET_ACCESS_KEY": os.Getenv("AWS_SECRET_ACCESS_KEY"),
				"STORE": postgrestest.NewURL(t), "STORE2": postgrestest.NewURL(t),
				"BLOBS": server.Address("files", filepath.Base(env.WorkDir)), "BLOBS2": server.Address("copies", filepath.Base(env.WorkDir)),
				"FAULTY": faulty.Address("files", ""),
				"S3":     server.Query(), "OLD": old,
			} {
				env.Setenv(name, value)
			}
			return nil
		},
	})
}

// disturbBucket makes the bucket $FAULTY answer with a status (0 for normal answers), or lose the file whose hash is in a file.
func disturbBucket(t *testing.T, server *s3test.Server, ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case !neg && len(args) == 1:
		status, err := strconv.Atoi(args[0])
		ts.Check(err)
		server.Answer(t, status)
	case !neg && len(args) == 2 && args[0] == "lose":
		sha := strings.TrimSpace(ts.ReadFile(args[1]))
		server.Delete(t, "files", sha[:2]+"/"+sha[2:])
	default:
		ts.Fatalf("usage: bucket STATUS, or bucket lose FILE")
	}
}

// firstOnPostgres is the first commit whose daemons share a PostgreSQL database and a bucket.
const firstOnPostgres = "6e8b3dda7d89437b7066199c008d186c3b1e9e3f"

// buildOldProgram builds the program of firstOnPostgres and returns its path.
func buildOldProgram(t *testing.T) string {
	t.Helper()
	source, program := t.TempDir(), filepath.Join(t.TempDir(), "service")
	script := `git archive "$1" | tar -x -C "$2" && cd "$2" && go build -buildvcs=false -trimpath -o "$3" ./cmd/service`
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", script, "bash", firstOnPostgres, source, program)
	cmd.Dir = "../.." // git archives only the current folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the program of %.8s, which needs the repository's history: %v\n%s", firstOnPostgres, err, out)
	}
	return program
}

// evaluateCondition evaluates the conditions of scripts: whether they run in their long form, and whether the records of
// data folders are on PostgreSQL.
func evaluateCondition(condition string) (bool, error) {
	switch condition {
	case "long":
		return longtest.Enabled(), nil
	case "postgres":
		return enginetest.OnPostgres(), nil
	}
	return false, fmt.Errorf("unknown condition %q", condition)
}

// TestOllamaScripts runs the scripts that need a real ollama.
func TestOllamaScripts(t *testing.T) {
	server := ollamatest.Start(t)
	cache := testdir.CacheFolder(t.TempDir())
	testscript.Run(t, testscript.Params{
		Dir: "../../testscripts/ollama",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("SERVICE_KEYRING", "off")
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("OLLAMA", server.URL)
			return nil
		},
	})
}

// runsConcurrently reports whether a script runs several processes at the same time.
func runsConcurrently(t *testing.T, path string) bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return background.Match(b)
}

var background = regexp.MustCompile(`(?m)^!? ?exec .*&[a-z0-9]*&?$`)
