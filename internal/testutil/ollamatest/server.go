// Package ollamatest runs a real ollama server for tests, with generated models of a few hundred kilobytes, so that
// nothing is downloaded. The answers of these models are meaningless, so they only test the communication. Tests are
// skipped unless SERVICE_TEST_OLLAMA is the path of ollama.
//
// To build ollama, install nlohmann-json3-dev and libstb-dev (Debian), unpack the source of the PyPI
// package miniaudio 1.71, and run, in a module that requires github.com/ollama/ollama v0.20.0:
//
//	CGO_CXXFLAGS="-I/usr/include/stb -I/usr/include/nlohmann" CGO_CPPFLAGS=-I.../miniaudio-1.71 go build github.com/ollama/ollama
package ollamatest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
)

// Server is a running ollama server with the models "talker", "endless" and "embedder".
type Server struct {
	URL     string
	process *exec.Cmd
	ended   chan struct{}
}

// Kill kills the server and its runners.
func (s *Server) Kill() {
	killProcessGroup(s.process)
	<-s.ended
}

// Start starts ollama, which runs until the test ends. It skips the test if SERVICE_TEST_OLLAMA is not set.
func Start(t *testing.T) *Server {
	t.Helper()
	program := os.Getenv("SERVICE_TEST_OLLAMA")
	if program == "" {
		t.Skip("SERVICE_TEST_OLLAMA names no ollama program")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s := &Server{URL: "http://" + address, process: exec.Command(program, "serve"), ended: make(chan struct{})}
	s.process.Env = append(os.Environ(), "HOME="+home, "OLLAMA_MODELS="+home+"/models", "OLLAMA_HOST="+address, "OLLAMA_NO_CLOUD=1")
	setProcessGroup(s.process)
	var log bytes.Buffer
	s.process.Stderr = &log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.process.Wait() // usually because it was killed
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the server's log:\n%s", log.Bytes()[max(0, log.Len()-4000):])
		}
	})
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(at, http.DefaultClient)
	for client.Heartbeat(t.Context()) != nil {
		select {
		case <-s.ended:
			t.Fatalf("ollama ended:\n%s", log.Bytes())
		case <-time.After(50 * time.Millisecond):
		}
	}
	for name, file := range map[string][]byte{"talker": TalkerModel(false), "endless": TalkerModel(true), "embedder": EmbedderModel()} {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(file))
		if err := client.CreateBlob(t.Context(), digest, bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		r := &api.CreateRequest{Model: name, Files: map[string]string{name + ".gguf": digest}, Parameters: map[string]any{"num_thread": 1}}
		if name != "embedder" {
			r.Template = "{{ .System }}\n{{ .Prompt }}\n"
		}
		if err := client.Create(t.Context(), r, func(api.ProgressResponse) error { return nil }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return s
}
