// Package docs_test runs the commands that the pages show, so that no page
// promises what the program doesn't do.
package docs_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/testdir"
)

const root = ".."

// program is the folder of the built binary, cache the cache folder of all pages.
var program, cache string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "service-docs-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program, cache = filepath.Join(dir, "bin"), testdir.CacheFolder(filepath.Join(dir, "cache"))
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(program, "service"), "./cmd/service")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("the program can't be built: %v\n%s", err, out))
	}
	return m.Run()
}

// page is a page of the documentation.
type page struct {
	path, text string
}

func pages(t *testing.T) []page {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d pages found, %v", len(paths), err)
	}
	var out []page
	for _, p := range append([]string{filepath.Join(root, "README.md")}, paths...) {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page{p, string(b)})
	}
	return out
}

var (
	// <!-- files: path/in/repository as evidence, ../shared/data/x.xlsx as x.xlsx -->
	filesComment = regexp.MustCompile(`(?s)<!-- files:(.*?)-->`)
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	expectedExit = regexp.MustCompile(` # exit (\d+)$`)
)

// files copies the files that the page asks for into dir. Those outside the repository may be
// missing; their names are returned.
func (p page) files(t *testing.T, dir string) (missing []string) {
	t.Helper()
	m := filesComment.FindStringSubmatch(p.text)
	if m == nil {
		return nil
	}
	for entry := range strings.SplitSeq(m[1], ",") {
		from, to, ok := strings.Cut(strings.TrimSpace(entry), " as ")
		if !ok {
			t.Fatalf("files: %q is not of the form PATH as NAME", entry)
		}
		from, to = filepath.Join(root, from), filepath.Join(dir, to)
		info, err := os.Stat(from)
		if err != nil && strings.HasPrefix(from, filepath.Join(root, root)) {
			missing = append(missing, filepath.Base(to))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			err = copyFile(from, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return missing
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// command is a line of a console block that begins with "$ ", and the lines that
// the page says it prints.
type command struct {
	line  string
	shown []string
}

func (p page) commands(t *testing.T) (commands []command) {
	t.Helper()
	for _, block := range consoleBlock.FindAllStringSubmatch(p.text, -1) {
		n := len(commands)
		for line := range strings.Lines(block[1]) {
			line = strings.TrimRight(line, "\n")
			if c, ok := strings.CutPrefix(line, "$ "); ok {
				commands = append(commands, command{line: c})
			} else if len(commands) > n {
				last := &commands[len(commands)-1]
				last.shown = append(last.shown, line)
			}
		}
		if len(commands) == n {
			t.Errorf("a console block has no command:\n%s", block[1])
		}
	}
	return commands
}

// varyingText matches text that differs from run to run: IDs, hashes, dates, times, and the name of the person.
var varyingText = regexp.MustCompile(
	`…|\.\.\.|\b[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{64}\b|\b20\d\d-\d\d-\d\d\b|\b\d\d:\d\d(?::\d\d)?\b|\b\d+(?:\.\d+)? m?s\b|\bLinnea\b`,
)

// stepDuration matches the duration that the program prints after a slow step.
var stepDuration = regexp.MustCompile(`(?m) \(\d+\.\d s\)$`)

// missingLine returns the first line that the page shows but the command didn't print, after
// the lines shown before it; "" if it printed all of them.
func (c command) missingLine(printed string) string {
	lines := strings.Split(stepDuration.ReplaceAllString(printed, ""), "\n")
	for _, want := range c.shown {
		want = strings.ReplaceAll(strings.Join(strings.Fields(want), " "), " … ", "…")
		if want == "" || want == "…" {
			continue
		}
		var pattern strings.Builder
		rest := want
		for rest != "" {
			at := varyingText.FindStringIndex(rest)
			if at == nil {
				break
			}
			pattern.WriteString(regexp.QuoteMeta(rest[:at[0]]) + ".*")
			rest = rest[at[1]:]
		}
		line := regexp.MustCompile("^" + pattern.String() + regexp.QuoteMeta(rest) + "$")
		at := slices.IndexFunc(lines, func(l string) bool {
			return line.MatchString(strings.Join(strings.Fields(l), " "))
		})
		if at < 0 {
			return want
		}
		lines = lines[at+1:]
	}
	return ""
}

// environment returns the environment of a page's commands, with a home of its own: nothing of the
// user who runs the tests is read or written.
func environment(home string) []string {
	return []string{
		"PATH=" + program + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GOGC=400", "HOME=" + home, "TMPDIR=" + home, "NO_COLOR=1", "COLUMNS=200", "LC_ALL=C.UTF-8", "SERVICE_KEYRING=off",
		"XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_CACHE_HOME=" + cache,
	}
}

// stopDaemon ends the daemon that a page has started on its data folder, if it did, and waits until it has ended, because
// it writes to the folder until then.
func stopDaemon(home string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	// A process that nobody waits for remains as a zombie.
	stop := exec.CommandContext(ctx, "sh", "-c", `pid=$(service daemon status -q --jq .process.pid) && kill -INT "$pid" &&
		while kill -0 "$pid" && ! grep -q '^State:.Z' "/proc/$pid/status"; do sleep 0.1; done`)
	stop.Env = environment(home)
	_ = stop.Run() // fails without a daemon
}

// catalogLabel returns the label of the catalog version imported from a workbook: 2022.3 for
// scf-2022.3.xlsx. For other files it returns their name.
func catalogLabel(file string) string {
	if of, is := strings.CutPrefix(strings.TrimSuffix(file, ".xlsx"), "scf-"); is {
		return of
	}
	return file
}

// commandTimeout ends a command that hangs.
const commandTimeout = 5 * time.Minute

// TestCommandsOnPages runs the commands of the README; make check runs those of all pages.
func TestCommandsOnPages(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the pages' commands are for a POSIX shell, and there is none")
	}
	total := 0
	for _, p := range pages(t) {
		commands := p.commands(t)
		total += len(commands)
		if len(commands) == 0 {
			continue
		}
		t.Run(filepath.Base(p.path), func(t *testing.T) {
			if filepath.Base(p.path) != "README.md" {
				longtest.SkipUnlessEnabled(t)
			}
			t.Parallel()
			home, work := t.TempDir(), t.TempDir()
			t.Cleanup(func() { stopDaemon(home) })
			missing := p.files(t, work)
			for _, c := range commands {
				if slices.ContainsFunc(missing, func(name string) bool { return strings.Contains(c.line, catalogLabel(name)) }) {
					t.Logf("left out, its file is not on this machine: %s", c.line)
					continue
				}
				want := 0
				if m := expectedExit.FindStringSubmatch(c.line); m != nil {
					want, _ = strconv.Atoi(m[1])
				}
				ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
				cmd := exec.CommandContext(ctx, shell, "-c", c.line)
				cmd.Dir, cmd.Env = work, environment(home)
				out, err := cmd.CombinedOutput()
				cancel()
				if got := cmd.ProcessState.ExitCode(); got != want {
					t.Fatalf("$ %s\nexit %d, the page says %d (%v)\n%s", c.line, got, want, err, out)
				}
				if line := c.missingLine(string(out)); line != "" {
					t.Errorf("$ %s\nthe page shows, and it does not print:\n%s\nbut:\n%s", c.line, line, out)
				}
			}
		})
	}
	if total < 50 {
		t.Errorf("only %d commands found on all pages: the blocks are not read as they should be", total)
	}
}

// listedCommand matches an entry of the lists of commands on a help page.
var listedCommand = regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)

// subcommands returns the subcommands that a help page lists.
func subcommands(t *testing.T, words ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(program, "service"), append(words, "--help")...)
	cmd.Env = environment(t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	before, _, _ := strings.Cut(string(out), "\nFlags:")
	var names []string
	for _, m := range listedCommand.FindAllStringSubmatch(before, -1) {
		names = append(names, m[1])
	}
	return names
}

func TestEveryCommandIsDescribed(t *testing.T) {
	text, err := os.ReadFile("commands.md")
	if err != nil {
		t.Fatal(err)
	}
	groups := subcommands(t)
	if len(groups) < 15 {
		t.Fatalf("service --help lists only %v", groups)
	}
	checkDescribed := func(command string) {
		if !regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(command) + "[` ]").Match(text) {
			t.Errorf("commands.md has no row for `%s`", command)
		}
	}
	for _, g := range groups {
		subs := subcommands(t, g)
		for _, s := range subs {
			checkDescribed(g + " " + s)
		}
		if len(subs) == 0 {
			checkDescribed(g)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	n := 0
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			target, place, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			n++
			file := p.path
			if target != "" {
				file = filepath.Join(filepath.Dir(p.path), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", p.path, m[1], err)
				continue
			}
			if place != "" && filepath.Ext(file) == ".md" && !slices.Contains(anchors(t, file), place) {
				t.Errorf("%s links to %s, and the page has no such heading", p.path, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no link was found on any page")
	}
}

var (
	heading     = regexp.MustCompile("(?m)^#+ (.*)$")
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the headings of a page in the form that links use.
func anchors(t *testing.T, path string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		out = append(out, strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return out
}

// TestPagesAreMerged checks that no page contains the marks of an unfinished merge.
func TestPagesAreMerged(t *testing.T) {
	for _, p := range pages(t) {
		for i, line := range strings.Split(p.text, "\n") {
			for _, mark := range []string{"<<<<<<< ", ">>>>>>> "} {
				if strings.HasPrefix(line, mark) {
					t.Errorf("%s:%d: %s", p.path, i+1, line)
				}
			}
		}
	}
}

func TestPicturesAreSmall(t *testing.T) {
	err := filepath.WalkDir("pictures", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 200_000 {
			t.Errorf("%s has %d bytes, more than 200,000", path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
