package daemon

import (
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/scf-service/service/api"
)

// maxFormField is the maximum size of each form field other than the file.
const maxFormField = 64 << 10

// bindUpload serves a multipart upload: the file is streamed to the engine and never held in
// memory. Fields may come before or after the file.
func (s *Server) bindUpload(op *api.Operation, handle operationFunc) {
	s.mountWithChecks(op, func(w http.ResponseWriter, r *http.Request) {
		in, upload, fingerprint, err := readUploadForm(w, r, op.In)
		if err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		defer upload.discard()
		if err := s.reauthorize(r, op); err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		s.metrics.uploads.Add(float64(upload.size))
		s.serveIdempotent(w, r, op, fingerprint, func(w http.ResponseWriter, r *http.Request) {
			out, err := handle(r.Context(), in)
			if err != nil {
				s.sendOperationError(w, r, op, err)
				return
			}
			writeJSON(w, op, out)
		})
	})
}

// readUploadForm reads the form's fields into the input, and its file to disk. The fingerprint covers both.
func readUploadForm(w http.ResponseWriter, r *http.Request, t reflect.Type) (in any, file *uploadFile, fingerprint string, err error) {
	arriving := &minRateReader{
		eofTracker: eofTracker{ReadCloser: http.MaxBytesReader(w, r.Body, api.MaxUploadBytes)},
		conn:       http.NewResponseController(w),
	}
	defer func() {
		if err == nil {
			arriving.drainAndClearDeadline()
		}
	}()
	r.Body = arriving
	form, err := r.MultipartReader()
	if err != nil {
		return nil, nil, "", api.UnsupportedMediaType("send the file as multipart/form-data, in a part named \"file\"")
	}
	v := reflect.New(t).Elem()
	setPathFields(v, r)
	defer func() {
		if err != nil && file != nil {
			file.discard()
		}
	}()
	name := ""
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && file == nil:
			return nil, nil, "", api.Invalid("file", "the form has no part named \"file\" that contains a file")
		case errors.Is(err, io.EOF):
			v.FieldByName("File").Set(reflect.ValueOf(api.UploadFile{Filename: name, Content: file.file}))
			fields, err := json.Marshal(formFields(v))
			return v.Addr().Interface(), file, hashParts([]byte(name), []byte(file.sha256Hex), fields), err
		case err != nil:
			return nil, file, "", toFormError(err)
		case part.FormName() == "file" && file != nil:
			return nil, file, "", api.Invalid("file", "send one file at a time")
		case part.FormName() == "file" && part.FileName() != "":
			name = part.FileName()
			if file, err = saveUploadFile(part); err != nil {
				return nil, file, "", toUploadError(err)
			}
		default:
			if err := setFormField(v, part); err != nil {
				return nil, file, "", err
			}
		}
	}
}

// toFormError converts an error at the start of a form part, which is always caused by the sender.
func toFormError(err error) error {
	if uploadErr := toUploadError(err); api.IsCode(uploadErr, api.CodeValidation) {
		return uploadErr
	}
	return api.Invalid("file", "invalid form: %v", err)
}

// toUploadError converts an error from reading an upload. Errors caused by the sender become validation errors.
func toUploadError(err error) error {
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return api.Invalid("file", "the upload exceeds the limit of %d MiB", api.MaxUploadBytes>>20)
	}
	if apiErr := (*api.Error)(nil); errors.As(err, &apiErr) {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return api.Invalid(
			"file",
			"the upload stalled: less than %d KiB arrived in %d seconds",
			minUploadProgress>>10,
			int(uploadStallTimeout/time.Second),
		)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return api.Invalid("file", "the upload ended early").WithCause(err)
	}
	return err
}

// setPathFields sets the path parameters of an upload's input.
func setPathFields(v reflect.Value, r *http.Request) {
	t := v.Type()
	for i := range t.NumField() {
		if t.Field(i).Anonymous {
			setPathFields(v.Field(i), r)
		} else if name := t.Field(i).Tag.Get("path"); name != "" {
			v.Field(i).SetString(chi.URLParam(r, name))
		}
	}
}

// setFormField sets the input field that a form part belongs to. Errors about unknown fields include the
// name.
func setFormField(v reflect.Value, part *multipart.Part) error {
	b, err := io.ReadAll(io.LimitReader(part, maxFormField+1))
	switch {
	case err != nil:
		return toUploadError(err)
	case len(b) > maxFormField:
		return api.Invalid(formFieldName(part), "the field exceeds the limit of %d KiB", maxFormField>>10)
	case !isValidText(string(b)):
		return api.Invalid(formFieldName(part), "the field is not valid UTF-8")
	}
	t := v.Type()
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("form") == part.FormName() && f.Type.Kind() == reflect.String {
			if v.Field(i).Len() > 0 {
				return api.Invalid(formFieldName(part), "send this field only once")
			}
			v.Field(i).SetString(string(b))
			return nil
		}
	}
	return api.Invalid(formFieldName(part), "unknown field")
}

// formFieldName returns a form field's name, shortened for messages.
func formFieldName(part *multipart.Part) string {
	name := part.FormName()
	return strings.ToValidUTF8(name[:min(len(name), 100)], "?")
}

// formFields returns the fields of an upload's input other than the file.
func formFields(v reflect.Value) map[string]string {
	out := map[string]string{}
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("form"); name != "" && v.Field(i).Kind() == reflect.String {
			out[name] = v.Field(i).String()
		}
	}
	return out
}
