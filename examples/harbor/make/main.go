// Command make writes the binary documents of the example company from the
// readable texts in ../source: "policy.docx.md" becomes "policy.docx", and so
// for .pdf and .xlsx. The same source gives the same bytes on every machine:
// dates come from the source, archives are stored uncompressed and sorted.
//
//	cd examples/harbor && go run ./make
//
// It only serves this example. Reports of the product are made elsewhere.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	source := flag.String("source", "source", "folder of the texts")
	target := flag.String("target", "evidence", "folder that the documents are written to")
	flag.Parse()
	if err := convertMarkdownFiles(os.DirFS(*source), *target); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// writersByExtension maps file extensions to the functions that write them.
var writersByExtension = map[string]func(*document) ([]byte, error){
	".docx": writeDOCX,
	".pdf":  writePDF,
	".xlsx": writeXLSX,
}

// convertMarkdownFiles writes one document to target for each text in source.
func convertMarkdownFiles(source fs.FS, target string) error {
	names, err := fs.Glob(source, "*.md")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no .md files in the source folder: run this in examples/harbor or set -source")
	}
	for _, name := range names {
		text, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		out := strings.TrimSuffix(name, ".md")
		write, ok := writersByExtension[filepath.Ext(out)]
		if !ok {
			return fmt.Errorf("%s: name it .docx.md, .pdf.md or .xlsx.md", name)
		}
		doc, err := parseDocument(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		data, err := write(doc)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(target, out), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
