package daemon

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2/yaml"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/web"
)

// Paths of the OpenAPI document. They are public because they describe the program, not its data.
const (
	OpenAPIPath     = api.Prefix + "/openapi.json"
	OpenAPIYAMLPath = api.Prefix + "/openapi.yaml"
)

// openAPIDocuments holds the OpenAPI document as JSON and YAML.
type openAPIDocuments struct{ json, yaml web.Asset }

// mountOpenAPI registers the handlers that serve the OpenAPI document.
func (s *Server) mountOpenAPI() {
	s.documents = sync.OnceValues(s.encodeOpenAPI)
	s.mux.Get(OpenAPIPath, s.serveOpenAPI(func(d openAPIDocuments) web.Asset { return d.json }))
	s.mux.Get(OpenAPIYAMLPath, s.serveOpenAPI(func(d openAPIDocuments) web.Asset { return d.yaml }))
}

// OpenAPI returns the OpenAPI document as JSON: the same bytes for the same build.
func (s *Server) OpenAPI() ([]byte, error) {
	d, err := s.documents()
	return d.json.Body, err
}

// encodeOpenAPI builds the OpenAPI document and encodes it in both formats.
func (s *Server) encodeOpenAPI() (openAPIDocuments, error) {
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
	return openAPIDocuments{web.NewAsset("application/json", asJSON.Bytes()), web.NewAsset("application/yaml", asYAML.Bytes())}, nil
}

// serveOpenAPI returns a handler for the format that pick selects.
func (s *Server) serveOpenAPI(pick func(openAPIDocuments) web.Asset) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d, err := s.documents()
		if err != nil {
			s.log.Error("generating the OpenAPI document failed", "trace_id", traceIDFrom(r.Context()), "error", err)
			s.writeError(w, r, api.AsError(err))
			return
		}
		pick(d).ServeHTTP(w, r)
	}
}
