package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/scf-service/service/cli"
)

// linuxPackageName is the program's name in Linux packages, because Linux has another program
// called service whose completion script would conflict.
const linuxPackageName = "scf-service"

// writeMan writes a man page for each command: uncompressed into man, and compressed for packages into
// man.gz.
func writeMan(dir, version string, date time.Time) error {
	pages := filepath.Join(dir, "man")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	root := cli.CommandTree(version)
	escapeMarkup(root)
	head := &doc.GenManHeader{Title: "SERVICE", Section: "1", Date: &date, Source: "service " + version, Manual: "Service"}
	if err := doc.GenManTree(root, head, pages); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression) // without a name or time in its header
		if err != nil {
			return err
		}
		_, err = z.Write(text)
		if err := errors.Join(err, z.Close()); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, "man.gz", filepath.Base(name)+".gz"), packed.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

var markupCharacters = regexp.MustCompile(`[<>*_\[\]]`)

// escapeMarkup escapes the parts of a command's help that the man page writer would interpret as markup.
// The help is plain text wrapped by hand, in which an indented paragraph is a list or a command.
func escapeMarkup(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	var out []string
	for paragraph := range strings.SplitSeq(cmd.Long, "\n\n") {
		if isPreformatted(paragraph) {
			paragraph = "```\n" + paragraph + "\n```"
		} else {
			paragraph = markupCharacters.ReplaceAllString(paragraph, `\$0`)
		}
		out = append(out, paragraph)
	}
	cmd.Long = strings.Join(out, "\n\n")
	for _, sub := range cmd.Commands() {
		escapeMarkup(sub)
	}
}

// isPreformatted reports whether text is a table or a list rather than running text.
func isPreformatted(paragraph string) bool {
	for line := range strings.Lines(paragraph) {
		if strings.HasPrefix(line, "  ") || strings.Contains(strings.TrimRight(line, "\n"), "   ") {
			return true
		}
	}
	return false
}

// writeCompletions writes completion scripts for the program under its own name and under its name in
// Linux packages.
func writeCompletions(dir, version string) error {
	for _, name := range []string{"service", linuxPackageName} {
		root := cli.CommandTree(version)
		root.Use = name
		for _, one := range []struct {
			file  string
			write func(*bytes.Buffer) error
		}{
			{name + ".bash", func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
			{"_" + name, func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
			{name + ".fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
			{name + ".ps1", func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) }},
		} {
			var b bytes.Buffer
			if err := one.write(&b); err != nil {
				return fmt.Errorf("%s: %w", one.file, err)
			}
			if err := writeFile(filepath.Join(dir, "completions", one.file), b.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFile writes a file, creating its parent folders.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
