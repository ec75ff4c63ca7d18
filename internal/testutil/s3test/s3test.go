// Package s3test starts an S3 server for tests in a separate process, with the buckets "files" and "copies".
package s3test

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// isServer is the environment variable that makes a process the server.
const isServer = "SERVICE_TEST_S3_SERVER"

// Main runs the tests of a package or, in a process started by Start, the server. Call it in TestMain.
func Main(m *testing.M) {
	ServeIfStarted()
	os.Exit(m.Run())
}

// ServeIfStarted runs the server, and ends with it, in a process started by Start.
func ServeIfStarted() {
	if os.Getenv(isServer) != "" {
		serve()
	}
}

// controlPath is the path through which a test controls the server's responses.
const controlPath = "/-/answer"

func serve() {
	backend := s3mem.New()
	for _, bucket := range []string{"files", "copies"} {
		if err := backend.CreateBucket(bucket); err != nil {
			log.Fatal(err)
		}
	}
	var status atomic.Int64
	files := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == controlPath {
			n, _ := strconv.ParseInt(r.URL.RawQuery, 10, 64)
			status.Store(n)
			return
		}
		if n := status.Load(); n != 0 {
			w.WriteHeader(int(n))
			return
		}
		files.ServeHTTP(w, r)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	go func() { // end with the test
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}()
	log.Fatal(http.Serve(listener, handler)) //nolint:gosec // for tests on this machine
}

// Server is a running server.
type Server struct{ host string }

// Start starts a server that ends with the test, and sets its credentials in the environment.
func Start(t testing.TB) *Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), isServer+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the S3 server did not start: %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
	return &Server{host: strings.TrimSpace(line)}
}

// Address returns the address of a bucket with a prefix.
func (s *Server) Address(bucket, prefix string) string {
	return "s3://" + bucket + "/" + prefix + "?" + s.Query()
}

// Query returns the server's settings for use in an address.
func (s *Server) Query() string {
	return url.Values{"endpoint": {"http://" + s.host}, "path_style": {"true"}}.Encode()
}

// Answer makes the server respond to all requests with a status, or normally if it is 0.
func (s *Server) Answer(t testing.TB, status int) {
	t.Helper()
	resp, err := http.Get(fmt.Sprintf("http://%s%s?%d", s.host, controlPath, status))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// Delete removes an object without the store's knowledge.
func (s *Server) Delete(t testing.TB, bucket, key string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+s.host+"/"+bucket+"/"+key, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}
