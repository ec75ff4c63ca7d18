package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/scf-service/service/engine/api"
)

// MaxUploadBytes bounds an uploaded file with its form.
const MaxUploadBytes = 512 << 20

// maxFormField bounds the other fields of an upload.
const maxFormField = 64 << 10

// bindUpload serves a multipart upload outside of huma, so that the file is
// streamed to the engine and never held. Fields may stand before or after the file.
func bindUpload[I, O any](s *Server, op api.Op[I, O], do method[I, O]) {
	desc := s.describe(op.Operation)
	desc.Parameters = pathParameters(op.Operation)
	desc.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"multipart/form-data": {Schema: uploadSchema(op.In)}}}
	desc.Responses = map[string]*huma.Response{statusText(op.Status): {
		Description: http.StatusText(op.Status),
		Content: map[string]*huma.MediaType{"application/json": {
			Schema: s.huma.OpenAPI().Components.Schemas.Schema(op.Out, true, op.Out.Name())}},
	}}
	s.huma.OpenAPI().AddOperation(&desc)
	s.mux.MethodFunc(op.Method, op.Path, func(w http.ResponseWriter, r *http.Request) {
		by, err := s.admit(w, r, op.Operation)
		if err == nil {
			var out *O
			if out, err = receive(w, r, by, do); err == nil {
				s.writeJSON(w, op.Operation, out)
				return
			}
		}
		s.writeError(w, r, s.explain(r.Context(), op.Operation, err))
	})
}

func (s *Server) writeJSON(w http.ResponseWriter, op *api.Operation, out any) {
	api.NeverNull(out)
	w.Header().Set("Content-Type", "application/json")
	if l := location(op, out); l != "" {
		w.Header().Set("Location", l)
	}
	w.WriteHeader(statusOf(op, out))
	_ = json.NewEncoder(w).Encode(out)
}

func receive[I, O any](w http.ResponseWriter, r *http.Request, by api.Caller, do method[I, O]) (*O, error) {
	r.Body = http.MaxBytesReader(w, r.Body, MaxUploadBytes)
	form, err := r.MultipartReader()
	if err != nil {
		return nil, api.Invalid("file", "send the file as multipart/form-data, in a part named \"file\"")
	}
	var in I
	v := reflect.ValueOf(&in).Elem()
	setPath(v, r)
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, api.Invalid("file", "the form has no part named \"file\" with a file in it")
		}
		if err != nil {
			return nil, formError(err)
		}
		if part.FormName() == "file" && part.FileName() != "" {
			return receiveFile(r.Context(), by, form, part, v, &in, do)
		}
		if err := setField(v, part); err != nil {
			return nil, err
		}
	}
}

// receiveFile calls the method with the file, and refuses a form that goes on
// with something the method should have known before.
func receiveFile[I, O any](ctx context.Context, by api.Caller, form *multipart.Reader, part *multipart.Part, v reflect.Value, in *I, do method[I, O]) (*O, error) {
	spool, err := spoolFile(part)
	if err != nil {
		return nil, uploadError(err)
	}
	defer spool.discard()
	for {
		next, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, formError(err)
		}
		if next.FormName() == "file" {
			return nil, api.Invalid("file", "send one file at a time")
		}
		if err := setField(v, next); err != nil {
			return nil, err
		}
	}
	v.FieldByName("File").Set(reflect.ValueOf(api.UploadFile{Filename: part.FileName(), Content: spool.file}))
	return do(ctx, by, in)
}

// formError is what is wrong where the next part of a form should begin: the
// sender's doing, whatever it is.
func formError(err error) error {
	if told := uploadError(err); api.IsCode(told, api.CodeValidation) {
		return told
	}
	return api.Invalid("file", "the form can't be read: %v", err)
}

func uploadError(err error) error {
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return api.Invalid("file", "the upload is over the limit of %d MiB", MaxUploadBytes>>20)
	}
	if apiErr := (*api.Error)(nil); errors.As(err, &apiErr) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return api.Invalid("file", "the upload broke off before its end").Because(err)
	}
	return err
}

// setPath fills the path parameters of an upload's input.
func setPath(v reflect.Value, r *http.Request) {
	t := v.Type()
	for i := range t.NumField() {
		if t.Field(i).Anonymous {
			setPath(v.Field(i), r)
		} else if name := t.Field(i).Tag.Get("path"); name != "" {
			v.Field(i).SetString(chi.URLParam(r, name))
		}
	}
}

// setField fills one form field; unknown ones are refused by name.
func setField(v reflect.Value, part *multipart.Part) error {
	b, err := io.ReadAll(io.LimitReader(part, maxFormField+1))
	if err != nil {
		return uploadError(err)
	}
	if len(b) > maxFormField {
		return api.Invalid(part.FormName(), "the field is too long")
	}
	t := v.Type()
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("form") == part.FormName() && f.Type.Kind() == reflect.String {
			v.Field(i).SetString(string(b))
			return nil
		}
	}
	return api.Invalid(part.FormName(), "there is no such field")
}

func uploadSchema(in reflect.Type) *huma.Schema {
	schema := &huma.Schema{Type: "object", Properties: map[string]*huma.Schema{}, Required: []string{"file"}}
	for i := range in.NumField() {
		f := in.Field(i)
		if name := f.Tag.Get("form"); name == "file" {
			schema.Properties[name] = &huma.Schema{Type: "string", Format: "binary"}
		} else if name != "" {
			schema.Properties[name] = &huma.Schema{Type: "string", Description: f.Tag.Get("doc")}
		}
	}
	return schema
}
