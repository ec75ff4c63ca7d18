package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2/yaml"

	"github.com/scf-service/service/api"
)

// Paths of the OpenAPI document and its page. They are public because they describe the program,
// not its data.
const (
	OpenAPIPath     = api.Prefix + "/openapi.json"
	OpenAPIYAMLPath = api.Prefix + "/openapi.yaml"
	DocsPath        = "/docs"
)

// openAPIDocuments is the OpenAPI document as JSON and YAML.
type openAPIDocuments struct{ json, yaml staticAsset }

// staticAsset is an embedded file with its hash.
type staticAsset struct {
	contentType string
	body        []byte
	etag        string
}

func newStaticAsset(kind string, body []byte) staticAsset {
	sum := sha256.Sum256(body)
	return staticAsset{contentType: kind, body: body, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// mountOpenAPI serves the document and its page.
func (s *Server) mountOpenAPI() {
	s.schemas.Schema(errorEnvelope, true, "")
	markNullable(s.schemas)
	s.documents = sync.OnceValues(s.buildDocuments)
	s.mux.Get(OpenAPIPath, s.serveDocument(func(d openAPIDocuments) staticAsset { return d.json }))
	s.mux.Get(OpenAPIYAMLPath, s.serveDocument(func(d openAPIDocuments) staticAsset { return d.yaml }))
	s.mountDocsPage()
}

// OpenAPI returns the OpenAPI document as JSON: the same bytes for the same build.
func (s *Server) OpenAPI() ([]byte, error) {
	d, err := s.documents()
	return d.json.body, err
}

func (s *Server) buildDocuments() (openAPIDocuments, error) {
	doc, err := s.buildOpenAPI()
	if err != nil {
		return openAPIDocuments{}, err
	}
	var asJSON, asYAML bytes.Buffer
	enc := json.NewEncoder(&asJSON)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return openAPIDocuments{}, err
	}
	if err := yaml.Convert(&asYAML, bytes.NewReader(asJSON.Bytes())); err != nil {
		return openAPIDocuments{}, err
	}
	return openAPIDocuments{newStaticAsset("application/json", asJSON.Bytes()), newStaticAsset("application/yaml", asYAML.Bytes())}, nil
}

func (s *Server) serveDocument(pick func(openAPIDocuments) staticAsset) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d, err := s.documents()
		if err != nil {
			s.log.Error("generating the OpenAPI document failed", "trace_id", traceIDFrom(r.Context()), "error", err)
			s.writeError(w, r, api.AsError(err))
			return
		}
		pick(d).serve(w, r)
	}
}

// serve sends the asset, or 304 if the caller has it.
func (a staticAsset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "no-cache") // ask, and be told 304
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}
