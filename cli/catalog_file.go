package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/regularfile"
)

// importCatalogFile imports a catalog file. A file that starts with a JSON object is imported as
// JSON, any other as a workbook.
func (a *app) importCatalogFile(ctx context.Context, path string, f io.Reader, label, aliases string, dryRun bool) (*api.ImportRun, error) {
	name := filepath.Base(path)
	r := bufio.NewReader(f)
	if !startsWithJSONObject(r) {
		op := api.ImportWorkbook
		if dryRun {
			op = api.DryRunWorkbook
		}
		return call(ctx, a, op, &api.ImportWorkbookInput{File: api.UploadFile{Filename: name, Content: r}, Label: label, Aliases: aliases})
	}
	limit := api.ImportStructured.MaxBody
	data, err := regularfile.ReadAll(r, limit)
	if err != nil {
		return nil, fileError(path, err)
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	if err := validateJSON(data); err != nil {
		return nil, withHint(
			runtimeError("%s is not valid JSON: %w", path, err),
			"`%s` writes a catalog in the expected format",
			a.suggestedCommandLine("catalog export"),
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

// startsWithJSONObject reports whether the input starts with a JSON object, ignoring a byte order mark and
// whitespace before it. It does not consume any input.
func startsWithJSONObject(r *bufio.Reader) bool {
	head, _ := r.Peek(512)
	head = bytes.TrimLeftFunc(bytes.TrimPrefix(head, byteOrderMark), unicode.IsSpace)
	return len(head) > 0 && head[0] == '{'
}

func (a *app) catalogExport(version *string) *cobra.Command {
	in := api.ExportCatalogInput{Format: api.FormatService}
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "export", Short: "Save a catalog version as JSON",
		Long: `Saves a catalog version as a JSON file that "service catalog import" accepts. The format is
the service's own or OSCAL. In OSCAL, you can save the catalog, a profile of the controls
mapped to a framework (--model profile --framework CODE), or the crosswalk
(--model mapping-collection). A catalog imported from the SCF contains SCF text; the SCF
license determines with whom you may share it.`,
		Example: "  service catalog export --out catalog.json\n  service catalog export --format oscal --version 2026.1.1\n" +
			"  service catalog export --format oscal --model profile --framework gdpr",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.SCFVersionID = *version; *version == "" {
				v, err := call(cmd.Context(), a, api.GetLatestVersion, &api.None{})
				if err != nil {
					return err
				}
				in.SCFVersionID = v.ID
			}
			f, err := call(cmd.Context(), a, api.ExportCatalog, &in)
			if err != nil {
				return err
			}
			return a.saveDownload(f, downloadPath(out, f.Filename, "catalog.json"), force)
		},
	}
	addChoiceFlag(cmd.Flags(), &in.Format, "format", []string{api.FormatService, api.FormatOSCAL}, "service or oscal")
	cmd.Flags().StringVar(&in.Model, "model", "", "OSCAL model: catalog, profile or mapping-collection")
	cmd.Flags().StringVar(&in.Framework, "framework", "", "framework of the profile, or the only framework to include in the crosswalk")
	cmd.Flags().StringVar(&out, "out", "", "file to write; - for stdout (default: named after the version)")
	addForceFlag(cmd, &force)
	return cmd
}

// validateJSON returns nil if data is valid JSON, or else an error with the line of the first syntax error.
func validateJSON(data []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:max(1, syntax.Offset)-1], []byte("\n")), err)
	}
	return err
}
