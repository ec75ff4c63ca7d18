package notify_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// TestBadReceivers checks that a receiver with malformed or endless HTTP responses counts as
// failed, that no more than a line of its response is stored, and that later deliveries are sent.
func TestBadReceivers(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = io.CopyN(z, zeros{}, 64<<20)
	_ = z.Close()
	for name, c := range map[string]struct {
		begins, goesOn string
		delivered      bool
	}{
		"no HTTP":                {begins: "what is it\r\n\r\n"},
		"hangs up":               {},
		"in mid-sentence":        {begins: "HTTP/1.1 20"},
		"headers without end":    {begins: "HTTP/1.1 200 OK\r\n", goesOn: "X-Padding: " + strings.Repeat("x", 1000) + "\r\n"},
		"one header without end": {begins: "HTTP/1.1 200 OK\r\nX: ", goesOn: strings.Repeat("x", 1000)},
		"a status without end":   {begins: "HTTP/1.1 200 ", goesOn: strings.Repeat("x", 1000)},
		"early hints for ever":   {goesOn: "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"},
		"continue for ever":      {goesOn: "HTTP/1.1 100 Continue\r\n\r\n"},
		"a body without end":     {begins: "HTTP/1.1 200 OK\r\n\r\n", goesOn: strings.Repeat("x", 1000), delivered: true},
		"chunks without end":     {begins: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", goesOn: "5\r\nhello\r\n", delivered: true},
		"a chunk of every size":  {begins: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", delivered: true},
		"trailers without end": {
			begins:    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\n",
			goesOn:    "X: " + strings.Repeat("x", 1000) + "\r\n",
			delivered: true,
		},
		"a length below nothing": {begins: "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"},
		"a bomb": {
			begins:    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + bomb.String(),
			delivered: true,
		},
		"words that steer":     {begins: "HTTP/1.1 500 \x1b[31mred\u202e\x00\r\nContent-Length: 0\r\n\r\n"},
		"to wait for ever":     {begins: "HTTP/1.1 429 Wait\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n"},
		"a redirect to itself": {begins: "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"},
		"a redirect to metadata": {begins: "HTTP/1.1 307 Found\r\nLocation: http://169.254.169.254/latest/meta-data\r\n" +
			"Content-Length: 0\r\n\r\n"},
		"another protocol at all": {
			begins: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
			goesOn: strings.Repeat("x", 1000),
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			in := &api.CreateWebhookInput{}
			in.Body.URL = "http://" + startRudeServer(t, c.begins, c.goesOn)
			w, err := h.Create(t.Context(), h.by, in)
			if err != nil {
				t.Fatal(err)
			}
			h.writeEvent("report.ready", false)
			h.round()
			d := h.deliveries(w.ID)[0]
			if (d.Status == "delivered") != c.delivered || len(d.Attempts) != 1 {
				t.Fatalf("%+v", d)
			}
			if why := d.Attempts[0].Error; !c.delivered &&
				(why == nil || len(*why) > 400 || strings.ContainsAny(*why, "\x1b\x00\u202e\r\n") || strings.Contains(*why, "127.0.0.1")) {
				t.Errorf("%+v", d.Attempts[0])
			}
			if at := d.NextAttemptAt; !c.delivered && (at == nil || at.After(h.now().Add(9*time.Hour))) {
				t.Errorf("the next attempt is %v", at)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// startRudeServer starts a server that sends each connection the text begins, and then repeats goesOn until the
// connection is closed.
func startRudeServer(t *testing.T, begins, goesOn string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				// Read the request first: closing earlier resets the connection.
				_, _ = c.Read(make([]byte, 64<<10))
				if _, err := io.WriteString(c, begins); err != nil {
					return
				}
				for more := []byte(strings.Repeat(goesOn, 100)); len(more) > 0; {
					if _, err := c.Write(more); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
