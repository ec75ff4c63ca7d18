// Firstdraft measures what a first draft of many documents needs, command by command, in processor time and memory.
//
//	cd tools && go run ./firstdraft -binary ../bin/service                         # the starter catalog
//	cd tools && go run ./firstdraft -binary ../bin/service -workbook scf.xlsx      # 800 documents, two to five minutes
//
// It mixes documents from the sentences of the example companies, the same for the same number of documents. It imports
// the workbook, reads the documents, and drafts the Statement of Applicability with each of -readers, each in a process
// of its own. It prints the processor time, the elapsed time and the peak of the resident memory of each, the mapped
// database included.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	sectionsPerDocument   = 6
	paragraphsPerSection  = 3
	sentencesPerParagraph = 3
)

func main() {
	binary := flag.String("binary", "../bin/service", "program to run")
	examples := flag.String("examples", "../examples/judged", "folder of companies whose sentences are mixed")
	workbook := flag.String("workbook", "", "workbook to import; without it, the starter catalog is used")
	documents := flag.Int("documents", 800, "number of documents")
	readers := flag.String("readers", "rules", "readers to draft with, separated by commas; repeat one to see what its cache saves")
	flag.Parse()
	if err := run(*binary, *examples, *workbook, *documents, strings.Split(*readers, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "firstdraft:", err)
		os.Exit(1)
	}
}

func run(binary, examples, workbook string, documents int, readers []string) (err error) {
	folder, err := os.MkdirTemp("", "firstdraft")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := writeDocuments(filepath.Join(folder, "docs"), examples, documents); err != nil {
		return err
	}
	fmt.Print("| command | CPU s | elapsed s | resident MB |\n|---|---|---|---|\n")
	s := service{binary: binary, folder: folder}
	if workbook != "" {
		if err := s.measure("catalog", "import", workbook); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"assess", "create", "Many"}, {"doc", "add", filepath.Join(folder, "docs")}} {
		if err := s.measure(args...); err != nil {
			return err
		}
	}
	for _, state := range []string{
		"documents_uploaded", "documents_ingested", "scf_pre_analysis_ready", "framework_selected", "scope_drafted",
	} {
		if err := s.measure("assess", "transition", state); err != nil {
			return err
		}
	}
	for _, reader := range readers {
		if err := s.measure("soa", "draft", "--reader", reader); err != nil {
			return err
		}
	}
	return nil
}

// service runs a program on a data folder.
type service struct{ binary, folder string }

// measure runs a command and prints what it needed.
func (s service) measure(args ...string) error {
	began := time.Now()
	cmd := exec.Command(s.binary, append([]string{"--data", filepath.Join(s.folder, "data"), "--quiet"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.folder, "XDG_CONFIG_HOME="+s.folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("service %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	memory := ""
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		memory = fmt.Sprint(used.Maxrss / 1000) // Linux counts in KB
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("| %s | %.1f | %.1f | %s |\n", strings.Join(args, " "), cpu.Seconds(), time.Since(began).Seconds(), memory)
	return nil
}

var sentenceEnd = regexp.MustCompile(`[.!?]\s+`)

// writeDocuments writes n documents that are mixed from the sentences and headings of the Markdown files in a folder.
func writeDocuments(to, examples string, n int) error {
	var sentences, headings []string
	err := filepath.WalkDir(examples, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for part := range strings.SplitSeq(string(text), "\n\n") {
			part = strings.ReplaceAll(strings.TrimSpace(part), "\n", " ")
			switch {
			case strings.HasPrefix(part, "#"):
				headings = append(headings, strings.TrimLeft(part, "# "))
			case part != "" && !strings.ContainsAny(part, "|#"):
				for _, s := range sentenceEnd.Split(part, -1) {
					sentences = append(sentences, strings.TrimRight(s, ". ")+".")
				}
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(sentences) == 0 || len(headings) == 0 {
		return fmt.Errorf("%s has no Markdown files with headings and sentences", examples)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 7))
	pick := func(of []string) string { return of[rnd.IntN(len(of))] }
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\nVersion 1.%d, approved on 2026-0%d-1%d.\n", pick(headings), i, 1+rnd.IntN(9), rnd.IntN(9))
		for range sectionsPerDocument {
			fmt.Fprintf(&b, "\n## %s\n", pick(headings))
			for range paragraphsPerSection {
				b.WriteString("\n")
				for range sentencesPerParagraph {
					b.WriteString(pick(sentences) + " ")
				}
				b.WriteString("\n")
			}
		}
		if err := os.WriteFile(filepath.Join(to, fmt.Sprintf("%03d.md", i)), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}
