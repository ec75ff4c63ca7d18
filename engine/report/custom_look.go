package report

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/render"
	"github.com/scf-service/service/engine/report/render/usertemplate"
)

// Names under which the sources of a report list the hashes of a custom template and of custom styles. The
// template and styles themselves are not stored.
const (
	sourceTemplateHash = "layout_sha256"
	sourceStyleHash    = "style_sha256"
)

// checkCustomLook returns an error if a request has a custom template or styles that the requested kind of
// report can't use.
func checkCustomLook(b api.ReportBody) error {
	switch {
	case b.Layout != "" && b.Template == auditPackage:
		return api.Invalid("layout", "an audit package can't use a custom template; write a separate report with the template")
	case b.Layout != "":
		if err := usertemplate.CheckSyntax(b.Layout, b.Format); err != nil {
			return err
		}
	}
	if b.Style != "" && b.Format != render.FormatDOCX {
		return api.Invalid("style", "styles only apply to docx reports, not to %s", b.Format)
	}
	return nil
}

// addCustomLookHashes adds the hashes of a request's custom template and styles, if it has any, to a report's
// sources.
func addCustomLookHashes(sources map[string]string, b api.ReportBody) map[string]string {
	for name, text := range map[string]string{sourceTemplateHash: b.Layout, sourceStyleHash: b.Style} {
		if text != "" {
			sum := sha256.Sum256([]byte(text))
			sources[name] = hex.EncodeToString(sum[:])
		}
	}
	return sources
}

// hasCustomLook reports whether a report was written with a custom template or custom styles. Neither is
// stored, so such a report can't be written again.
func hasCustomLook(r *api.Report) bool {
	return r.Sources[sourceTemplateHash]+r.Sources[sourceStyleHash] != ""
}
