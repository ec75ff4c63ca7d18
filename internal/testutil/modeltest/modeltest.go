// Package modeltest serves a fake language model with ollama's and OpenAI's APIs, for testing code that reads with a
// model.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Prompt is the content of a prompt for a reading.
type Prompt struct {
	Statements []string
	Check      string   // the last statement, which is supported by no passage
	Passages   []string // texts without the marks at the beginnings of their lines
	IsRepeat   bool     // whether the statements are asked again
}

// Finding is the model's answer about a statement.
type Finding struct {
	Passage int    `json:"passage"` // from 1
	Label   string `json:"label"`
	Quote   string `json:"quote"`
}

// Server is a fake server with one model, named small. Its fields can be changed with Set while it runs.
type Server struct {
	URL string
	// Read returns the findings about each statement.
	Read func(Prompt) [][]Finding
	// Digest is the digest of the model's weights. Served is the model's name in its answers.
	Digest, Served string
	// Misbehavior is "", dead, garbage, endless or unauthorized.
	Misbehavior string
	// HangAt is the number of the first prompt that is not answered; 0 means none.
	HangAt int

	mu       sync.Mutex
	server   *httptest.Server
	requests int
	hanging  int
}

// Start starts a server. Close it when done.
func Start(read func(Prompt) [][]Finding) *Server {
	s := &Server{Read: read, Digest: "5f0c1a2b3c4d5e6f", Served: "small"}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.server.URL
	return s
}

// Close stops the server.
func (s *Server) Close() { s.server.Close() }

// Set changes the server while it runs.
func (s *Server) Set(change func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Requests returns the number of prompts so far, and how many of them were not answered.
func (s *Server) Requests() (all, hanging int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.hanging
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	read, digest, served, misbehavior := s.Read, s.Digest, s.Served, s.Misbehavior
	hangs := false
	if r.Method == http.MethodPost {
		s.requests++
		if hangs = s.HangAt > 0 && s.requests >= s.HangAt; hangs {
			s.hanging++
		}
	}
	s.mu.Unlock()
	if hangs {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client has disconnected
		<-r.Context().Done()
		return
	}
	switch {
	case misbehavior == "dead":
		panic(http.ErrAbortHandler)
	case misbehavior == "unauthorized":
		http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
	case r.URL.Path == "/api/tags":
		one := map[string]any{"name": "small:latest", "model": "small:latest", "digest": digest}
		_ = json.NewEncoder(w).Encode(map[string]any{"models": []any{one}})
	case r.URL.Path == "/v1/models":
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": []any{map[string]any{
			"id": "small", "object": "model", "created": time.Now().Unix(), "owned_by": "vllm", "root": "/models/" + digest, "max_model_len": 16384,
		}}})
	case r.URL.Path == "/api/chat" || r.URL.Path == "/v1/chat/completions":
		s.chat(w, r, read, served, misbehavior)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request, read func(Prompt) [][]Finding, served, misbehavior string) {
	var in struct {
		Messages []struct{ Role, Content string } `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Messages) == 0 {
		http.Error(w, "a request without messages", http.StatusBadRequest)
		return
	}
	prompt := in.Messages[len(in.Messages)-1].Content
	text := Answer(read(ParsePrompt(prompt)))
	if misbehavior == "garbage" {
		text = "I am sorry, but as a language model I see nothing wrong."
	}
	isOllama := r.URL.Path == "/api/chat"
	for misbehavior == "endless" && r.Context().Err() == nil {
		piece := " "
		if isOllama {
			piece = "{\"model\":\"small\",\"message\":{\"role\":\"assistant\",\"content\":\" \"},\"done\":false}\n"
		}
		if _, err := fmt.Fprint(w, strings.Repeat(piece, 100)); err != nil {
			return
		}
	}
	if isOllama {
		e := json.NewEncoder(w)
		_ = e.Encode(map[string]any{"model": served, "message": map[string]any{"role": "assistant", "content": text}, "done": false})
		_ = e.Encode(map[string]any{
			"model": served, "message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
			"prompt_eval_count": len(prompt) / 4, "eval_count": len(text) / 4,
		})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "model": served,
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop"}},
		"usage": map[string]any{
			"prompt_tokens": len(prompt) / 4, "completion_tokens": len(text) / 4, "total_tokens": (len(prompt) + len(text)) / 4,
		},
	})
}

// Answer returns the model's answer with the given findings.
func Answer(findings [][]Finding) string {
	type statement struct {
		Statement int       `json:"statement"`
		Findings  []Finding `json:"findings"`
	}
	out := struct {
		Statements []statement `json:"statements"`
	}{[]statement{}}
	for i, f := range findings {
		out.Statements = append(out.Statements, statement{i + 1, append([]Finding{}, f...)})
	}
	b, _ := json.Marshal(out) // strings and numbers can always be encoded
	return string(b)
}

// ParsePrompt parses a prompt for a reading.
func ParsePrompt(text string) (p Prompt) {
	p.IsRepeat = strings.HasPrefix(text, "An earlier answer")
	kind := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch word, number, _ := strings.Cut(line, " "); {
		case word == "STATEMENT" && isNumber(number):
			kind = word
			p.Statements = append(p.Statements, "")
		case word == "PASSAGE" && isNumber(number):
			kind = word
			p.Passages = append(p.Passages, "")
		case kind == "STATEMENT" && line != "" && !strings.HasPrefix(line, "about: ") && !strings.HasPrefix(line, "PASSAGES "):
			p.Statements[len(p.Statements)-1] = line
		case kind == "PASSAGE" && strings.HasPrefix(line, "| "):
			last := &p.Passages[len(p.Passages)-1]
			*last = strings.TrimPrefix(*last+"\n"+strings.TrimPrefix(line, "| "), "\n")
		}
	}
	if last := len(p.Statements) - 1; last >= 0 {
		p.Check, p.Statements = p.Statements[last], p.Statements[:last]
	}
	return p
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// ReadFor returns a Read function for the statements that contain words. It finds a quote in each passage that
// contains it.
func ReadFor(words, label, quote string) func(Prompt) [][]Finding {
	return func(p Prompt) [][]Finding {
		out := make([][]Finding, len(p.Statements))
		for i, s := range p.Statements {
			for k, text := range p.Passages {
				if strings.Contains(s, words) && strings.Contains(text, quote) {
					out[i] = append(out[i], Finding{k + 1, label, quote})
				}
			}
		}
		return out
	}
}
