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
	"os"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/linereader"
)

func (a *app) analyzeCommand() *cobra.Command {
	return group(
		&cobra.Command{
			Use: "analyze", Short: "Ask one of the seven specialised analyses",
			Long: `Answers seven questions at once, by rules or by the model in use (service model status).
Each answer names the run that can be read with service agent steps. It is a draft: a
person judges it.

--file reads the long text from a file, - from stdin. --batch reads one JSON object a
line, with the fields of the operation's body, and answers one line each.`,
			Example: "  service analyze evidence --requirement 'Backups are restored as a test.' --file evidence.txt\n  service analyze incident --module vpn --file auth.log",
		},
		newAnalysisCommand(
			a,
			api.EvaluateEvidence,
			"evidence",
			"Judge evidence against a requirement",
			[]analysisField{
				{"requirement", "controlRequirement", "what is asked for"},
				{"evidence", "evidenceDescription", "what there is"},
			},
			"  service analyze evidence --requirement 'Laptops are encrypted.' --evidence 'All laptops use BitLocker.'",
			func(in *api.EvaluateEvidenceInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.TriageIncident,
			"incident",
			"Tell an incident from a false alarm",
			[]analysisField{
				{"module", "systemModuleName", "the system that the log is of"},
				{"logs", "rawLogsExcerpt", "lines of the log"},
			},
			"  service analyze incident --module vpn --file auth.log",
			func(in *api.TriageIncidentInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.TranslateRisk,
			"risk",
			"Say a technical risk in a board's words",
			[]analysisField{
				{"category", "riskCategory", "security, privacy, compliance or architecture"},
				{"context", "businessContext", "what the business does"},
				{"risk", "technicalRiskDescription", "the risk"},
			},
			"  service analyze risk --category security --risk 'Backups were never restored.'",
			func(in *api.TranslateRiskInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.ScanVendorContract,
			"vendor",
			"Find data-protection gaps in a contract",
			[]analysisField{{"vendor", "vendorName", "the vendor"}, {"contract", "contractExcerpt", "text of the contract"}},
			"  service analyze vendor --vendor Cloudhost --file dpa.txt",
			func(in *api.ScanVendorContractInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.ArchitectRemediation,
			"remediation",
			"Turn a failed evaluation into a plan",
			[]analysisField{
				{"architecture", "systemArchitectureDescription", "the systems concerned"},
				{"evaluation", "evidenceContext", "what analyze evidence answered, as JSON"},
			},
			"  service analyze evidence --requirement 'Data is encrypted.' --evidence 'Not yet.' -o json > gap.json\n  service analyze remediation --architecture 'AWS, RDS' --file gap.json",
			func(in *api.ArchitectRemediationInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.AnalyzeRoPA,
			"ropa",
			"Say what a processing of personal data asks for",
			[]analysisField{{flag: "text", name: "text", usage: "the description of the processing"}},
			"  service analyze ropa --text 'Payroll of 120 employees with bank accounts.'",
			func(in *api.AnalyzeRoPAInput) any { return &in.Body },
		),
		newAnalysisCommand(
			a,
			api.AssessDPIA,
			"dpia",
			"Assess the risk that remains in a project",
			[]analysisField{
				{"ropa", "ropaContext", "what analyze ropa answered, as JSON"},
				{"project", "projectDescription", "the description of the project"},
			},
			"  service analyze dpia --project 'A newsletter with consent, encrypted, deleted after two years.'",
			func(in *api.AssessDPIAInput) any { return &in.Body },
		),
	)
}

// analysisField is a part of an analysis' body: its flag, its name there, and what it is. The
// last of a list is the long one, which --file reads.
type analysisField struct{ flag, name, usage string }

// maxAnalysisInput bounds what is read of one file; the server takes a little less.
const maxAnalysisInput = 1 << 20

// newAnalysisCommand is the command of one analysis.
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
		Use: name, Short: short, Args: requireArgs(0, 0), Long: short + ". Give the texts as flags, the longest with --file,\nor many cases with --batch.", Example: example,
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
	cmd.Flags().StringVar(&file, "file", "", "read --"+fields[len(fields)-1].flag+" from this file; - for stdin")
	cmd.Flags().StringVar(&batch, "batch", "", "ask for each line of this JSONL file; - for stdin")
	cmd.MarkFlagsMutuallyExclusive("file", "batch")
	cmd.MarkFlagsMutuallyExclusive("file", fields[len(fields)-1].flag)
	return cmd
}

// encodeAnalysisBody is the JSON of what the flags say. Names that end in Context hold JSON themselves, where they hold an object.
func encodeAnalysisBody(fields []analysisField, values []string) ([]byte, error) {
	m := map[string]any{}
	for i, f := range fields {
		switch {
		case f.name != "evidenceContext" && f.name != "ropaContext":
			m[f.name] = values[i]
		case values[i] != "":
			if !json.Valid([]byte(values[i])) {
				return nil, usageError("--%s is no JSON; it is what the other analysis answers with -o json", f.flag)
			}
			m[f.name] = json.RawMessage(values[i])
		}
	}
	return json.Marshal(m)
}

// explainDecodeError is an error of decoding without the words of the language it was written in.
func explainDecodeError(err error) error {
	var typeErr *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &typeErr):
		return err
	case typeErr.Field == "":
		return fmt.Errorf("a JSON object is asked for, not %s", cmp.Or(jsonKindNames[typeErr.Value], typeErr.Value))
	}
	return fmt.Errorf(
		"%s is %s where %s is asked for",
		typeErr.Field,
		cmp.Or(jsonKindNames[typeErr.Value], typeErr.Value),
		jsonKindName(typeErr.Type),
	)
}

// jsonKindNames are the words of encoding/json for what stands in a file, and ours.
var jsonKindNames = map[string]string{
	"string": "a text",
	"array":  "a list",
	"object": "a group of fields",
	"bool":   "true or false",
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

// decodeAndCall decodes a body, strictly, and asks.
func decodeAndCall[I, O any](ctx context.Context, a *app, op api.Op[I, O], line []byte, requestBody func(*I) any) (*O, error) {
	var in I
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(requestBody(&in)); err != nil {
		return nil, usageError("it is no body of %s: %w", op.ID, explainDecodeError(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, usageError("it is no body of %s: there is more behind it", op.ID)
	}
	return call(ctx, a, op, &in)
}

func (a *app) readTextFile(path string) (string, error) {
	input := a.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", runtimeError("%s can't be read: %w", path, errorWithoutPath(err))
		}
		defer f.Close()
		input = f
	}
	b, err := io.ReadAll(io.LimitReader(input, maxAnalysisInput+1))
	switch {
	case err != nil:
		return "", runtimeError("%s can't be read: %w", path, errorWithoutPath(err))
	case len(b) > maxAnalysisInput:
		return "", usageError("%s is longer than %s; give the part that matters", path, formatSize(maxAnalysisInput))
	case bytes.IndexByte(b, 0) >= 0:
		return "", usageError("%s is no text", path)
	}
	return strings.ToValidUTF8(string(b), "�"), nil
}

// analyzeBatch asks for each line, and answers one each, in order. A line that fails is
// answered with its error; then the command fails too.
func (a *app) analyzeBatch(ctx context.Context, path string, analyzeLine func(context.Context, []byte) (any, error)) error {
	input := a.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return runtimeError("%s can't be read: %w", path, errorWithoutPath(err))
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
		if err = fmt.Errorf("the line is longer than %s", formatSize(2*maxAnalysisInput)); !tooLong {
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
		return runtimeError("%s could not be answered", pluralize(failed, "line", "lines"))
	}
	return nil
}

// renderObject prints a flat object for people: what is short first, lists after.
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
		short = append(short, print.Field{Name: humanize(jsonFieldName(f)), Value: fmt.Sprint(x.Interface())})
	}
	p.Fields(short...)
	for _, f := range lists {
		x := v.FieldByIndex(f.Index)
		if x.Len() == 0 {
			continue
		}
		p.Title("%s", capitalize(humanize(jsonFieldName(f))))
		for i := range x.Len() {
			if c, ok := x.Index(i).Interface().(api.RequiredControl); ok {
				p.Item(0, "%s  %s: %s", c.ControlID, c.Name, c.Reason)
				continue
			}
			p.Item(0, "%v", x.Index(i).Interface())
		}
	}
}

func jsonFieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
