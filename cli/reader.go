package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) readerCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "reader", Short: "Readers: rules, models or files that label the evidence",
		Long: `A reader decides what a passage shows about a requirement. Each of its decisions, called a
reading, consists of a label (states, part, plans, contradicts or silent) and the quoted words.
The built-in reader is a set of rules. To use a language model as the reader, select it with
"service model use" and pass --reader model. You can also import readings from a file: export
the requirements with their passages, label them by hand or with any model, import the file
under a name, and pass that name to --reader. A network that you trained reads with its weights
file.`,
		Example: "  service reader export statements.jsonl\n  service reader import readings.jsonl --name ada\n" +
			"  service soa draft --reader ada\n  service soa draft --reader reader.bin",
	}, a.readerExport(), a.readerImport(), a.readerRun(), a.readerList())
}

func (a *app) readerExport() *cobra.Command {
	var force, decided bool
	var readings string
	cmd := &cobra.Command{
		Use: "export FILE", Short: "Export requirements and the passages to read as JSON lines",
		Long: `Saves one JSON object per line for each requirement of the assessment's controls, with up
to 20 passages that a search finds for the requirement. With --decided, saves the decisions that
people made in the Statement of Applicability instead. With --readings, saves the readings of a
reader instead. If FILE is -, writes to stdout.`,
		Example: "  service reader export statements.jsonl\n  service reader export decisions.jsonl --decided\n" +
			"  service reader export readings.jsonl --readings ada",
		RunE: func(cmd *cobra.Command, args []string) error {
			if decided && readings != "" {
				return usageError("--decided and --readings can't be combined; export people's decisions and a reader's readings to separate files")
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			if readings != "" {
				f, err := call(cmd.Context(), a, api.ExportReadings, newReaderInput(one.ID, readings))
				if err != nil {
					return err
				}
				return a.saveDownload(f, args[0], force)
			}
			op := api.ExportReaderStatements
			if decided {
				op = api.ExportReaderDecisions
			}
			a.progress.Start("searching for passages")
			f, err := call(cmd.Context(), a, op, &api.AssessmentInput{AssessmentID: one.ID})
			if err != nil {
				return err
			}
			return a.saveDownload(f, args[0], force)
		},
	}
	cmd.Flags().BoolVar(&decided, "decided", false, "export the items that people accepted or changed")
	cmd.Flags().StringVar(&readings, "readings", "", "export the readings of the reader with this name")
	addForceFlag(cmd, &force)
	return cmd
}

func (a *app) readerImport() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "import FILE --name NAME", Short: "Import a reader's labels for the passages",
		Long: `Imports readings from a file with one JSON object per line. Each object contains the reader's
name, the statement_id and passage_hash from an export, a label, the words of the passage that
support the label and, optionally, the probabilities of the labels. The whole file is checked
first, and nothing is imported if any line is invalid. Earlier readings under the same name are
replaced.`,
		Example: "  service reader import readings.jsonl --name ada\n  service soa draft --reader ada",
		RunE: func(cmd *cobra.Command, args []string) error {
			if name == "" {
				return usageError("--name is missing; pass the reader's name as it appears on the lines of the file")
			}
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			r, err := a.importReadings(cmd.Context(), one.ID, args[0], name)
			if err != nil {
				return err
			}
			return a.out.Print(r, func(p *print.Page) {
				p.Text("Imported %s from the reader %s.", prose.Count(r.Readings, "reading", "readings"), r.Name)
				renderReaderCoverage(p, r)
				p.Text("To draft with this reader, run `%s`.", a.suggestedCommandLine("soa draft --reader "+r.Name))
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the reader, as it appears on every line of the file")
	return cmd
}

func renderReaderCoverage(p *print.Page, r *api.Reader) {
	if missing := r.OfStatements - r.Statements; missing > 0 {
		p.Text(
			"%d of %s have no readings from this reader; a draft shows the requirements as missing.",
			missing,
			prose.Count(r.OfStatements, "requirement", "requirements")+" with passages",
		)
	}
}

func (a *app) importReadings(ctx context.Context, assessment, path, name string) (*api.Reader, error) {
	f, err := openFile(ctx, path, api.MaxUploadBytes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a.progress.Start("checking the readings")
	r, err := call(ctx, a, api.ImportReadings, newImportReadingsInput(assessment, name, filepath.Base(path), f))
	a.progress.Done("")
	return r, validationToRuntimeError(err)
}

func newImportReadingsInput(assessment, reader, filename string, content io.Reader) *api.ImportReadingsInput {
	return &api.ImportReadingsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Name: reader,
		File: api.UploadFile{Filename: filename, Content: content},
	}
}

func newReaderInput(assessment, name string) *api.ReaderInput {
	return &api.ReaderInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Name: name}
}

func (a *app) readerList() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the readers of the assessment",
		Long: `Lists the readers that have read the evidence: imported files, and language models with the
number of requests and tokens. The built-in rules are always available as the reader "rules".`,
		Example: "  service reader list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in := api.ReaderListInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}}
			all, err := fetchList(cmd.Context(), a, api.ListReaders, &in, l)
			if err != nil {
				return err
			}
			columns := []print.Column{
				fixed("name"), number("readings"), number("requirements"), optional(number("requests")), optional(number("tokens")), column("by"),
				fixed("last"),
			}
			return printList(a, all, columns, func(r api.Reader) []string {
				requests, tokens := "", ""
				if m := r.Model; m != nil {
					requests, tokens = fmt.Sprint(m.Calls), fmt.Sprint(m.PromptTokens+m.CompletionTokens)
				}
				return []string{
					r.Name, fmt.Sprint(r.Readings), fmt.Sprintf("%d of %d", r.Statements, r.OfStatements), requests, tokens, r.ImportedBy,
					print.FormatTime(r.ImportedAt),
				}
			}, "No readings have been imported; drafts use the built-in rules.")
		},
	}
	l.addFlags(cmd, 0)
	return cmd
}

// readerFlags specifies who reads the evidence for a draft.
type readerFlags struct {
	name string // name of a reader, or of a file of readings
	yes  bool   // don't ask for confirmation before a model reads a lot
	// second is a reader that reads as well, without deciding: model or builtin; empty for none.
	second string
}

// addReaderFlag adds the flags for choosing the reader.
func addReaderFlag(cmd *cobra.Command, reader *readerFlags) {
	f := cmd.Flags()
	f.StringVar(
		&reader.name, "reader", "",
		"reader to use: rules, builtin, model, a reader's name, or a file with readings or weights (default: the newest version's reader)",
	)
	f.StringVar(&reader.second, "second-reader", "",
		"also have the language model, or with =builtin the built-in network, read the passages, and show where it disagrees; "+
			"statuses don't change")
	f.Lookup("second-reader").NoOptDefVal = api.ModelReader
	f.BoolVarP(&reader.yes, "yes", "y", false, "let a model read without asking for confirmation")
}

// chosenReader returns the reader chosen by a flag or, if that is empty, by the setting "reader".
func (a *app) chosenReader(flag string) string {
	if flag != "" {
		return flag
	}
	if env := a.Env(envName("reader")); env != "" {
		return env
	}
	return a.config.GetString("reader")
}

// readAndDraftSoA drafts the Statement of Applicability with the chosen reader. If the reader is a file of readings,
// the file is imported first; if it is a language model or a neural network, it reads the evidence first.
func (a *app) readAndDraftSoA(ctx context.Context, assessment string, flags readerFlags) (*api.SoAVersion, error) {
	if !slices.Contains([]string{"", api.ModelReader, api.BuiltinReader}, flags.second) {
		return nil, usageError("%q can't be the second reader; use --second-reader=model or --second-reader=builtin", flags.second)
	}
	reader, err := a.haveRead(ctx, assessment, a.chosenReader(flags.name), flags.yes)
	if err != nil {
		return nil, err
	}
	if i, err := os.Stat(reader); err == nil && i.Mode().IsRegular() && isWeightsFile(reader) {
		r, err := a.readWithWeights(ctx, assessment, reader, readPassages)
		if err != nil {
			return nil, err
		}
		reader = r.Name
		a.progress.Start("draft the " + api.GateSoA.Title())
	} else if err == nil && i.Mode().IsRegular() {
		name, err := readerNameInFile(ctx, reader)
		if err != nil {
			return nil, err
		}
		r, err := a.importReadings(ctx, assessment, reader, name)
		if err != nil {
			return nil, err
		}
		reader = r.Name
	}
	in := api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Reader: reader}
	if in.SecondReader, err = a.haveRead(ctx, assessment, flags.second, flags.yes); err != nil {
		return nil, err
	}
	return call(ctx, a, api.DraftSoA, &in)
}

// haveRead makes the language model or the built-in network read the evidence if it is the reader, and returns the name of the
// reader to draft with.
func (a *app) haveRead(ctx context.Context, assessment, reader string, yes bool) (_ string, err error) {
	switch reader {
	case api.ModelReader:
		reader, err = a.readWithModel(ctx, assessment, yes)
	case api.BuiltinReader:
		err = a.readWithBuiltin(ctx, assessment)
	default:
		return reader, nil
	}
	if err == nil {
		a.progress.Start("draft the " + api.GateSoA.Title())
	}
	return reader, err
}

// previewSoADraft prints what a new draft would change. The reader must already have read the evidence, or read it
// while drafting.
func (a *app) previewSoADraft(ctx context.Context, assessment string, flags readerFlags) error {
	if flags.second != "" {
		return usageError("--dry-run can't be combined with --second-reader, because the reader would have to read the passages first")
	}
	in := &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Reader: a.chosenReader(flags.name)}
	if i, err := os.Stat(in.Reader); err == nil && i.Mode().IsRegular() {
		return withHint(usageError("with --dry-run, --reader must be a reader's name, not a file"),
			"import the file first with `service reader import`")
	}
	return callAndPrint(ctx, a, api.PreviewSoADraft, in, func(p *print.Page, d *api.ArtifactDiff) {
		p.Title("Changes that a new draft would make to version %d of the %s", d.FromVersion, api.GateSoA.Title())
		if len(d.Lines) == 0 {
			p.Text("No changes.")
			return
		}
		renderDraftPreview(p, d)
	})
}

// decisiveFields are the fields of items that a preview of a draft lists first.
var decisiveFields = []string{"applicability", "implementation_status", "evidence_coverage"}

// renderDraftPreview prints the items that a draft adds, removes, or changes in a decisive field. It counts the changes of
// other fields, which often only repeat a new number of documents.
func renderDraftPreview(p *print.Page, d *api.ArtifactDiff) {
	items, other := map[string]bool{}, map[string]int{}
	var lines []string
	for _, l := range d.Lines {
		switch {
		case l.Change != "changed":
			lines = append(lines, l.Text)
		case slices.Contains(decisiveFields, l.Field):
			items[l.Item] = true
			lines = append(lines, l.Text)
		default:
			other[l.Field]++
		}
	}
	p.Text("%d added, %d removed, %d changed (applicability, status or coverage would change for %d)",
		d.Added, d.Removed, d.Changed, len(items))
	p.Blank()
	for _, l := range lines {
		p.Text("%s", print.Truncate(l, maxDiffLineWidth))
	}
	if len(other) == 0 {
		return
	}
	fields := slices.SortedFunc(maps.Keys(other), func(x, y string) int { return cmp.Or(other[y]-other[x], strings.Compare(x, y)) })
	for i, f := range fields {
		fields[i] = prose.Humanize(f) + ": " + prose.Count(other[f], "item", "items")
	}
	p.Title("Other fields")
	p.Text("%s. List all changes with `-o json`.", strings.Join(fields, ", "))
}

// readerNameInFile returns the name of the reader in the first line of a file of readings.
func readerNameInFile(ctx context.Context, path string) (string, error) {
	f, err := openFile(ctx, path, api.MaxUploadBytes)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	var first struct {
		Reader string `json:"reader"`
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil || first.Reader == "" {
		return "", runtimeError("%s: the first line must be a reading with the reader's name; see `service reader import --help`", path)
	}
	return first.Reader, nil
}
