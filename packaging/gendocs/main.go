// Command gendocs generates the files shipped with the program: man pages, completion scripts,
// third-party licenses, and the provenance of a build. The same commit gives the same bytes. It must
// not be linked into the program.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

const usage = `usage:
  gendocs write -version V -date UNIX DIR
        write man pages, completion scripts and licenses to DIR
  gendocs provenance -version V -commit SHA -source URL -builder URL FILE
        write the provenance of a build (SLSA) to FILE
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usageError("no command was specified; use write or provenance")
	}
	f := flag.NewFlagSet("gendocs "+args[0], flag.ContinueOnError)
	version := f.String("version", "", "version of the release")
	unix := f.Int64("date", 0, "time of the commit, as a Unix time in seconds")
	commit := f.String("commit", "", "the commit's hash")
	source := f.String("source", "", "address of the repository")
	builder := f.String("builder", "", "address that identifies the builder")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if *version == "" {
		return usageError("missing flag -version")
	}
	date := time.Unix(*unix, 0).UTC()
	switch rest := f.Args(); {
	case args[0] == "write" && len(rest) == 1:
		return regenerateAll(ctx, rest[0], *version, date)
	case args[0] == "provenance" && len(rest) == 1:
		return writeProvenance(buildInfo{version: *version, commit: *commit, source: *source, builder: *builder}, rest[0])
	}
	return usageError("invalid arguments")
}

// usageError returns an error about incorrect command-line arguments.
func usageError(problem string) error { return fmt.Errorf("%s\n%s", problem, strings.TrimSpace(usage)) }

// regenerateAll deletes dir and recreates it with all files that are the same for every platform.
func regenerateAll(ctx context.Context, dir, version string, date time.Time) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := writeMan(dir, version, date); err != nil {
		return fmt.Errorf("man pages: %w", err)
	}
	if err := writeCompletions(dir, version); err != nil {
		return fmt.Errorf("completions: %w", err)
	}
	if err := writeLicenses(ctx, dir); err != nil {
		return fmt.Errorf("licenses: %w", err)
	}
	return nil
}
