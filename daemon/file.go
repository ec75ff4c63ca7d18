package daemon

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/engine/api"
)

// serveContent answers ranges where the file can seek, else the whole.
func serveContent(w http.ResponseWriter, r *http.Request, f *api.File) {
	if seeker, ok := f.Content.(io.ReadSeeker); ok {
		w.Header().Del("Content-Length")
		http.ServeContent(w, r, "", time.Time{}, seeker)
		return
	}
	_, _ = io.Copy(w, f.Content)
}

// spool is an upload on disk, until its method is done with it.
type spool struct{ file *os.File }

// spoolFile takes the part whole before the engine sees it, so that a
// connection that breaks off never leaves half a document.
func spoolFile(part io.Reader) (*spool, error) {
	f, err := os.CreateTemp("", "service-upload-*")
	if err != nil {
		return nil, api.Trouble("the temporary folder can't take the upload: %v", err).Because(err)
	}
	// Where a file can lose its name while open, a process that is killed leaves nothing behind.
	_ = os.Remove(f.Name())
	s := &spool{f}
	if _, err := io.Copy(f, part); err != nil {
		s.discard()
		if ours := (*fs.PathError)(nil); errors.As(err, &ours) {
			return nil, api.Trouble("the temporary folder can't take the upload: %v", err).Because(err)
		}
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

func (s *spool) discard() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}

var pathParameter = regexp.MustCompile(`\{([^}]+)\}`)

func pathParameters(op *api.Operation) []*huma.Param {
	var out []*huma.Param
	for _, m := range pathParameter.FindAllStringSubmatch(op.Path, -1) {
		out = append(out, &huma.Param{Name: m[1], In: "path", Required: true, Schema: &huma.Schema{Type: "string"}})
	}
	return out
}

func statusText(code int) string { return strconv.Itoa(code) }
