package parse

import (
	"archive/zip"
	"slices"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

var (
	// originPattern matches text that shows that a report, in any format, was written by this
	// program. It also matches results of `service check`.
	originPattern = lazyregexp.NewPrefiltered(`\b(?:[Ww]ritten by:?|tool:|name: written-by; ns: \S+; value:) service v?\d+\.\d+\.\d+` +
		`|\bservice check: (?:PASS|FAIL)\b|\bservice/check/|\bOUTCOME +RULE +CONTROL +SEVERITY\b` +
		`|\bcheck_name: gap/[A-Z]|\bok \d+ - policy: |\bchecked +the (?:folder|assessment) .* against .*, catalog ` +
		`|The policy (?:takes the place|is used instead) of an assessment plan\.` +
		`|\bfingerprint,policy,policy_sha256\b|\bid,version,version_status,control_code\b|\bversion_id,revision,control_id,control_code\b`)
	// originComment is the beginning of the comment at the end of a report made with a custom template.
	originComment = "<!-- Written by service "
	// exportColumns lists pairs of columns that identify this program's CSV and JSON exports, which contain no other
	// indication of their origin.
	exportColumns = [][]string{{"control_code", "version_status"}, {"control_code", "version_id"}, {"policy_sha256", "fingerprint"}}
)

var errOwnReport = document.NewError(document.ErrOwnReport, "", "keep reports outside the evidence folder")

// isOwnArchive reports whether an archive is an assessment archive written by this program, such as an audit
// package.
func isOwnArchive(z *zip.Reader) bool {
	for _, name := range []string{"manifest.json", "manifest.sig", "assessment.json"} {
		if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == name }) {
			return false
		}
	}
	return true
}

// isOwnReport reports whether a document was written by this program. Using such a document as
// evidence would let this program's conclusions confirm themselves.
func isOwnReport(d *document.Document) bool {
	return slices.ContainsFunc(d.Furniture, hasOrigin) || slices.ContainsFunc(d.Blocks, hasOrigin)
}

func hasOrigin(b document.Block) bool {
	for _, columns := range exportColumns {
		if slices.Contains(b.Header, columns[0]) && slices.Contains(b.Header, columns[1]) {
			return true
		}
	}
	return originPattern.MatchString(b.Text)
}
