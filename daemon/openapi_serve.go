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

// Where the document and the page about it are. They are public: they say what
// the program is, not what it holds.
const (
	OpenAPIPath     = api.Prefix + "/openapi.json"
	OpenAPIYAMLPath = api.Prefix + "/openapi.yaml"
	DocsPath        = "/docs"
)

// document is the OpenAPI document in both spellings.
type document struct{ json, yaml asset }

// asset is a file of the program's own, with the name of its content.
type asset struct {
	kind string
	body []byte
	etag string
}

func newAsset(kind string, body []byte) asset {
	sum := sha256.Sum256(body)
	return asset{kind, body, `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// publish serves the document and its page.
func (s *Server) publish() {
	s.schemas.Schema(errorEnvelope, true, "")
	allowNull(s.schemas)
	s.document = sync.OnceValues(s.makeDocument)
	s.mux.Get(OpenAPIPath, s.serveDocument(func(d document) asset { return d.json }))
	s.mux.Get(OpenAPIYAMLPath, s.serveDocument(func(d document) asset { return d.yaml }))
	s.servePage()
}

// OpenAPI is the OpenAPI document as JSON: the same bytes for the same build.
func (s *Server) OpenAPI() ([]byte, error) {
	d, err := s.document()
	return d.json.body, err
}

func (s *Server) makeDocument() (document, error) {
	doc, err := s.describeAPI()
	if err != nil {
		return document{}, err
	}
	var asJSON, asYAML bytes.Buffer
	enc := json.NewEncoder(&asJSON)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return document{}, err
	}
	if err := yaml.Convert(&asYAML, bytes.NewReader(asJSON.Bytes())); err != nil {
		return document{}, err
	}
	return document{newAsset("application/json", asJSON.Bytes()), newAsset("application/yaml", asYAML.Bytes())}, nil
}

func (s *Server) serveDocument(pick func(document) asset) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d, err := s.document()
		if err != nil {
			s.log.Error("the OpenAPI document can't be made", "trace_id", traceID(r.Context()), "error", err)
			s.writeError(w, r, api.AsError(err))
			return
		}
		pick(d).serve(w, r)
	}
}

// serve answers with the asset, or 304 where the caller has it.
func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "no-cache") // ask, and be told 304
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}
