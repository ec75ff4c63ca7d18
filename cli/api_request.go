package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// inputFields holds the names of an operation's input fields, grouped by where the request contains them.
type inputFields struct {
	path, query, form []string
	hasBody           bool
}

// inputFieldsFromType returns the names of the fields of an input type.
func inputFieldsFromType(t reflect.Type) (n inputFields) {
	if t.Kind() != reflect.Struct {
		return n
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous:
			inner := inputFieldsFromType(f.Type)
			n.path, n.query, n.form = append(n.path, inner.path...), append(n.query, inner.query...), append(n.form, inner.form...)
			n.hasBody = n.hasBody || inner.hasBody
		case f.Tag.Get("path") != "":
			n.path = append(n.path, f.Tag.Get("path"))
		case f.Tag.Get("query") != "":
			n.query = append(n.query, f.Tag.Get("query"))
		case f.Tag.Get("form") != "":
			n.form = append(n.form, f.Tag.Get("form"))
		case f.Name == "Body":
			n.hasBody = true
		}
	}
	return n
}

// requestFromArgs builds the HTTP request of an operation from key=value arguments. A key that is not a
// parameter of the operation becomes a field of the request body.
func requestFromArgs(ctx context.Context, op *api.Operation, args []string, body io.Reader) (*rawRequest, error) {
	names := inputFieldsFromType(op.In)
	req := &rawRequest{method: op.Method, path: op.Path, body: body, header: http.Header{}}
	query, fields, form := url.Values{}, map[string]any{}, map[string]string{}
	for _, w := range args {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key == "" {
			return nil, withHint(usageError("%q must have the form key=value", w), "use a form such as name=text, count:=3 or file=@path")
		}
		typed := strings.HasSuffix(key, ":")
		key = strings.TrimSuffix(key, ":")
		switch {
		case slices.Contains(names.path, key):
			req.path = strings.Replace(req.path, "{"+key+"}", url.PathEscape(value), 1)
		case slices.Contains(names.query, key):
			query.Add(key, value)
		case slices.Contains(names.form, key):
			form[key] = value
		case !names.hasBody:
			return nil, withHint(
				usageError("%s has no parameter %q%s", op.ID, key, didYouMean(key, slices.Concat(names.path, names.query, names.form))),
				"its parameters are %s",
				strings.Join(slices.Concat(names.path, names.query, names.form), ", "),
			)
		case typed:
			var v any
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				return nil, usageError("the value of %s is not JSON: %w", key, err)
			}
			fields[key] = v
		default:
			fields[key] = value
		}
	}
	if _, after, open := strings.Cut(req.path, "{"); open {
		name, _, _ := strings.Cut(after, "}")
		return nil, withHint(usageError("%s needs %s", op.ID, name), "pass a value as %s=…", name)
	}
	if len(query) > 0 {
		req.path += "?" + query.Encode()
	}
	if op.Form == api.Upload {
		return req, req.setUploadBody(ctx, form)
	}
	if len(fields) > 0 {
		if body != nil {
			return nil, usageError("pass the body either with -d or as key=value arguments, not both")
		}
		b, err := json.Marshal(fields)
		if err != nil {
			return nil, err
		}
		req.body = bytes.NewReader(b)
	}
	return req, nil
}

// setUploadBody sets the request body to a multipart form. The form's file is streamed from disk.
func (r *rawRequest) setUploadBody(ctx context.Context, form map[string]string) error {
	path, ok := strings.CutPrefix(form["file"], "@")
	if !ok {
		return withHint(usageError("this operation requires a file"), "pass the file as file=@path")
	}
	f, err := openFile(ctx, path, api.MaxUploadBytes)
	if err != nil {
		return err
	}
	pr, pw := io.Pipe()
	w := multipart.NewWriter(pw)
	go func() {
		defer f.Close()
		pw.CloseWithError(func() error {
			for name, value := range form {
				if name == "file" {
					continue
				}
				if err := w.WriteField(name, value); err != nil {
					return err
				}
			}
			part, err := w.CreateFormFile("file", filepath.Base(path))
			if err != nil {
				return err
			}
			if _, err := io.Copy(part, f); err != nil {
				return err
			}
			return w.Close()
		}())
	}()
	r.body = pr
	r.header.Set("Content-Type", w.FormDataContentType())
	return nil
}
