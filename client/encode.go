package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
)

// requestParts holds an operation's input, split into the parts of an HTTP request.
type requestParts struct {
	path   map[string]string
	query  url.Values
	header http.Header
	form   map[string]string
	file   *api.UploadFile
	body   any
}

// encodeRequest builds the request of an operation from its input.
func (c *Client) encodeRequest(ctx context.Context, op *api.Operation, in any) (*http.Request, error) {
	p := requestParts{path: map[string]string{}, query: url.Values{}, header: http.Header{}, form: map[string]string{}}
	if v := reflect.ValueOf(in); in != nil && v.Kind() == reflect.Pointer && !v.IsNil() {
		p.collectInputFields(v.Elem())
	}
	path := op.Path
	for name, value := range p.path {
		if value == "" {
			return nil, api.Invalid(name, "%s %s needs %s", op.Method, op.Path, name)
		}
		path = strings.Replace(path, "{"+name+"}", url.PathEscape(value), 1)
	}
	if strings.Contains(path, "{") {
		return nil, fmt.Errorf("the input of %s lacks parameters that the path %s requires", op.ID, op.Path)
	}
	if len(p.query) > 0 {
		path += "?" + p.query.Encode()
	}
	body, contentType, err := p.encodeBody(op)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, op.Method, c.base.String()+path, body)
	if err != nil {
		return nil, err
	}
	for k, v := range p.header {
		req.Header[k] = v
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// collectInputFields assigns the fields of an input to the parts of the request, according to their tags.
func (p *requestParts) collectInputFields(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f, fv := t.Field(i), v.Field(i)
		switch {
		case f.Anonymous:
			p.collectInputFields(fv)
		case f.Tag.Get("path") != "":
			p.path[f.Tag.Get("path")] = formatValue(fv)
		case f.Tag.Get("query") != "":
			if !fv.IsZero() {
				p.query.Set(f.Tag.Get("query"), formatValue(fv))
			}
		case f.Tag.Get("header") != "":
			if !fv.IsZero() {
				p.header.Set(f.Tag.Get("header"), formatValue(fv))
			}
		case f.Tag.Get("form") != "":
			if file, ok := fv.Interface().(api.UploadFile); ok {
				p.file = &file
			} else if !fv.IsZero() {
				p.form[f.Tag.Get("form")] = formatValue(fv)
			}
		case f.Name == "Body":
			if fv.Kind() != reflect.Pointer || !fv.IsNil() {
				p.body = fv.Interface()
			}
		}
	}
}

func formatValue(v reflect.Value) string {
	if v.Kind() == reflect.Slice {
		s := make([]string, v.Len())
		for i := range s {
			s[i] = formatValue(v.Index(i))
		}
		return strings.Join(s, ",")
	}
	return fmt.Sprint(v.Interface())
}

func (p *requestParts) encodeBody(op *api.Operation) (body io.Reader, contentType string, _ error) {
	if op.Form == api.Upload {
		return p.encodeUpload()
	}
	if p.body == nil {
		return nil, "", nil
	}
	b, err := json.Marshal(p.body)
	if err != nil {
		return nil, "", fmt.Errorf("can't encode the input of %s: %w", op.ID, err)
	}
	return bytes.NewReader(b), "application/json", nil
}

// encodeUpload returns the multipart form of an upload and its content type. The file is streamed rather than held in
// memory.
func (p *requestParts) encodeUpload() (body io.Reader, contentType string, _ error) {
	if p.file == nil || p.file.Content == nil {
		return nil, "", api.Invalid("file", "there is no file to upload")
	}
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		w.CloseWithError(func() error {
			for name, value := range p.form {
				if err := form.WriteField(name, value); err != nil {
					return err
				}
			}
			part, err := form.CreateFormFile("file", safeFilename(p.file.Filename))
			if err != nil {
				return err
			}
			if _, err := io.Copy(part, p.file.Content); err != nil {
				return err
			}
			return form.Close()
		}())
	}()
	return r, form.FormDataContentType(), nil
}

// safeFilename returns a file name without control characters, which would break the header of the
// form part.
func safeFilename(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
}
