package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/ollama/ollama/api"
)

// newOllamaEmbed returns a function that embeds texts with Ollama's own client.
func newOllamaEmbed(client *http.Client, base *url.URL, model string) func(context.Context, []string) ([][]float32, error) {
	c := api.NewClient(base, client)
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		yes := true
		resp, err := c.Embed(ctx, &api.EmbedRequest{Model: model, Input: texts, Truncate: &yes})
		var status api.StatusError
		var denied api.AuthorizationError
		switch {
		case errors.As(err, &status):
			return nil, &statusError{status.StatusCode, status.ErrorMessage}
		case errors.As(err, &denied):
			return nil, &statusError{status: denied.StatusCode}
		case err != nil:
			return nil, err
		}
		return resp.Embeddings, nil
	}
}

// newOllamaDigest returns a function that asks Ollama for the digest of a model.
func newOllamaDigest(client *http.Client, base *url.URL, model string) func(context.Context) (string, error) {
	c := api.NewClient(base, client)
	return func(ctx context.Context) (string, error) {
		all, err := c.List(ctx)
		if err != nil {
			return "", err
		}
		for _, m := range all.Models {
			if m.Name == model || m.Name == model+":latest" {
				return m.Digest, nil
			}
		}
		return "", &statusError{http.StatusNotFound, "model " + model + " is not in the server's list of models"}
	}
}

// newOpenAIEmbed returns a function that embeds texts through OpenAI's /v1/embeddings API, which many other
// servers also support.
func newOpenAIEmbed(client *http.Client, base *url.URL, model, key string) func(context.Context, []string) ([][]float32, error) {
	target := base.JoinPath("v1", "embeddings").String()
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		body, err := json.Marshal(map[string]any{"model": model, "input": texts, "encoding_format": "float"})
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
			return nil, &statusError{resp.StatusCode, errorMessage(text)}
		}
		var answer struct {
			Data []struct {
				Index     int       `json:"index"`
				Embedding []float32 `json:"embedding"`
			} `json:"data"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			return nil, fmt.Errorf("the response is not JSON with embeddings: %w", err)
		}
		out := make([][]float32, len(texts))
		for _, d := range answer.Data {
			if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil {
				return nil, &statusError{http.StatusUnprocessableEntity, "unexpected embeddings"}
			}
			out[d.Index] = d.Embedding
		}
		return out, nil
	}
}

// errorMessage returns the message in an error response. If the body isn't in OpenAI's format, it returns the
// whole body.
func errorMessage(body []byte) string {
	var e struct{ Error struct{ Message string } }
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return string(body)
}
