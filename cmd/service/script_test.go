package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

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
	testscript.Main(postgrestest.Stopping{M: m}, map[string]func(){"service": func() { os.Exit(run()) }, "await": await})
}

// writeWeights writes the weights of a network whose readings are random.
func writeWeights(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), weightstest.File(weightstest.Header), 0o600))
}

// gcPercent is the GOGC value for the many short processes that tests start. With the default, they would spend a
// sixth of their time on garbage collection.
const gcPercent = "400"

// TestScripts runs the scripts. Each follows a user through a feature, or through misuse of it.
func TestScripts(t *testing.T) {
	evidence, err := filepath.Abs("../../examples/harbor/evidence")
	if err != nil {
		t.Fatal(err)
	}
	cache := testdir.CacheFolder(t.TempDir())
	files, err := filepath.Glob("../../testscripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	if testing.Short() {
		files = slices.DeleteFunc(files, func(path string) bool { return !runsConcurrently(t, path) })
	}
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
		Condition: func(cond string) (bool, error) {
			if cond == "long" {
				return longtest.Enabled(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HARBOR", evidence)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GOGC", gcPercent)
			env.Setenv("SERVICE_KEYRING", "off") // don't use the keyring of the user who runs the tests
			// All scripts share the compiled PDF reader.
			env.Setenv("XDG_CACHE_HOME", cache)
			return nil
		},
	})
}

// TestPostgresScripts runs the scripts that need a PostgreSQL database and a bucket.
func TestPostgresScripts(t *testing.T) {
	server := s3test.Start(t)
	cache := testdir.CacheFolder(t.TempDir())
	postgrestest.NewURL(t) // starts the server, or skips the test
	testscript.Run(t, testscript.Params{
		Dir: "../../testscripts/postgres",
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{
				"HOME": filepath.Join(env.WorkDir, "home"), "GOGC": gcPercent, "SERVICE_KEYRING": "off", "XDG_CACHE_HOME": cache,
				"AWS_ACCESS_KEY_ID": os.Getenv("AWS_ACCESS_KEY_ID"), "AWS_SECRET_ACCESS_KEY": os.Getenv("AWS_SECRET_ACCESS_KEY"),
				"STORE": postgrestest.NewURL(t), "STORE2": postgrestest.NewURL(t),
				"BLOBS": server.Address("files", filepath.Base(env.WorkDir)), "BLOBS2": server.Address("copies", filepath.Base(env.WorkDir)),
				"S3": server.Query(),
			} {
				env.Setenv(name, value)
			}
			return nil
		},
	})
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
