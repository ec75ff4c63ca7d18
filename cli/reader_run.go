package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/regularfile"
)

// readPassages is the default number of passages that a neural network reads for each requirement.
const readPassages = 20

// keepInterval is the time between two saves of the readings while a neural network reads.
const keepInterval = 2 * time.Minute

func (a *app) readerRun() *cobra.Command {
	var weights string
	passages := readPassages
	cmd := &cobra.Command{
		Use: "run --weights FILE", Short: "Read the evidence with a neural network that you trained",
		Long: `Reads the passages for each requirement on this computer with a trained network, and imports the
readings. tools/reader/train.py writes its weights file. Passages that the same weights have
already read are skipped. The reader's name changes with the weights.`,
		Example: "  service reader run --weights reader.bin\n  service reader run --weights reader.bin --passages 5",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case weights == "":
				return usageError("--weights is missing; pass the weights file that train.py created, such as reader.bin")
			case passages < 1:
				return usageError("--passages must be at least 1")
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			r, err := a.readWithWeights(cmd.Context(), one.ID, weights, passages)
			if err != nil {
				return err
			}
			return a.out.Print(r, func(p *print.Page) {
				p.Text("The reader %s has %s.", r.Name, prose.Count(r.Readings, "reading", "readings"))
				renderReaderCoverage(p, r)
				p.Text("To draft with this reader, run `%s`.", a.suggestedCommandLine("soa draft --reader "+r.Name))
			})
		},
	}
	cmd.Flags().StringVar(&weights, "weights", "", "weights file that tools/reader/train.py created")
	cmd.Flags().IntVar(&passages, "passages", passages, "maximum number of passages to read per requirement, best matches first")
	return cmd
}

// isWeightsFile reports whether a file begins like a file with the weights of a neural network.
func isWeightsFile(path string) bool {
	f, err := regularfile.Open(context.Background(), path, regularfile.NoLimit)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(crossencoder.Magic))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == crossencoder.Magic
}

// networkRun reads an assessment's evidence with a neural network.
type networkRun struct {
	a          *app
	assessment string
	reader     *crossencoder.Reader
	passages   int                           // number of passages to read for each statement
	statements *os.File                      // the exported statements, saved so that the server's response doesn't stay open
	lines      map[readingPair]*reading.Line // all readings, including earlier ones
	current    []readingPair                 // all pairs to read, in order
}

// readingPair identifies a statement and a passage.
type readingPair struct{ statement, passage string }

// readWithWeights makes a neural network read everything that it has not read yet, and imports its readings.
func (a *app) readWithWeights(ctx context.Context, assessment, path string, passages int) (*api.Reader, error) {
	network, err := crossencoder.ReadFile(path)
	if err != nil {
		return nil, runtimeError("%w", err)
	}
	statements, err := os.CreateTemp("", "service-statements-*.jsonl")
	if err != nil {
		return nil, err
	}
	defer func() { statements.Close(); os.Remove(statements.Name()) }()
	run := networkRun{
		a: a, assessment: assessment, reader: crossencoder.NewReader(network), passages: passages, statements: statements,
		lines: map[readingPair]*reading.Line{},
	}
	a.progress.Start("searching for passages")
	if err := run.export(ctx); err != nil {
		return nil, err
	}
	if err := run.loadEarlier(ctx); err != nil {
		return nil, err
	}
	r, err := run.read(ctx)
	if err != nil {
		return nil, err
	}
	a.progress.Done("%s has read the passages", r.Name)
	return r, nil
}

// export saves the statements with their passages, and collects the pairs to read.
func (r *networkRun) export(ctx context.Context) error {
	f, err := call(ctx, r.a, api.ExportReaderStatements, &api.AssessmentInput{AssessmentID: r.assessment})
	if err != nil {
		return err
	}
	defer f.Content.Close()
	if _, err := io.Copy(r.statements, f.Content); err != nil {
		return err
	}
	seen := map[readingPair]bool{}
	return r.forEachStatement(func(s *reading.StatementLine) error {
		for _, p := range s.Passages {
			if pair := (readingPair{s.StatementID, p.PassageHash}); !seen[pair] {
				seen[pair] = true
				r.current = append(r.current, pair)
			}
		}
		return nil
	})
}

// forEachStatement calls use with each exported statement and the passages to read for it.
func (r *networkRun) forEachStatement(use func(*reading.StatementLine) error) error {
	if _, err := r.statements.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for d := json.NewDecoder(r.statements); ; {
		var s reading.StatementLine
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the exported statements: %w", err)
		}
		s.Passages = s.Passages[:min(len(s.Passages), r.passages)]
		if err := use(&s); err != nil {
			return err
		}
	}
}

// loadEarlier loads earlier readings made with the same weights.
func (r *networkRun) loadEarlier(ctx context.Context) error {
	f, err := call(ctx, r.a, api.ExportReadings, newReaderInput(r.assessment, r.reader.Name()))
	if api.IsCode(err, api.CodeNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Content.Close()
	return reading.ParseLines(f.Content, func(_ int, l reading.Line) error {
		r.lines[readingPair{l.StatementID, l.PassageHash}] = &l
		return nil
	})
}

// read reads the remaining passages, and imports the readings periodically.
func (r *networkRun) read(ctx context.Context) (*api.Reader, error) {
	left := 0
	for _, pair := range r.current {
		if r.lines[pair] == nil {
			left++
		}
	}
	if r.a.interruptHint == "" {
		r.a.interruptHint = "readings are saved every two minutes; to continue, run the same command again"
	}
	began, kept, done := r.a.Clock(), r.a.Clock(), 0
	err := r.forEachStatement(func(s *reading.StatementLine) error {
		n, err := r.readStatement(ctx, s)
		if err != nil || n == 0 {
			return err
		}
		done += n
		perPassage := r.a.Clock().Sub(began).Seconds() / float64(done)
		r.a.progress.Update("reading: %d of %s done, about %s left", done, prose.Count(left, "passage", "passages"),
			formatSeconds(perPassage*float64(left-done)))
		if now := r.a.Clock(); now.Sub(kept) > keepInterval {
			kept = now
			_, err = r.importLines(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.importLines(ctx)
}

// readStatement makes the neural network read the passages of a statement that have not been read yet, and returns
// their number.
func (r *networkRun) readStatement(ctx context.Context, s *reading.StatementLine) (int, error) {
	var pairs []readingPair
	var passages []reading.Passage
	for _, p := range s.Passages {
		pair := readingPair{s.StatementID, p.PassageHash}
		if r.lines[pair] == nil {
			pairs = append(pairs, pair)
			passages = append(passages, reading.Passage{Title: p.Title, Kind: p.Kind, Date: p.Date, HeadingPath: p.Headings, Text: p.Text})
		}
	}
	if len(passages) == 0 {
		return 0, nil
	}
	statement := reading.Statement{ControlCode: s.ControlCode, Topic: s.Topic, Text: s.Statement}
	readings, _, err := reading.ReadAll(ctx, r.reader, statement, passages)
	if err != nil {
		return 0, err
	}
	for i, one := range readings {
		if one.IsRead() {
			for l, p := range one.Probabilities {
				one.Probabilities[l] = math.Round(p*1e4) / 1e4
			}
			r.lines[pairs[i]] = &reading.Line{
				Reader: r.reader.Name(), StatementID: pairs[i].statement, PassageHash: pairs[i].passage, Reading: one,
			}
		}
	}
	return len(passages), nil
}

// importLines imports the readings.
func (r *networkRun) importLines(ctx context.Context) (*api.Reader, error) {
	var file bytes.Buffer
	lines := json.NewEncoder(&file)
	for _, pair := range r.current {
		if l := r.lines[pair]; l != nil {
			if err := lines.Encode(l); err != nil {
				return nil, err
			}
		}
	}
	if file.Len() == 0 {
		return nil, runtimeError("there are no passages to read, because the search found none; add evidence with `service doc add`")
	}
	out, err := call(ctx, r.a, api.ImportReadings, newImportReadingsInput(r.assessment, r.reader.Name(), "readings.jsonl", &file))
	return out, validationToRuntimeError(err)
}
