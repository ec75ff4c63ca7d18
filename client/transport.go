package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// InMemoryTransport returns a transport that sends requests to a handler in the same process. Responses are streamed
// as the handler writes them, headers first.
func InMemoryTransport(h http.Handler) http.RoundTripper { return memoryTransport{h} }

// OneRequestTransport returns a transport for one request over an existing connection.
func OneRequestTransport(conn net.Conn) http.RoundTripper {
	var once sync.Once
	return &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			err := net.ErrClosed
			once.Do(func() { err = nil })
			return conn, err
		},
		DisableCompression: true,
		DisableKeepAlives:  true,
	}
}

type memoryTransport struct{ handler http.Handler }

func (m memoryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	inner := req.Clone(req.Context())
	inner.RequestURI = req.URL.RequestURI()
	inner.RemoteAddr = "memory"
	switch {
	case inner.Body == nil:
		inner.Body = http.NoBody
	case inner.GetBody == nil: // the body isn't in memory, and its source may never end
		inner.Body = cancelableBody(req.Context(), inner.Body)
	}
	pr, pw := io.Pipe()
	w := &memoryWriter{header: http.Header{}, body: pw, started: make(chan struct{})}
	go func() {
		defer inner.Body.Close()
		defer func() {
			// A panic in a handler ends the response like a broken connection.
			if p := recover(); p != nil {
				w.WriteHeader(http.StatusInternalServerError)
				pw.CloseWithError(fmt.Errorf("the handler failed: %v", p))
				return
			}
			w.WriteHeader(http.StatusOK)
			pw.Close()
		}()
		m.handler.ServeHTTP(w, inner)
	}()
	select {
	case <-w.started:
	case <-req.Context().Done():
		pr.CloseWithError(req.Context().Err())
		return nil, req.Context().Err()
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: pr, Request: req, ContentLength: -1,
	}, nil
}

// cancelableBody returns a body whose reads fail when ctx ends, as they would on a network connection, even while a
// read of the underlying body hangs.
func cancelableBody(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	pr, pw := io.Pipe()
	context.AfterFunc(ctx, func() { pr.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(pw, body)
		pw.CloseWithError(errors.Join(err, body.Close()))
	}()
	return pr
}

type memoryWriter struct {
	header, sent http.Header
	body         *io.PipeWriter
	once         sync.Once
	started      chan struct{}
	status       int
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.started)
	})
}

func (w *memoryWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	n, err := w.body.Write(b)
	if errors.Is(err, io.ErrClosedPipe) {
		err = http.ErrHandlerTimeout
	}
	return n, err
}

// Flush sends the headers. Content is never buffered, so there is nothing else to flush.
func (w *memoryWriter) Flush() { w.WriteHeader(http.StatusOK) }
