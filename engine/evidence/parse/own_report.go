package parse

import (
	"archive/zip"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

var (
	// originPattern matches what the reports and results of this program say of their origin.
	originPattern = lazyregexp.New(`\b(?:[Ww]ritten by:?|tool:|name: written-by; ns: \S+; value:) service v?\d+\.\d+\.\d+`)
	// exportColumns are the first columns of its CSV files, which say nothing of their origin.
	exportColumns = []string{"id", "version", "version_status", "control_code"}
)

var errOwnReport = document.NewError(document.ErrOwnReport, "", "keep reports outside the evidence folder")

// isOwnArchive reports whether an archive is one of an assessment, such as an audit package.
func isOwnArchive(z *zip.Reader) bool {
	for _, name := range []string{"manifest.json", "manifest.sig", "assessment.json"} {
		if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == name }) {
			return false
		}
	}
	return true
}

// isOwnReport reports whether a document was written by this program. It repeats conclusions, which would confirm
// themselves as evidence.
func isOwnReport(d *document.Document) bool {
	return slices.ContainsFunc(d.Furniture, hasOrigin) || slices.ContainsFunc(d.Blocks, hasOrigin)
}

func hasOrigin(b document.Block) bool {
	if n := len(exportColumns); len(b.Header) > n && slices.Equal(b.Header[:n], exportColumns) {
		return true
	}
	return strings.Contains(b.Text, "service ") && originPattern.MatchString(b.Text)
}
