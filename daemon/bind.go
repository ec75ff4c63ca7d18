package daemon

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
)

// operationMethod is an engine method that implements an operation.
type operationMethod[I, O any] = func(context.Context, api.Caller, *I) (*O, error)

// bindOperation binds an operation to the method that implements it. The compiler checks that their types
// match.
func bindOperation[I, O any](s *Server, op api.Op[I, O], handle operationMethod[I, O]) {
	s.bind(op.Operation, func(ctx context.Context, in any) (any, error) { return handle(ctx, callerFrom(ctx), in.(*I)) })
}

// bind serves an operation with a method without static types. It does the work of bindOperation that need
// not be compiled for each pair of types.
//
//go:noinline
func (s *Server) bind(op *api.Operation, handle operationFunc) {
	if s.boundOperations[op.ID] {
		panic("daemon: " + op.ID + " is bound twice")
	}
	s.boundOperations[op.ID] = true
	switch op.Form {
	case api.Upload:
		s.bindUpload(op, handle)
	case api.Download, api.Markup:
		s.bindFile(op, handle)
	case api.Events:
		s.bindEvents(op, handle)
	default:
		s.bindJSON(op, handle)
	}
}

// operationFunc is an engine method without static types: in points to the operation's input, and the
// result points to its output.
type operationFunc func(ctx context.Context, in any) (any, error)

// checkAllBound returns an error that names the unbound operations.
func (s *Server) checkAllBound() error {
	var missing []string
	for _, op := range api.Operations() {
		if !s.boundOperations[op.ID] {
			missing = append(missing, op.ID)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("operations without a method: %s", strings.Join(missing, ", "))
	}
	return nil
}

// bindJSON binds an operation whose response is JSON.
func (s *Server) bindJSON(op *api.Operation, handle operationFunc) {
	s.mountWithInput(op, func(w http.ResponseWriter, r *http.Request, in any) {
		out, err := handle(r.Context(), in)
		if err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		if op.Out == reflect.TypeFor[api.None]() {
			w.WriteHeader(op.Status)
			return
		}
		s.sendSessionCookie(r.Context(), out)
		writeJSON(w, op, out)
	})
}

// bindFile binds an operation whose response is a file.
func (s *Server) bindFile(op *api.Operation, handle operationFunc) {
	s.mountWithInput(op, func(w http.ResponseWriter, r *http.Request, in any) {
		out, err := handle(r.Context(), in)
		if err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		file := out.(*api.File)
		defer file.Content.Close()
		if err := s.recordDownloadInAudit(r.Context(), op, file); err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		s.sendFile(w, r, op.Form, file)
	})
}

// mountWithInput registers an operation whose input is read before it runs. The schemas of the input are built on
// first use: a command calls only a few operations, and building all schemas would dominate its start time.
func (s *Server) mountWithInput(op *api.Operation, respond func(http.ResponseWriter, *http.Request, any)) {
	reader := sync.OnceValue(func() *inputReader {
		schemas := newSchemas()
		defer markPointersNullable(schemas)
		return newInputReader(schemas, op)
	})
	s.mountWithChecks(op, func(w http.ResponseWriter, r *http.Request) {
		in := reflect.New(op.In)
		if err := reader().decode(r, requestContextFrom(r.Context()).body, in.Elem()); err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		respond(w, r, in.Interface())
	})
}

// recordDownloadInAudit records the download of an organization's file in the audit chain. If the download
// can't be recorded, it is denied.
func (s *Server) recordDownloadInAudit(ctx context.Context, op *api.Operation, f *api.File) error {
	if op.Form != api.Download || op.Access != api.Tenant {
		return nil
	}
	return s.engine.Audit.RecordExport(ctx, callerFrom(ctx), op, f)
}

// bindEvents binds an operation whose response is a stream of events. Each part is flushed as soon as it
// is written.
func (s *Server) bindEvents(op *api.Operation, handle operationFunc) {
	s.mountWithInput(op, func(w http.ResponseWriter, r *http.Request, in any) {
		out, err := handle(r.Context(), in)
		if err != nil {
			s.sendOperationError(w, r, op, err)
			return
		}
		file := out.(*api.File)
		defer file.Content.Close()
		streamEvents(w, file.Content)
	})
}

const eventStream = "text/event-stream"

// streamEvents copies events to the response until they end or the client disconnects. It flushes after each read.
func streamEvents(w http.ResponseWriter, events io.Reader) {
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // disable proxy buffering
	w.WriteHeader(http.StatusOK)
	conn, buf := http.NewResponseController(w), make([]byte, 32<<10)
	_ = conn.Flush()
	for {
		n, err := events.Read(buf)
		if n > 0 {
			if _, failed := w.Write(buf[:n]); failed != nil {
				return // the client has disconnected
			}
			_ = conn.Flush()
		}
		if err != nil {
			return
		}
	}
}

// sendFile sends a file, whole or in ranges. Only reports are displayed in the browser. Evidence is untrusted
// and therefore always sent as an attachment.
func (s *Server) sendFile(w http.ResponseWriter, r *http.Request, form api.Form, f *api.File) {
	h := w.Header()
	disposition := "attachment"
	if form == api.Markup {
		disposition = "inline"
		script := cmp.Or(f.ScriptSource, "'none'")
		h.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src "+script+"; sandbox allow-scripts")
	}
	h.Set("Content-Type", f.ContentType)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": f.Filename}))
	h.Set("X-Content-Type-Options", "nosniff")
	if f.SHA256 != "" {
		h.Set("ETag", `"`+f.SHA256+`"`)
	}
	if f.Size >= 0 { // a negative size means that the size is unknown
		h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	}
	s.serveContent(w, r, f)
}

// recordWithID is implemented by every record that has an ID.
type recordWithID interface{ RecordID() string }

// locationHeader returns the URL path of a created record, or "" for other responses.
func locationHeader(op *api.Operation, out any) string {
	rec, ok := out.(recordWithID)
	if !ok || op.Status != http.StatusCreated {
		return ""
	}
	if base := api.CollectionPath(out); base != "" {
		return base + rec.RecordID()
	}
	return ""
}

// responseStatus returns the status that the operation declares, or 200 if the record to be created already
// existed.
func responseStatus(op *api.Operation, out any) int {
	if e, ok := out.(interface{ Existed() bool }); ok && e.Existed() {
		return http.StatusOK
	}
	return op.Status
}
