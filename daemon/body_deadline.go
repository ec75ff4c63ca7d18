package daemon

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// uploadStallTimeout is the maximum time for the next minUploadProgress bytes of an upload. It gives a
	// large file on a slow connection enough time, but not a sender that stalls.
	uploadStallTimeout = 30 * time.Second
	minUploadProgress  = 32 << 10
	// unreadBodyTimeout is the maximum time for receiving the part of a body that the handler didn't read. The
	// package net/http reads some of it, so that the caller can receive the response.
	unreadBodyTimeout = 5 * time.Second
)

// limitBodyTime sets a deadline for every body, including that of a rejected request. Otherwise net/http would
// wait indefinitely before responding.
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

// eofTracker is a body that records whether it was read to its end.
type eofTracker struct {
	io.ReadCloser
	atEOF bool
}

func (b *eofTracker) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.atEOF = b.atEOF || errors.Is(err, io.EOF)
	return n, err
}

// setReadTimeout sets a read deadline on the connection, if the transport supports it.
func setReadTimeout(conn *http.ResponseController, d time.Duration) {
	_ = conn.SetReadDeadline(time.Now().Add(d)) //nolint:forbidigo // the deadline is the network's, not the service's
}

// clearReadDeadline removes the read deadline after the request has been read. Otherwise net/http would
// cancel the request when the deadline passes, although the time for processing it is not limited.
func clearReadDeadline(conn *http.ResponseController) { _ = conn.SetReadDeadline(time.Time{}) }

// minRateReader is the body of an upload, which must keep arriving at a minimum rate.
type minRateReader struct {
	eofTracker
	conn *http.ResponseController
	// remaining is the number of bytes to receive before the timeout is reset.
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

// drainAndClearDeadline reads what follows the form in the body, and removes the read deadline at the end of
// the body. If the body continues for more than minUploadProgress bytes, the deadline remains.
func (s *minRateReader) drainAndClearDeadline() {
	_, _ = io.CopyN(io.Discard, s, minUploadProgress)
	if s.atEOF {
		clearReadDeadline(s.conn)
	}
}
