package agent

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/engine/llm"
)

// Prompts are versioned files, each with the schema of its answer. A run records the version, so
// changing a file requires a new version.
//
//go:embed prompts/*
var prompts embed.FS

// prompt is an agent's instructions to a model and the schema of the answer.
type prompt struct {
	version   string
	maxTokens int
	system    string
	schema    json.RawMessage
	compiled  *jsonschema.Schema
}

// loadPrompt loads an agent's prompt.
func loadPrompt(agent string) (*prompt, error) {
	text, err := prompts.ReadFile("prompts/" + agent + ".md")
	if err != nil {
		return nil, err
	}
	p := &prompt{}
	head, body, ok := strings.Cut(string(text), "\n\n")
	if !ok {
		return nil, fmt.Errorf("the prompt for %s has no header", agent)
	}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "version":
			p.version = value
		case "max_tokens":
			if p.maxTokens, err = strconv.Atoi(value); err != nil {
				return nil, fmt.Errorf("the prompt of %s: %w", agent, err)
			}
		}
	}
	p.system = strings.TrimSpace(body)
	p.schema, err = prompts.ReadFile("prompts/" + agent + ".schema.json")
	if errors.Is(err, fs.ErrNotExist) { // the pipeline agents share one schema
		p.schema, err = prompts.ReadFile("prompts/advice.schema.json")
	}
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(p.schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(agent, doc); err != nil {
		return nil, err
	}
	p.compiled, err = c.Compile(agent)
	return p, err
}

// newRequest returns the request that presents data to the model.
func (p *prompt) newRequest(data any) (llm.Request, error) {
	text, err := wrapInDataMarkers(data)
	return llm.Request{System: p.system, User: text, Schema: p.schema, MaxTokens: p.maxTokens}, err
}

// wrapInDataMarkers puts the data between two marker lines that cannot occur in it, because they contain its
// hash.
func wrapInDataMarkers(v any) (string, error) {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return "", err
	}
	name, err := hashJSON(v)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("DATA %s BEGINS\n%s\nDATA %s ENDS", name[:16], b, name[:16]), nil
}
