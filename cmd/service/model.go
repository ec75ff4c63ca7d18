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

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/engine/agent"
	"github.com/scf-service/service/engine/judge/reading/builtin"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/internal/regularfile"
)

// modelChoice is the stored model setting of a data folder. It contains no secret.
type modelChoice struct {
	Model  string          `json:"model"`
	Server string          `json:"server,omitempty"`
	Limits api.ModelLimits `json:"limits,omitzero"`
}

// modelFile is the name of the file in the data folder that stores the choice of a model.
const modelFile = "model.json"

func modelChoicePath(dir string) string { return filepath.Join(dir, modelFile) }

// loadModel returns the model of a data folder, or nil for the built-in rules. SERVICE_MODEL and SERVICE_MODEL_SERVER,
// if set, override the stored choice. It also returns the limits for the model.
func loadModel(dir string) (model *llm.Model, limits api.ModelLimits, _ error) {
	c, err := readModelChoice(dir)
	if err != nil {
		return nil, c.Limits, err
	}
	if name := os.Getenv("SERVICE_MODEL"); name != "" {
		c.Model, c.Server = name, os.Getenv("SERVICE_MODEL_SERVER")
	}
	if c.Model == "builtin" || c.Model == "" {
		return nil, c.Limits, nil
	}
	o := llm.Options{Name: c.Model, Server: c.Server, Token: os.Getenv("SERVICE_MODEL_TOKEN"), Concurrency: c.Limits.Concurrency}
	if d := os.Getenv("SERVICE_MODEL_TIMEOUT"); d != "" {
		t, err := time.ParseDuration(d)
		if err != nil || t <= 0 {
			return nil, c.Limits, fmt.Errorf("SERVICE_MODEL_TIMEOUT is %q; use a duration such as 90s or 2m", d)
		}
		o.Timeout = t
	}
	if d := os.Getenv("SERVICE_MODEL_KEEP_ALIVE"); d != "" {
		t, err := time.ParseDuration(d)
		if err != nil || t == 0 {
			return nil, c.Limits, fmt.Errorf("SERVICE_MODEL_KEEP_ALIVE is %q; use a duration such as 30m, or -1s for no limit", d)
		}
		o.KeepAlive = t
	}
	m, err := llm.New(o)
	return m, c.Limits, err
}

// readModelChoice returns the stored choice of a data folder, or the zero value if there is none.
func readModelChoice(dir string) (c modelChoice, err error) {
	b, err := regularfile.Read(modelChoicePath(dir), maxConfigFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf(
			"%s is damaged; delete the file and select the model again with `service model use`: %w", modelChoicePath(dir), err,
		)
	}
	return c, nil
}

func writeModelChoice(dir string, c modelChoice) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	part := modelChoicePath(dir) + ".part"
	if err := os.WriteFile(part, b, 0o600); err != nil {
		return err
	}
	return os.Rename(part, modelChoicePath(dir))
}

// changeModelLimits changes the limits for a data folder's model, and returns them. If change is nil, it only returns
// them.
func changeModelLimits(dataFolder string, change func(*api.ModelLimits)) (*api.ModelLimits, error) {
	dir, err := resolveDataDir(dataFolder)
	if err != nil {
		return nil, err
	}
	c, err := readModelChoice(dir)
	if err == nil && change != nil {
		change(&c.Limits)
		err = writeModelChoice(dir, c)
	}
	return &c.Limits, err
}

// loadAgentModel returns the model for the engine, or a nil interface (rather than a nil *llm.Model) if there is none.
// It also returns the limits for the model.
func loadAgentModel(dir string) (loaded agent.Model, modelLimits api.ModelLimits, _ error) {
	m, limits, err := loadModel(dir)
	if m == nil || err != nil {
		return nil, limits, err
	}
	return m, limits, nil
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
	c, err := readModelChoice(dir)
	if err != nil {
		c = modelChoice{} // replace the damaged choice
	}
	if c.Model != name { // prices and context size belong to the previous model
		c.Limits.PromptPrice, c.Limits.CompletionPrice, c.Limits.ContextTokens = 0, 0, 0
	}
	c.Model, c.Server = name, server
	if err := writeModelChoice(dir, c); err != nil {
		return nil, err
	}
	return analysisModelStatus(ctx, dataFolder)
}

// pullModel makes a model server download the named model, or the current model if name is empty.
func pullModel(
	ctx context.Context,
	dataFolder, name, server string,
	progress func(doing string, done, total int64),
) (*cli.ModelStatus, error) {
	dir, err := resolveDataDir(dataFolder)
	if err != nil {
		return nil, err
	}
	m, _, err := loadModel(dir)
	if name != "" {
		m, err = llm.New(llm.Options{Name: name, Server: server})
	}
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("no model was specified, and the built-in rules don't need one; specify the model to download, e.g. ollama/qwen3:8b")
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
	m, _, err := loadModel(dir)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return &cli.ModelStatus{Model: "builtin", Ready: true, Available: []string{}}, nil
	}
	s := cli.ModelStatus(m.Status(ctx))
	return &s, nil
}

// loadNetwork loads the network that comes with the program or, if SERVICE_READER_WEIGHTS names a file, the one in it.
func loadNetwork() (*crossencoder.Network, error) {
	if file := os.Getenv("SERVICE_READER_WEIGHTS"); file != "" {
		return crossencoder.ReadFile(file)
	}
	return builtin.Network()
}
