package daemon

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// arrivingTime is how long the next leastArriving bytes of an upload may take. A
	// large file on a slow line has all the time it needs; a sender who drips does not.
	arrivingTime  = 30 * time.Second
	leastArriving = 32 << 10
	// lingerTime is how long the rest of a body may take that nobody reads any more:
	// net/http takes a little of it so that the caller gets to read the answer.
	lingerTime = 5 * time.Second
)

// arrive gives every body an end, the one of a request that is refused unread too.
// Without it, net/http waits for the rest for ever before it answers.
func (s *Server) arrive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		conn, body := http.NewResponseController(w), &noting{ReadCloser: r.Body}
		r.Body = body
		endIn(conn, bodyTime)
		defer func() {
			if !body.whole {
				endIn(conn, lingerTime)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// noting is a body that knows whether it was read to its end.
type noting struct {
	io.ReadCloser
	whole bool
}

func (b *noting) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.whole = b.whole || errors.Is(err, io.EOF)
	return n, err
}

// endIn lets reading from a connection end in a while. Not every transport can.
func endIn(conn *http.ResponseController, d time.Duration) {
	_ = conn.SetReadDeadline(time.Now().Add(d)) //nolint:forbidigo // the deadline is the network's, not the service's
}

// unbounded lifts the deadline from a connection whose request has been read: work has
// its own time, and net/http calls off a request whose connection meets a deadline.
func unbounded(conn *http.ResponseController) { _ = conn.SetReadDeadline(time.Time{}) }

// steadily is the body of an upload, which must go on arriving.
type steadily struct {
	noting
	conn *http.ResponseController
	// left is how much has to come before the time begins anew.
	left int
}

func (s *steadily) Read(p []byte) (int, error) {
	if s.left <= 0 {
		s.left = leastArriving
		endIn(s.conn, arrivingTime)
	}
	n, err := s.noting.Read(p)
	s.left -= n
	return n, err
}

// end takes what may follow a form and lifts the deadline. Where more follows than any
// client sends, or nothing comes, the deadline stays on what nobody will read.
func (s *steadily) end() {
	_, _ = io.CopyN(io.Discard, s, leastArriving)
	if s.whole {
		unbounded(s.conn)
	}
}
