package judgement

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
	"unicode"

	"github.com/scf-service/service/api"
)

// Set is a company's documents and the labels of its controls.
type Set struct {
	Name     string
	Evidence fs.FS
	Labels   []Label
}

// Label is a careful reader's verdict on one control.
type Label struct {
	Control   string
	Verdict   api.Implementation
	Missing   []int    // numbers of the objectives without evidence, from 1
	Documents []string // names of the files that support it
}

// restsOnlyOn reports whether the verdict is supported by the given document alone.
func (l Label) restsOnlyOn(document string) bool {
	return len(l.Documents) == 1 && l.Documents[0] == document
}

// Verdicts lists the verdicts that a label can have, in the order used in tables.
var Verdicts = []api.Implementation{api.Implemented, api.PartiallyImplemented, api.Planned, api.NotImplemented, api.NotEvidenced}

// maxLabels is the maximum size of labels.csv and of passages.csv in bytes.
const maxLabels = 4 << 20

// ReadSets reads the labeled companies in a folder: the folder itself if it contains labels.csv, or else the
// subfolders that do.
func ReadSets(folder fs.FS, controls map[string]api.Control) ([]Set, error) {
	if _, err := fs.Stat(folder, "labels.csv"); err == nil {
		s, err := readSet(folder, "set", controls)
		return []Set{s}, err
	}
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	var out []Set
	for _, e := range entries {
		if _, err := fs.Stat(folder, e.Name()+"/labels.csv"); !e.IsDir() || err != nil {
			continue
		}
		sub, err := fs.Sub(folder, e.Name())
		if err != nil {
			return nil, err
		}
		s, err := readSet(sub, e.Name(), controls)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, errors.New("neither the folder nor a subfolder contains labels.csv; see examples/judged/README.md for the format")
	}
	return out, nil
}

func readSet(folder fs.FS, name string, controls map[string]api.Control) (Set, error) {
	s := Set{Name: name}
	rows, err := readTable(folder, "labels.csv", "control", "verdict", "missing", "documents")
	if err != nil {
		return s, err
	}
	seen := map[string]bool{}
	for _, r := range rows {
		l := Label{Control: r.values["control"], Verdict: api.Implementation(r.values["verdict"])}
		c, known := controls[l.Control]
		switch {
		case !known:
			return s, r.errorAt("the starter catalog has no control %q", l.Control)
		case seen[l.Control]:
			return s, r.errorAt("%s is labeled twice", l.Control)
		case !slices.Contains(Verdicts, l.Verdict):
			return s, r.errorAt("%q is not a valid verdict; use one of %v", r.values["verdict"], Verdicts)
		}
		seen[l.Control] = true
		for _, f := range strings.FieldsFunc(r.values["missing"], func(r rune) bool { return unicode.IsSpace(r) || r == ';' || r == ',' }) {
			n, err := strconv.Atoi(f)
			if err != nil || n < 1 || n > len(c.AssessmentObjectives) {
				return s, r.errorAt("%s has no objective %q; the control has %d objectives", l.Control, f, len(c.AssessmentObjectives))
			}
			l.Missing = append(l.Missing, n)
		}
		for d := range strings.SplitSeq(r.values["documents"], ";") {
			if d = strings.TrimSpace(d); d != "" {
				l.Documents = append(l.Documents, d)
			}
		}
		s.Labels = append(s.Labels, l)
	}
	if len(s.Labels) == 0 {
		return s, errors.New("labels.csv contains no labels")
	}
	s.Evidence, err = fs.Sub(folder, "evidence")
	return s, err
}

// checkDocumentsExist returns an error if a label names a document that does not exist.
func (s *Set) checkDocumentsExist(documents []api.Document) error {
	for _, l := range s.Labels {
		for _, name := range l.Documents {
			if !slices.ContainsFunc(documents, func(d api.Document) bool { return d.Filename == name }) {
				return fmt.Errorf("labels.csv: %s refers to %q, which is not in the evidence folder", l.Control, name)
			}
		}
	}
	return nil
}

// Passage is a text that is not evidence for the given control, because it says that something isn't done, is a plan or
// a template, or is about something else.
type Passage struct {
	Kind, Control, Text string
}

// singleDocumentFolder returns a folder that contains the passage as its only document.
func (p Passage) singleDocumentFolder() fs.FS {
	return fstest.MapFS{"passage.md": &fstest.MapFile{Data: []byte(p.Text + "\n")}}
}

// passageKinds lists the kinds of passages that are not evidence.
var passageKinds = []string{"negated", "planned", "template", "other"}

// ReadPassages reads passages.csv. It returns nil if there is no such file.
func ReadPassages(folder fs.FS, controls map[string]api.Control) ([]Passage, error) {
	rows, err := readTable(folder, "passages.csv", "kind", "control", "text")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Passage
	for _, r := range rows {
		p := Passage{Kind: r.values["kind"], Control: r.values["control"], Text: r.values["text"]}
		if _, known := controls[p.Control]; !known {
			return nil, r.errorAt("the starter catalog has no control %q", p.Control)
		}
		if strings.TrimSpace(p.Text) == "" || p.Kind == "" {
			return nil, r.errorAt("a passage needs a kind and text")
		}
		if !slices.Contains(passageKinds, p.Kind) {
			return nil, r.errorAt("%q is not a valid kind of passage; use %s", p.Kind, strings.Join(passageKinds, ", "))
		}
		out = append(out, p)
	}
	return out, nil
}

// row is one row of a CSV table. It maps column names to values.
type row struct {
	file   string
	line   int
	values map[string]string
}

func (r row) errorAt(format string, args ...any) error {
	return fmt.Errorf("%s, line %d: %s", r.file, r.line, fmt.Sprintf(format, args...))
}

// readTable reads a CSV file and checks that it has the given columns.
func readTable(folder fs.FS, name string, columns ...string) ([]row, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxLabels {
		return nil, fmt.Errorf("%s has %d bytes; the limit is %d", name, info.Size(), maxLabels)
	}
	data, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	in.FieldsPerRecord = -1
	all, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s is empty; the first line must list the columns %s", name, strings.Join(columns, ", "))
	}
	for _, c := range columns {
		if !slices.Contains(all[0], c) {
			return nil, fmt.Errorf("%s has no column %q; the required columns are %s", name, c, strings.Join(columns, ", "))
		}
	}
	var out []row
	for n, cells := range all[1:] {
		r := row{file: name, line: n + 2, values: map[string]string{}}
		for i, c := range all[0] {
			if i < len(cells) {
				r.values[c] = strings.TrimSpace(cells[i])
			}
		}
		out = append(out, r)
	}
	return out, nil
}
