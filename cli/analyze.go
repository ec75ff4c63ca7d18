package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/linereader"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/regularfile"
)

func (a *app) analyzeCommand() *cobra.Command {
	return makeCommandGroup(
		&cobra.Command{
			Use: "analyze", Short: "Run a single analysis, such as a gap or risk analysis",
			Long: `Runs an analysis immediately, using built-in rules or the selected model (see "service
model status"). Each result contains the ID of its run; "service agent steps ID" shows the
steps of the run. Results are drafts and need human review.

--file reads the long text from a file, or from stdin with -. --batch reads one JSON
object per line, with the fields of the operation's body, and prints one result per line.`,
			Example: "  service analyze evidence --requirement 'Backups are restored as a test.' --file evidence.txt\n" +
				"  service analyze incident --module vpn --file auth.log",
		},
		newAnalysisCommand(
			a,
			api.EvaluateEvidence,
			"evidence",
			"Judge whether evidence meets a requirement",
			[]analysisField{
				{"requirement", "controlRequirement", "the requirement"},
				{"evidence", "evidenceDescription", "description of the evidence"},
			},
			"  service analyze evidence --requirement 'Laptops are encrypted.' --evidence 'All laptops use BitLocker.'",
			func(in *api.EvaluateEvidenceInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.TriageIncident,
			"incident",
			"Determine whether an event is an incident or a false alarm",
			[]analysisField{
				{"module", "systemModuleName", "system that wrote the log"},
				{"logs", "rawLogsExcerpt", "log lines"},
			},
			"  service analyze incident --module vpn --file auth.log",
			func(in *api.TriageIncidentInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.TranslateRisk,
			"risk",
			"Explain a technical risk in business terms",
			[]analysisField{
				{"category", "riskCategory", "category of the risk: security, privacy, compliance or architecture"},
				{"business-context", "businessContext", "business context"},
				{"risk", "technicalRiskDescription", "description of the technical risk"},
			},
			"  service analyze risk --category security --risk 'Backups were never restored.'",
			func(in *api.TranslateRiskInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.ScanVendorContract,
			"vendor",
			"Find data-protection gaps in a contract",
			[]analysisField{{"vendor", "vendorName", "name of the vendor"}, {"contract", "contractExcerpt", "text of the contract"}},
			"  service analyze vendor --vendor Cloudhost --file dpa.txt",
			func(in *api.ScanVendorContractInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.ArchitectRemediation,
			"remediation",
			"Create a remediation plan from a failed evaluation",
			[]analysisField{
				{"architecture", "systemArchitectureDescription", "description of the affected systems"},
				{"evaluation", "evidenceContext", "output of 'service analyze evidence -o json'"},
			},
			"  service analyze evidence --requirement 'Data is encrypted.' --evidence 'Not yet.' -o json > gap.json\n"+
				"  service analyze remediation --architecture 'AWS, RDS' --file gap.json",
			func(in *api.ArchitectRemediationInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.AnalyzeRoPA,
			"ropa",
			"List the requirements for an activity that processes personal data",
			[]analysisField{{flag: "text", name: "text", usage: "description of the processing activity"}},
			"  service analyze ropa --text 'Payroll of 120 employees with bank accounts.'",
			func(in *api.AnalyzeRoPAInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.AssessDPIA,
			"dpia",
			"Assess a project's residual privacy risk",
			[]analysisField{
				{"ropa", "ropaContext", "output of 'service analyze ropa -o json'"},
				{"project", "projectDescription", "description of the project"},
			},
			"  service analyze dpia --project 'A newsletter with consent, encrypted, deleted after two years.'",
			func(in *api.AssessDPIAInput) any { return &in.Body },
		),
	)
}

// analysisField describes a field of an analysis request: its flag, its JSON name and its usage text. In a
// list of fields, the last one is the longest text, which --file reads from a file.
type analysisField struct{ flag, name, usage string }

// maxAnalysisInput is the maximum size of an input file; the server's own limit is slightly lower.
const maxAnalysisInput = 1 << 20

// newAnalysisCommand returns the command that runs one of the analyses.
func newAnalysisCommand[I, O any](
	a *app,
	op api.Op[I, O],
	name, short string,
	fields []analysisField,
	example string,
	requestBody func(*I) any,
) *cobra.Command {
	values := make([]string, len(fields))
	var file, batch string
	cmd := &cobra.Command{
		Use: name, Short: short, Example: example,
		Long: short + ".\nPass each text in a flag, or read the longest text from --file. To analyze many cases, use --batch.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if batch != "" {
				return a.analyzeBatch(cmd.Context(), batch, func(ctx context.Context, line []byte) (any, error) {
					return decodeAndCall(ctx, a, op, line, requestBody)
				})
			}
			if file != "" {
				text, err := a.readTextFile(file)
				if err != nil {
					return err
				}
				values[len(values)-1] = text
			}
			line, err := encodeAnalysisBody(fields, values)
			if err != nil {
				return err
			}
			out, err := decodeAndCall(cmd.Context(), a, op, line, requestBody)
			if err != nil {
				return err
			}
			return a.out.Print(out, func(p *print.Page) { renderObject(p, reflect.ValueOf(out).Elem()) })
		},
	}
	for i, f := range fields {
		cmd.Flags().StringVar(&values[i], f.flag, "", f.usage)
	}
	cmd.Flags().StringVar(&file, "file", "", fmt.Sprintf("read --%s from this file; - for stdin", fields[len(fields)-1].flag))
	cmd.Flags().StringVar(&batch, "batch", "", "run the analysis for each line of this JSONL file; - for stdin")
	cmd.MarkFlagsMutuallyExclusive("file", "batch")
	cmd.MarkFlagsMutuallyExclusive("file", fields[len(fields)-1].flag)
	return cmd
}

// encodeAnalysisBody encodes flag values as a JSON request body. The values of evidenceContext and ropaContext already
// are JSON, so they are embedded unchanged; empty ones are left out.
func encodeAnalysisBody(fields []analysisField, values []string) ([]byte, error) {
	m := map[string]any{}
	for i, f := range fields {
		switch {
		case f.name != "evidenceContext" && f.name != "ropaContext":
			m[f.name] = values[i]
		case values[i] != "":
			if !json.Valid([]byte(values[i])) {
				return nil, usageError("--%s is not valid JSON; pass what the other analysis prints with -o json", f.flag)
			}
			m[f.name] = json.RawMessage(values[i])
		}
	}
	return json.Marshal(m)
}

// explainDecodeError rewords a JSON type error so that it contains no Go type names. It returns other errors
// unchanged.
func explainDecodeError(err error) error {
	var typeErr *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &typeErr):
		return err
	case typeErr.Field == "":
		return fmt.Errorf("expected a JSON object, not %s", cmp.Or(jsonKindNames[typeErr.Value], typeErr.Value))
	}
	return fmt.Errorf(
		"%s must be %s, got %s",
		typeErr.Field,
		jsonKindName(typeErr.Type),
		cmp.Or(jsonKindNames[typeErr.Value], typeErr.Value),
	)
}

// jsonKindNames maps the value kinds in encoding/json's error messages to the names shown to users.
var jsonKindNames = map[string]string{
	"string": "a string",
	"array":  "a list",
	"object": "an object",
	"bool":   "a boolean",
	"number": "a number",
}

func jsonKindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKindName(t.Elem())
	case reflect.String:
		return jsonKindNames["string"]
	case reflect.Slice, reflect.Array:
		return jsonKindNames["array"]
	case reflect.Map, reflect.Struct:
		return jsonKindNames["object"]
	case reflect.Bool:
		return jsonKindNames["bool"]
	}
	return jsonKindNames["number"]
}

// decodeAndCall decodes line as the JSON request body of op and calls op. It rejects unknown fields.
func decodeAndCall[I, O any](ctx context.Context, a *app, op api.Op[I, O], line []byte, requestBody func(*I) any) (*O, error) {
	var in I
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(requestBody(&in)); err != nil {
		return nil, usageError("the request body of %s is not valid: %w", op.ID, explainDecodeError(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, usageError("the request body of %s is not valid: unexpected data after the JSON object", op.ID)
	}
	return call(ctx, a, op, &in)
}

func (a *app) readTextFile(path string) (string, error) {
	b, err := a.readFile(path, maxAnalysisInput)
	switch {
	case errors.Is(err, regularfile.ErrTooLarge):
		return "", withHint(err, "pass only the relevant part of the text")
	case err != nil:
		return "", err
	case bytes.IndexByte(b, 0) >= 0:
		return "", usageError("%s is not a text file", path)
	}
	return strings.ToValidUTF8(string(b), "�"), nil
}

// analyzeBatch runs analyzeLine on each nonempty line of a file and prints one result per line, in order. If
// a line fails, its error is printed as its result, the remaining lines are still processed, and analyzeBatch
// returns an error.
func (a *app) analyzeBatch(ctx context.Context, path string, analyzeLine func(context.Context, []byte) (any, error)) error {
	input := a.Stdin
	if path != "-" {
		f, err := openFile(ctx, path, regularfile.NoLimit)
		if err != nil {
			return err
		}
		defer f.Close()
		input = f
	}
	in := bufio.NewReaderSize(input, 64<<10)
	encoder := json.NewEncoder(a.Stdout)
	encoder.SetEscapeHTML(false)
	n, failed := 0, 0
	for end := false; !end; {
		line, tooLong, err := linereader.ReadLine(in, 2*maxAnalysisInput)
		if end = errors.Is(err, io.EOF); err != nil && !end {
			return runtimeError("%s can't be read: %w", path, errorWithoutPath(err))
		}
		if n++; len(line) == 0 && !tooLong {
			continue
		}
		var out any
		if err = fmt.Errorf("the line is larger than %s", print.FormatSize(2*maxAnalysisInput)); !tooLong {
			out, err = analyzeLine(ctx, line)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			out = map[string]any{"line": n, "error": err.Error()}
		}
		if err := encoder.Encode(out); err != nil {
			return err
		}
	}
	if failed > 0 {
		return runtimeError("%s failed", prose.Count(failed, "line", "lines"))
	}
	return nil
}

// renderObject prints a struct without nested structs: first its scalar fields, then its lists.
func renderObject(p *print.Page, v reflect.Value) {
	var short []print.Field
	var lists []reflect.StructField
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		x := v.FieldByIndex(f.Index)
		if x.Kind() == reflect.Slice {
			lists = append(lists, f)
			continue
		}
		short = append(short, field(prose.Humanize(jsonFieldName(f)), fmt.Sprint(x.Interface())))
	}
	p.Fields(short...)
	for _, f := range lists {
		x := v.FieldByIndex(f.Index)
		if x.Len() == 0 {
			continue
		}
		p.Title("%s", prose.Label(jsonFieldName(f)))
		for i := range x.Len() {
			if c, ok := x.Index(i).Interface().(api.RequiredControl); ok {
				p.ListItem(0, "%s  %s: %s", c.ControlID, c.Name, c.Reason)
				continue
			}
			p.ListItem(0, "%v", x.Index(i).Interface())
		}
	}
}

func jsonFieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
