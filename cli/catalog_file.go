package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
)

// importCatalogFile imports a catalog file: a workbook, or JSON, which its first character tells.
func (a *app) importCatalogFile(ctx context.Context, f *os.File, label, aliases string, dryRun bool) (*api.ImportRun, error) {
	name := filepath.Base(f.Name())
	r := bufio.NewReader(f)
	if !startsWithJSONObject(r) {
		op := api.ImportWorkbook
		if dryRun {
			op = api.DryRunWorkbook
		}
		return call(ctx, a, op, &api.ImportWorkbookInput{File: api.UploadFile{Filename: name, Content: r}, Label: label, Aliases: aliases})
	}
	limit := api.ImportStructured.MaxBody
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, runtimeError("%s can't be read: %w", f.Name(), errorWithoutPath(err))
	}
	if int64(len(data)) > limit {
		return nil, runtimeError("%s is over the limit of %s", f.Name(), formatSize(limit))
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if err := validateJSON(data); err != nil {
		return nil, withHint(
			runtimeError("%s is no JSON: %w", f.Name(), err),
			"`%s` writes a catalog in the form that is taken",
			a.commandLine("catalog export"),
		)
	}
	return call(
		ctx,
		a,
		api.ImportStructured,
		&api.ImportSourceInput{Body: api.ImportSource{Label: label, Filename: name, DryRun: dryRun, Source: data}},
	)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// startsWithJSONObject tells whether a file's first character opens an object.
func startsWithJSONObject(r *bufio.Reader) bool {
	head, _ := r.Peek(512)
	head = bytes.TrimLeftFunc(bytes.TrimPrefix(head, byteOrderMark), unicode.IsSpace)
	return len(head) > 0 && head[0] == '{'
}

func (a *app) catalogExport(version *string) *cobra.Command {
	var format, model, framework, out string
	var force bool
	cmd := &cobra.Command{
		Use: "export", Short: "Save a catalog version as JSON", Args: requireArgs(0, 0),
		Long: `Saves a catalog version as a JSON file that ` + "`catalog import`" + ` takes again: in the service's
own format, or as OSCAL: the catalog, a profile of the controls that a framework maps to
(--model profile --framework CODE), or the crosswalk (--model mapping-collection). A catalog
that was imported from the SCF holds its text; who may have it, its licence says.`,
		Example: "  service catalog export --out catalog.json\n  service catalog export --format oscal --version 2026.1.1\n  service catalog export --format oscal --model profile --framework gdpr",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOneOf("format", format, []string{api.FormatService, api.FormatOSCAL}); err != nil {
				return err
			}
			ref := *version
			if ref == "" {
				v, err := call(cmd.Context(), a, api.GetLatestVersion, &api.None{})
				if err != nil {
					return err
				}
				ref = v.ID
			}
			f, err := call(
				cmd.Context(),
				a,
				api.ExportCatalog,
				&api.ExportCatalogInput{
					VersionInput: api.VersionInput{SCFVersionID: ref},
					Format:       format,
					Model:        model,
					Framework:    framework,
				},
			)
			if err != nil {
				return err
			}
			return a.saveDownload(f, downloadPath(out, f.Filename, "catalog.json"), force)
		},
	}
	cmd.Flags().StringVar(&format, "format", api.FormatService, "service or oscal")
	cmd.Flags().StringVar(&model, "model", "", "of OSCAL: catalog, profile or mapping-collection")
	cmd.Flags().StringVar(&framework, "framework", "", "the framework of a profile, or the only one of a crosswalk")
	cmd.Flags().StringVar(&out, "out", "", "the file; - for stdout (default: named after the version)")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}

// validateJSON is what keeps a file from being sent as JSON, with its line.
func validateJSON(data []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:max(1, syntax.Offset)-1], []byte("\n")), err)
	}
	return err
}
