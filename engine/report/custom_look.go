package report

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/render"
)

// What a report's sources name of a template and styles of a user's own; neither is kept.
const (
	sourceTemplateHash = "layout_sha256"
	sourceStyleHash    = "style_sha256"
)

// checkCustomLook refuses a template or styles where they can't be used.
func checkCustomLook(b api.ReportBody) error {
	switch {
	case b.Layout != "" && b.Template == auditPackage:
		return api.Invalid("layout", "an audit package has the program's own reports; write one with the template beside it")
	case b.Layout != "":
		if err := render.CheckTemplate(b.Layout, b.Format); err != nil {
			return err
		}
	}
	if b.Style != "" && b.Format != render.FormatDOCX {
		return api.Invalid("style", "styles are taken by a report in docx, not in %s", b.Format)
	}
	return nil
}

// addCustomLookHashes names them among the sources.
func addCustomLookHashes(sources map[string]string, b api.ReportBody) map[string]string {
	for name, text := range map[string]string{sourceTemplateHash: b.Layout, sourceStyleHash: b.Style} {
		if text != "" {
			sum := sha256.Sum256([]byte(text))
			sources[name] = hex.EncodeToString(sum[:])
		}
	}
	return sources
}

// hasCustomLook tells whether a report was laid out by something that isn't kept.
func hasCustomLook(r *api.Report) bool {
	return r.Sources[sourceTemplateHash]+r.Sources[sourceStyleHash] != ""
}
