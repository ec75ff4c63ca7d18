package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/regularfile"
)

// modelChoice is the stored model setting of a data folder; it contains no secret.
type modelChoice struct {
	Model  string `json:"model"`
	Server string `json:"server,omitempty"`
}

// modelFile holds the choice in the data folder.
const modelFile = "model.json"

func modelChoicePath(dir string) string { return filepath.Join(dir, modelFile) }

// loadModel returns the model of a data folder: from SERVICE_MODEL and SERVICE_MODEL_SERVER if set,
// otherwise the stored choice, or nil for the built-in rules.
func loadModel(dir string) (*llm.Model, error) {
	c := modelChoice{Model: os.Getenv("SERVICE_MODEL"), Server: os.Getenv("SERVICE_MODEL_SERVER")}
	if c.Model == "" {
		b, err := regularfile.Read(modelChoicePath(dir), maxConfigFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &c); err != nil {
			return nil, fmt.Errorf("%s is damaged; choose the model again with `service model use`: %w", modelChoicePath(dir), err)
		}
	}
	if c.Model == "builtin" {
		return nil, nil
	}
	o := llm.Options{Name: c.Model, Server: c.Server, Token: os.Getenv("SERVICE_MODEL_TOKEN")}
	if d := os.Getenv("SERVICE_MODEL_TIMEOUT"); d != "" {
		t, err := time.ParseDuration(d)
		if err != nil || t <= 0 {
			return nil, fmt.Errorf("SERVICE_MODEL_TIMEOUT is %q; use a duration such as 90s or 2m", d)
		}
		o.Timeout = t
	}
	if d := os.Getenv("SERVICE_MODEL_KEEP_ALIVE"); d != "" {
		t, err := time.ParseDuration(d)
		if err != nil || t == 0 {
			return nil, fmt.Errorf("SERVICE_MODEL_KEEP_ALIVE is %q; use a duration such as 30m, or -1s for no limit", d)
		}
		o.KeepAlive = t
	}
	return llm.New(o)
}

// loadAgentModel returns the model for the engine, or nil if there is none: a nil interface, not a nil
// *llm.Model.
func loadAgentModel(dir string) (agent.Model, error) {
	m, err := loadModel(dir)
	if m == nil || err != nil {
		return nil, err
	}
	return m, nil
}

// saveModelChoice stores the choice in the data folder and returns the model's status.
func saveModelChoice(ctx context.Context, dataFolder, name, server string) (*cli.ModelStatus, error) {
	dir, err := resolveDataDir(dataFolder)
	if err != nil {
		return nil, err
	}
	if name == "builtin" {
		if err := os.Remove(modelChoicePath(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return analysisModelStatus(ctx, dataFolder)
	}
	if _, err := llm.New(llm.Options{Name: name, Server: server}); err != nil {
		return nil, err
	}
	b, err := json.Marshal(modelChoice{name, server})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	part := modelChoicePath(dir) + ".part"
	if err := os.WriteFile(part, b, 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(part, modelChoicePath(dir)); err != nil {
		return nil, err
	}
	return analysisModelStatus(ctx, dataFolder)
}

// pullModel makes a server download the named model, or the current model if name is empty.
func pullModel(ctx context.Context, dataFolder, name, server string, progress func(doing string, done, total int64)) (*cli.ModelStatus, error) {
	dir, err := resolveDataDir(dataFolder)
	if err != nil {
		return nil, err
	}
	m, err := loadModel(dir)
	if name != "" {
		m, err = llm.New(llm.Options{Name: name, Server: server})
	}
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("the built-in rules need no model; name one, e.g. ollama/qwen3:8b")
	}
	if err := m.Pull(ctx, func(p llm.PullProgress) { progress(p.Status, p.Done, p.Total) }); err != nil {
		return nil, err
	}
	s := cli.ModelStatus(m.Status(ctx))
	return &s, nil
}

func analysisModelStatus(ctx context.Context, dataFolder string) (*cli.ModelStatus, error) {
	dir, err := resolveDataDir(dataFolder)
	if err != nil {
		return nil, err
	}
	m, err := loadModel(dir)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return &cli.ModelStatus{Model: "builtin", Ready: true, Available: []string{}}, nil
	}
	s := cli.ModelStatus(m.Status(ctx))
	return &s, nil
}
