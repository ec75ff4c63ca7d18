package cli

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/regularfile"
)

func (a *app) catalogImportSTRM(version *string) *cobra.Command {
	var framework string
	var dry bool
	cmd := &cobra.Command{
		Use: "import-strm FILE...", Short: "Import relationship mapping documents (STRM) into the catalog",
		Long: `Imports set theory relationship mapping (STRM) documents, as PDF or .xlsx files, into a catalog
version. They state how each requirement relates to a control, how strongly and why, and contain
the text of the requirement. The result is a revision of that version. New assessments use the
revision; existing assessments keep their version. Either all documents are imported or none.
If a document and the workbook disagree, both mappings are kept and a warning is shown.`,
		Example: "  service catalog import-strm scf-strm-emea-eu-nis2-2022.pdf\n  service catalog import-strm strm/*.pdf --dry-run\n" +
			"  service catalog import-strm mapping.xlsx --framework iso-27001-2022",
		RunE: func(cmd *cobra.Command, args []string) error {
			if framework != "" && len(args) > 1 {
				return usageError("--framework can only be used with a single document, but %d were given", len(args))
			}
			f, name, err := openOrZip(cmd.Context(), args)
			if err != nil {
				return err
			}
			defer f.Close()
			op, word := api.ImportSTRM, "importing "
			if dry {
				op, word = api.DryRunSTRM, "checking "
			}
			a.interruptHint = "the catalog is unchanged, because either all documents are imported or none; run the same command again"
			a.progress.Start(word + name)
			run, err := call(
				cmd.Context(),
				a,
				op,
				&api.ImportSTRMInput{File: api.UploadFile{Filename: name, Content: f}, Version: *version, Framework: framework},
			)
			a.progress.Done("")
			if err != nil {
				return validationToRuntimeError(a.withFrameworkHint(err))
			}
			return a.out.Print(run, func(p *print.Page) { a.renderImportRun(p, run) })
		},
	}
	cmd.Flags().StringVar(&framework, "framework", "", "framework that the document maps (default: as stated in the document)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would change without changing anything")
	_ = cmd.RegisterFlagCompletionFunc("framework", a.completeFrameworks())
	return cmd
}

// openOrZip returns a reader for an upload. A single document is uploaded unchanged; several are packed into one zip
// archive, so that they are imported together. The same files always result in the same archive.
func openOrZip(ctx context.Context, paths []string) (content io.ReadCloser, filename string, _ error) {
	if len(paths) == 1 {
		f, err := openFile(ctx, paths[0], api.MaxUploadBytes)
		return f, filepath.Base(paths[0]), err
	}
	tmp, err := os.CreateTemp("", "service-strm-*.zip")
	if err != nil {
		return nil, "", runtimeError("can't create a temporary file to combine the documents: %w", err)
	}
	whole := &selfDeletingFile{tmp}
	z := zip.NewWriter(tmp)
	for _, path := range paths {
		if err := addToZip(ctx, z, path); err != nil {
			return nil, "", errors.Join(fileError(path, err), whole.Close())
		}
	}
	if err := z.Close(); err != nil {
		return nil, "", errors.Join(err, whole.Close())
	}
	if _, err := tmp.Seek(0, io.SeekStart); err != nil {
		return nil, "", errors.Join(err, whole.Close())
	}
	return whole, fmt.Sprintf("%d documents.zip", len(paths)), nil
}

func addToZip(ctx context.Context, z *zip.Writer, path string) error {
	f, err := regularfile.Open(ctx, path, api.MaxUploadBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := z.CreateHeader(&zip.FileHeader{Name: filepath.Base(path), Method: zip.Store})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

// selfDeletingFile is a file that is deleted when it is closed.
type selfDeletingFile struct{ *os.File }

func (t *selfDeletingFile) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }

// renderMappingDocuments prints what was imported from each relationship mapping document.
func renderMappingDocuments(p *print.Page, list []api.MappingDocument) {
	if len(list) == 0 {
		return
	}
	p.Title("%s", prose.Count(len(list), "document", "documents"))
	renderTable(p, list, []print.Column{
		fixed("framework"), number("elements"), number("related"), number("confirmed"), number("added"),
		number("unnamed"), optional(number("texts")), optional(number("new requirements")), optional(column("file")),
	}, func(d api.MappingDocument) []string {
		return []string{
			d.FrameworkCode, fmt.Sprint(d.Elements), fmt.Sprint(d.Related), fmt.Sprint(d.MappingsConfirmed),
			fmt.Sprint(d.MappingsAdded), fmt.Sprint(d.MappingsUnnamed), fmt.Sprint(d.RequirementsWorded),
			fmt.Sprint(d.RequirementsAdded), d.Filename,
		}
	})
}
