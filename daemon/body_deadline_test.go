package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// conn records the deadlines that are set.
type conn struct {
	http.ResponseWriter
	deadlines []time.Time
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

// TestUploadProgressExtendsDeadline checks that the deadline is extended for each part received,
// not for each byte.
func TestUploadProgressExtendsDeadline(t *testing.T) {
	c := &conn{ResponseWriter: httptest.NewRecorder()}
	s := &minRateReader{
		eofTracker: eofTracker{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 3*minUploadProgress)))},
		conn:       http.NewResponseController(c),
	}
	one := make([]byte, 1)
	for range minUploadProgress {
		if _, err := s.Read(one); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.deadlines) != 1 {
		t.Errorf("one part, byte by byte, moved the deadline %d times", len(c.deadlines))
	}
	if _, err := io.Copy(io.Discard, s); err != nil {
		t.Fatal(err)
	}
	if n := len(c.deadlines); n < 3 || n > 5 {
		t.Errorf("three parts moved the deadline %d times", n)
	}
	s.drainAndClearDeadline()
	if last := c.deadlines[len(c.deadlines)-1]; !last.IsZero() {
		t.Errorf("the deadline stays at %v", last)
	}
}
