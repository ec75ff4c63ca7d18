package daemon

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/scf-service/service/engine/api"
)

// method is how the engine answers an operation.
type method[I, O any] = func(context.Context, api.Caller, *I) (*O, error)

// answer is an output as huma wants it.
type answer[O any] struct {
	Status   int
	Location string `header:"Location"`
	Body     O
}

type callerKey struct{}

// bind gives an operation its method. The compiler checks that the types fit.
func bind[I, O any](s *Server, op api.Op[I, O], do method[I, O]) {
	if s.bound[op.ID] {
		panic("daemon: " + op.ID + " is bound twice")
	}
	s.bound[op.ID] = true
	switch op.Form {
	case api.Upload:
		bindUpload(s, op, do)
	case api.Download, api.Markup:
		bindFile(s, op, do)
	default:
		bindJSON(s, op, do)
	}
}

// later binds an operation whose method is still to come.
func later[I, O any](s *Server, op api.Op[I, O], what string) {
	s.later = append(s.later, op.ID)
	bind(s, op, func(context.Context, api.Caller, *I) (*O, error) { return nil, api.NotInThisBuild(what) })
}

// complete is an error naming the operations that nobody bound.
func (s *Server) complete() error {
	var missing []string
	for _, op := range api.Operations() {
		if !s.bound[op.ID] {
			missing = append(missing, op.ID)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("operations without a method: %s", strings.Join(missing, ", "))
	}
	return nil
}

// describe is the operation as huma and the OpenAPI document know it.
func (s *Server) describe(op *api.Operation) huma.Operation {
	return huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Tags: []string{op.Tag},
		DefaultStatus: op.Status, MaxBodyBytes: api.MaxBodyBytes,
		Middlewares: huma.Middlewares{s.admission(op)},
	}
}

// admission runs the declared checks before anything is decoded.
func (s *Server) admission(op *api.Operation) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humachi.Unwrap(ctx)
		by, err := s.admit(w, r, op)
		if err != nil {
			s.writeError(w, r, s.explain(r.Context(), op, err))
			return
		}
		next(huma.WithValue(ctx, callerKey{}, by))
	}
}

func caller(ctx context.Context) api.Caller {
	by, _ := ctx.Value(callerKey{}).(api.Caller)
	return by
}

func bindJSON[I, O any](s *Server, op api.Op[I, O], do method[I, O]) {
	if op.Out == reflect.TypeFor[api.None]() {
		huma.Register(s.huma, s.describe(op.Operation), func(ctx context.Context, in *I) (*struct{}, error) {
			if _, err := do(ctx, caller(ctx), in); err != nil {
				return nil, s.fail(ctx, op.Operation, err)
			}
			return nil, nil
		})
		return
	}
	huma.Register(s.huma, s.describe(op.Operation), func(ctx context.Context, in *I) (*answer[O], error) {
		out, err := do(ctx, caller(ctx), in)
		if err != nil {
			return nil, s.fail(ctx, op.Operation, err)
		}
		api.NeverNull(out)
		return &answer[O]{Status: statusOf(op.Operation, out), Location: location(op.Operation, out), Body: *out}, nil
	})
}

func bindFile[I, O any](s *Server, op api.Op[I, O], do method[I, O]) {
	desc := s.describe(op.Operation)
	kind := "application/octet-stream"
	if op.Form == api.Markup {
		kind = "text/html"
	}
	desc.Responses = map[string]*huma.Response{"200": {Description: "The file", Content: map[string]*huma.MediaType{kind: {}}}}
	huma.Register(s.huma, desc, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		out, err := do(ctx, caller(ctx), in)
		if err != nil {
			return nil, s.fail(ctx, op.Operation, err)
		}
		file := any(out).(*api.File)
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer file.Content.Close()
			r, w := humachi.Unwrap(hc)
			s.sendFile(w, r, op.Form, file)
		}}, nil
	})
}

// sendFile answers a file, whole or the ranges asked for. Only reports are shown
// in a browser; evidence is always an attachment, since nobody vouches for it.
func (s *Server) sendFile(w http.ResponseWriter, r *http.Request, form api.Form, f *api.File) {
	h := w.Header()
	disposition := "attachment"
	if form == api.Markup {
		disposition = "inline"
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'none'")
	}
	h.Set("Content-Type", f.ContentType)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": f.Filename}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", `"`+f.SHA256+`"`)
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	serveContent(w, r, f)
}

// identified is what any record says of itself.
type identified interface{ RecordID() string }

func location(op *api.Operation, out any) string {
	rec, ok := out.(identified)
	if !ok || op.Status != http.StatusCreated {
		return ""
	}
	if base := api.LocationOf(out); base != "" {
		return base + rec.RecordID()
	}
	return ""
}

// statusOf is the declared status, but 200 where a create answered a record that was there already.
func statusOf(op *api.Operation, out any) int {
	if e, ok := out.(interface{ Existed() bool }); ok && e.Existed() {
		return http.StatusOK
	}
	return op.Status
}
