package daemon

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// uploadStallTimeout is how long the next minUploadProgress bytes of an upload may take. A
	// large file on a slow line has all the time it needs; a sender who drips does not.
	uploadStallTimeout = 30 * time.Second
	minUploadProgress  = 32 << 10
	// unreadBodyTimeout is how long the rest of a body may take that nobody reads any more:
	// net/http takes a little of it so that the caller gets to read the answer.
	unreadBodyTimeout = 5 * time.Second
)

// limitBodyTime gives every body an end, the one of a request that is refused unread too.
// Without it, net/http waits for the rest for ever before it answers.
func (s *Server) limitBodyTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		conn, body := http.NewResponseController(w), &eofTracker{ReadCloser: r.Body}
		r.Body = body
		setReadTimeout(conn, bodyTimeout)
		defer func() {
			if !body.atEOF {
				setReadTimeout(conn, unreadBodyTimeout)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// eofTracker is a body that knows whether it was read to its end.
type eofTracker struct {
	io.ReadCloser
	atEOF bool
}

func (b *eofTracker) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.atEOF = b.atEOF || errors.Is(err, io.EOF)
	return n, err
}

// setReadTimeout lets reading from a connection end in a while. Not every transport can.
func setReadTimeout(conn *http.ResponseController, d time.Duration) {
	_ = conn.SetReadDeadline(time.Now().Add(d)) //nolint:forbidigo // the deadline is the network's, not the service's
}

// clearReadDeadline lifts the deadline from a connection whose request has been read: work has
// its own time, and net/http calls off a request whose connection meets a deadline.
func clearReadDeadline(conn *http.ResponseController) { _ = conn.SetReadDeadline(time.Time{}) }

// minRateReader is the body of an upload, which must go on arriving.
type minRateReader struct {
	eofTracker
	conn *http.ResponseController
	// remaining is how much has to come before the time begins anew.
	remaining int
}

func (s *minRateReader) Read(p []byte) (int, error) {
	if s.remaining <= 0 {
		s.remaining = minUploadProgress
		setReadTimeout(s.conn, uploadStallTimeout)
	}
	n, err := s.eofTracker.Read(p)
	s.remaining -= n
	return n, err
}

// drain takes what may follow a form and lifts the deadline. Where more follows than any
// client sends, or nothing comes, the deadline stays on what nobody will read.
func (s *minRateReader) drain() {
	_, _ = io.CopyN(io.Discard, s, minUploadProgress)
	if s.atEOF {
		clearReadDeadline(s.conn)
	}
}
