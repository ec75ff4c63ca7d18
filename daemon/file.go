package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// serveContent serves ranges if the file can seek, otherwise the whole file.
func (s *Server) serveContent(w http.ResponseWriter, r *http.Request, f *api.File) {
	if !strings.HasPrefix(r.Header.Get("Range"), "bytes=") {
		r.Header.Del("Range") // ignore unknown range units
	}
	if seeker, ok := f.Content.(io.ReadSeeker); ok {
		w.Header().Del("Content-Length")
		http.ServeContent(&rangeErrorWriter{ResponseWriter: w, server: s, request: r}, r, "", time.Time{}, seeker)
		return
	}
	if _, err := io.Copy(w, f.Content); err != nil {
		panic(http.ErrAbortHandler) // the truncated response must not look complete
	}
}

// rangeErrorWriter converts the errors that http.ServeContent writes for invalid ranges and failed
// If-Match conditions to the API's error format.
type rangeErrorWriter struct {
	http.ResponseWriter
	server  *Server
	request *http.Request
	failed  bool
}

func (e *rangeErrorWriter) WriteHeader(status int) {
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		e.writeAPIError(api.Invalid("Range", "the requested range is outside the file; request a range within the "+
			"file, such as bytes=0-99"))
	case http.StatusPreconditionFailed:
		e.writeAPIError(api.Invalid("If-Match", "the file doesn't match If-Match: its ETag is %s", e.Header().Get("ETag")))
	default:
		e.ResponseWriter.WriteHeader(status)
	}
}

func (e *rangeErrorWriter) writeAPIError(err *api.Error) {
	e.failed = true
	for _, name := range []string{"Content-Length", "Content-Disposition", "ETag"} {
		e.Header().Del(name)
	}
	e.server.writeError(e.ResponseWriter, e.request, err)
}

func (e *rangeErrorWriter) Write(b []byte) (int, error) {
	if e.failed {
		return len(b), nil // discard http.ServeContent's own error text
	}
	return e.ResponseWriter.Write(b)
}

// uploadFile is an upload stored on disk until its operation has completed.
type uploadFile struct {
	file      *os.File
	sha256Hex string // SHA-256 of the content, in hex
	size      int64
}

// saveUploadFile stores the whole part before passing it to the engine, so that a broken connection
// never leaves a partial document.
func saveUploadFile(part io.Reader) (*uploadFile, error) {
	f, err := os.CreateTemp("", "service-upload-*")
	if err != nil {
		return nil, api.Internal("storing the upload in the temporary folder failed: %v", err).WithCause(err)
	}
	// Remove the name while the file is open, where the system allows it: a killed process then
	// leaves nothing behind.
	_ = os.Remove(f.Name())
	s := &uploadFile{file: f}
	h := sha256.New()
	if s.size, err = io.Copy(io.MultiWriter(f, h), part); err != nil {
		s.discard()
		if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
			return nil, api.Internal("storing the upload in the temporary folder failed: %v", err).WithCause(err)
		}
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		s.discard()
		return nil, err
	}
	s.sha256Hex = hex.EncodeToString(h.Sum(nil))
	return s, nil
}

// discard closes and deletes the file.
func (s *uploadFile) discard() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}
