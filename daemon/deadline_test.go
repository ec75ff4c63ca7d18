package daemon_test

import (
	"bytes"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// deadlineListener is a listener whose connections detect a read deadline that is still set while a request is
// being handled. The package net/http would treat it as a disconnected client.
type deadlineListener struct {
	net.Listener
	mu       sync.Mutex
	deadline time.Time
}

func (w *deadlineListener) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &deadlineConn{c, w}, nil
}

type deadlineConn struct {
	net.Conn
	listener *deadlineListener
}

func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	c.listener.mu.Lock()
	c.listener.deadline = t
	c.listener.mu.Unlock()
	return c.Conn.SetReadDeadline(t)
}

func (c *deadlineConn) Write(b []byte) (int, error) { // called to write the response
	c.listener.mu.Lock()
	deadline := c.listener.deadline
	c.listener.mu.Unlock()
	if strings.HasPrefix(string(b), "HTTP/1.1 2") && deadline.After(time.Unix(1, 0)) && deadline.After(time.Now().Add(-time.Minute)) {
		return 0, errDeadlineLeft
	}
	return c.Conn.Write(b)
}

var errDeadlineLeft = net.UnknownNetworkError("a deadline for reading was left on the connection while the request was at work")

// TestNoDeadlineDuringWork checks that the read deadline of a body does not apply to the work after
// it.
func TestNoDeadlineDuringWork(t *testing.T) {
	web := httptest.NewUnstartedServer(newServer(t).LocalHandler())
	l := &deadlineListener{Listener: web.Listener}
	web.Listener = l
	web.Start()
	defer web.Close()
	c, err := client.New(client.Options{BaseURL: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	a := createHarbor(t, c)
	do(t, c, api.UploadDocument, &api.UploadDocumentInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: a.ID},
		File:            api.UploadFile{Filename: "policy.md", Content: strings.NewReader("# Policy\n\nAll accounts are personal.\n")},
	})
	do(t, c, api.ListAssessments, &api.AssessmentsInput{})
}

// deadlineRecorder records the read deadlines that a handler sets.
type deadlineRecorder struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (r *deadlineRecorder) SetReadDeadline(t time.Time) error {
	r.deadlines = append(r.deadlines, t)
	return nil
}

// TestUploadProgressExtendsDeadline checks that an upload that arrives byte by byte extends the deadline for each
// part of 32 KiB, not for each byte, and that no deadline is left at the end.
func TestUploadProgressExtendsDeadline(t *testing.T) {
	h := newServer(t).LocalHandler()
	web := httptest.NewServer(h)
	defer web.Close()
	c, err := client.New(client.Options{BaseURL: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	a := createHarbor(t, c)

	const part, parts = 32 << 10, 3
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write(bytes.Repeat([]byte("All accounts are personal.\n"), parts*part/27))
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", web.URL+"/api/v1/assessments/"+a.ID+"/documents",
		iotest.OneByteReader(&body))
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set(api.TenantHeader, a.OrganizationID)
	w := &deadlineRecorder{ResponseRecorder: httptest.NewRecorder()}
	h.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		t.Fatal(w.Code, w.Body)
	}
	// One deadline is for the body of any request, one for each part, and perhaps one for the rest.
	extended := 0
	for _, d := range w.deadlines {
		if !d.IsZero() {
			extended++
		}
	}
	if extended < 1+parts || extended > 2+parts {
		t.Errorf("%d parts set the deadline %d times: %v", parts, extended, w.deadlines)
	}
	if last := w.deadlines[len(w.deadlines)-1]; !last.IsZero() {
		t.Errorf("the deadline stays at %v", last)
	}
}
