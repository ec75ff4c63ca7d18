package retrieval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/engine/judge/criteria"
)

// ErrFolder is wrapped by errors about the content of a benchmark folder.
var ErrFolder = errors.New("not a benchmark folder")

const (
	maxLine  = 4 << 20
	maxLines = 1 << 20
)

// item is a query or a passage.
type item struct{ ID, Title, Heading, Text, Framework string }

// text returns the text to embed and search. Like the product's passages, it includes the headings.
func (i item) text() string {
	t := i.Text
	if i.Title != "" && !strings.HasPrefix(t, i.Title) {
		t = i.Title + ". " + t
	}
	if i.Heading != "" {
		t = i.Heading + "\n" + t
	}
	return t
}

func (i item) passage() search.Passage {
	p := search.Passage{ID: i.ID, DocumentID: i.ID, Text: i.text()}
	if i.Heading != "" {
		p.HeadingPath = []string{i.Heading}
	}
	return p
}

// task is a benchmark read from the folder.
type task struct {
	name, about       string
	queries, passages []item
	gradesByQuery     map[string]map[string]float64 // query → passage → grade
}

// loadTasks reads the benchmarks in the folder.
func loadTasks(folder fs.FS) ([]*task, error) {
	var out []*task
	for _, t := range []task{
		{name: "A", about: "requirement → control"},
		{name: "B", about: "control → policy passage"},
		{name: "C", about: "meaning without words"},
	} {
		if _, err := fs.Stat(folder, t.name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var err error
		if t.queries, err = readItems(folder, t.name+"/queries.jsonl"); err != nil {
			return nil, err
		}
		if t.passages, err = readItems(folder, t.name+"/corpus.jsonl"); err != nil {
			return nil, err
		}
		if t.gradesByQuery, err = readGrades(folder, t.name+"/qrels.tsv"); err != nil {
			return nil, err
		}
		out = append(out, &t)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: none of the subfolders A, B and C exists", ErrFolder)
	}
	const reverse = "C/qrels_passage_to_control.tsv"
	if _, err := fs.Stat(folder, reverse); err == nil && len(out) == 3 {
		g, err := readGrades(folder, reverse)
		if err != nil {
			return nil, err
		}
		out = append(
			out,
			&task{
				name:          "C_passage_to_control",
				about:         "passage → control",
				queries:       out[2].passages,
				passages:      out[0].passages,
				gradesByQuery: g,
			},
		)
	}
	return out, nil
}

// ReadCorpus reads an embedder's training texts, in the form that an import creates.
func ReadCorpus(folder fs.FS, training Training) (embed.Corpus, error) {
	var c embed.Corpus
	if training != TrainOnWorkbook && training != TrainOnOpenTexts {
		return c, fmt.Errorf("unknown training method %q; use %s or %s", training, TrainOnWorkbook, TrainOnOpenTexts)
	}
	var maturity []string
	err := eachLine(folder, "train/maturity_lines.jsonl", func(b []byte) error {
		var l struct{ Text string }
		err := json.Unmarshal(b, &l)
		maturity = append(maturity, l.Text)
		return err
	})
	if err != nil {
		return c, err
	}
	codes := make(map[string][]string)
	err = eachLine(folder, "train/crosswalk_codes.tsv", func(b []byte) error {
		f := strings.Split(string(b), "\t")
		if len(f) != 4 {
			return fmt.Errorf("%d fields instead of 4", len(f))
		}
		if f[0] != "framework" {
			codes[f[2]] = append(codes[f[2]], f[0]+":"+f[1])
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	err = eachLine(folder, "train/controls.jsonl", func(b []byte) error {
		var l struct {
			ID, Title, Description, Question, Methods string
			Maturity                                  [][2]int // level and line
		}
		if err := json.Unmarshal(b, &l); err != nil {
			return err
		}
		d := embed.Document{ID: l.ID, Texts: []string{l.Title, l.Description, l.Question}, Codes: codes[l.ID]}
		if e, ok := criteria.Lookup(l.ID); ok { // as for an imported workbook
			d.Texts = append(d.Texts, e.AllTexts()...)
		}
		if l.Methods != "" {
			d.Texts = append(d.Texts, strings.Split(l.Methods, "\n")...)
		}
		for _, m := range l.Maturity {
			if m[1] < 0 || m[1] >= len(maturity) {
				return fmt.Errorf("maturity line %d of %d", m[1], len(maturity))
			}
			d.Texts = append(d.Texts, maturity[m[1]])
		}
		c.Documents = append(c.Documents, d)
		return nil
	})
	if err != nil || training == TrainOnWorkbook {
		return c, err
	}
	return c, eachLine(folder, "train/requirements_open.jsonl", func(b []byte) error {
		var l struct {
			Text     string
			Controls map[string]float32
		}
		if err := json.Unmarshal(b, &l); err != nil {
			return err
		}
		p := embed.Pair{Text: l.Text}
		for id := range l.Controls {
			p.IDs = append(p.IDs, id)
		}
		slices.Sort(p.IDs)
		for _, id := range p.IDs {
			p.Weights = append(p.Weights, l.Controls[id])
		}
		c.Pairs = append(c.Pairs, p)
		return nil
	})
}

func readItems(folder fs.FS, name string) ([]item, error) {
	var out []item
	seen := make(map[string]bool)
	return out, eachLine(folder, name, func(b []byte) error {
		var i item
		if err := json.Unmarshal(b, &i); err != nil {
			return err
		}
		if i.ID == "" || seen[i.ID] || strings.ContainsAny(i.ID, "\t\r\n") {
			return fmt.Errorf("the ID %q is empty, a duplicate, or more than one word", i.ID)
		}
		seen[i.ID] = true
		out = append(out, i)
		return nil
	})
}

// readGrades reads lines that consist of a query, a passage and a grade, and returns the grades by query and passage. A
// header line is skipped.
func readGrades(folder fs.FS, name string) (map[string]map[string]float64, error) {
	out := make(map[string]map[string]float64)
	first := true
	return out, eachLine(folder, name, func(b []byte) error {
		f := strings.Split(string(b), "\t")
		if len(f) != 3 {
			return fmt.Errorf("%d fields instead of 3", len(f))
		}
		g, err := strconv.ParseFloat(f[2], 64)
		if title := first && err != nil; title {
			first = false
			return nil
		}
		first = false
		if err != nil || !(g > 0) || math.IsInf(g, 0) {
			return fmt.Errorf("%q is not a valid grade; use a number greater than 0", f[2])
		}
		if out[f[0]] == nil {
			out[f[0]] = make(map[string]float64)
		}
		out[f[0]][f[1]] = g
		return nil
	})
}

// eachLine calls handle with each non-empty line. Errors name the file and the line.
func eachLine(folder fs.FS, name string, handle func([]byte) error) error {
	f, err := folder.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %s can't be read: %w", ErrFolder, path.Clean(name), err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxLine)
	n := 0
	for s.Scan() {
		if n++; n > maxLines {
			return fmt.Errorf("%w: %s has more than %d lines", ErrFolder, name, maxLines)
		}
		if b := s.Bytes(); len(b) > 0 {
			if err := handle(b); err != nil {
				return fmt.Errorf("%w: %s, line %d: %w", ErrFolder, name, n, err)
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%w: %s, after line %d: %w", ErrFolder, name, n, err)
	}
	return nil
}
