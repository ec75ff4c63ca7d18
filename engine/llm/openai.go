package llm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// openAI is a driver for servers with an OpenAI-compatible API.
type openAI struct {
	name, token string
	server      *url.URL
	client      *http.Client
}

type openAIResponse struct {
	Model   string `json:"model"`
	Choices []struct {
		Message      struct{ Content string } `json:"message"`
		FinishReason string                   `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
}

func (o *openAI) chat(ctx context.Context, r Request) (Answer, error) {
	body := map[string]any{
		"model": o.name, "temperature": 0, "seed": r.seed(), "max_tokens": r.MaxTokens,
		"messages": []map[string]string{{"role": "system", "content": r.System}, {"role": "user", "content": r.User}},
	}
	if len(r.Schema) > 0 {
		body["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "answer", "strict": true, "schema": r.Schema},
		}
	}
	var out openAIResponse
	if err := o.callAPI(ctx, http.MethodPost, "chat/completions", body, &out); err != nil {
		return Answer{}, err
	}
	if len(out.Choices) == 0 {
		return Answer{}, fmt.Errorf("%w: the response contains no choices", ErrInvalidResponse)
	}
	a := Answer{
		Text:             out.Choices[0].Message.Content,
		Model:            "openai/" + o.name,
		ServedModel:      truncate(out.Model),
		PromptTokens:     max(0, out.Usage.Prompt),
		CompletionTokens: max(0, out.Usage.Completion),
	}
	if a.CompletionTokens == 0 { // the server does not count tokens
		a.CompletionTokens = (len(a.Text) + 3) / 4
	}
	if out.Choices[0].FinishReason == "length" {
		return a, fmt.Errorf("%w: the answer was cut off at %d tokens", ErrAnswerTooLong, r.MaxTokens)
	}
	return a, nil
}

// openAIModel contains those properties reported by a server that change only if the model itself changes. For example,
// vLLM reports the path of the weights, and llama.cpp reports their size.
type openAIModel struct {
	ID        string `json:"id"`
	Root      string `json:"root"`
	MaxLength int    `json:"max_model_len"`
	Meta      struct {
		Parameters int64 `json:"n_params"`
		Size       int64 `json:"size"`
		Vocabulary int   `json:"n_vocab"`
		Embedding  int   `json:"n_embd"`
	} `json:"meta"`
}

// digest returns a hash of what the server reports about the model's weights, or "" if it reports only the name.
func (m openAIModel) digest() string {
	if m == (openAIModel{ID: m.ID, Root: m.Root}) && (m.Root == "" || m.Root == m.ID) {
		return ""
	}
	b, _ := json.Marshal(m) // strings and numbers always encode
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (o *openAI) status(ctx context.Context) (Status, error) {
	var s Status
	var all struct {
		Data []openAIModel `json:"data"`
	}
	if err := o.callAPI(ctx, http.MethodGet, "models", nil, &all); err != nil {
		return s, err
	}
	for _, m := range all.Data {
		if len(s.Available) < 200 {
			s.Available = append(s.Available, "openai/"+m.ID)
		}
		if m.ID == o.name {
			s.Ready, s.Digest = true, m.digest()
		}
	}
	if !s.Ready {
		return s, fmt.Errorf("%w: %s", ErrUnknownModel, o.name)
	}
	return s, nil
}

func (o *openAI) callAPI(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	at := *o.server
	at.Path = strings.TrimSuffix(at.Path, "/") + "/"
	if at.Path == "/" {
		at.Path = "/v1/"
	}
	req, err := http.NewRequestWithContext(ctx, method, at.JoinPath(path).String(), body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if o.token != "" {
		req.Header.Set("Authorization", "Bearer "+o.token)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case errors.Is(err, ErrAnswerTooLong), ctx.Err() != nil && err != nil:
		return err
	case err != nil:
		return fmt.Errorf("%w: the response ended unexpectedly", ErrUnavailable)
	case resp.StatusCode == http.StatusNotFound && (in == nil || len(bytes.TrimSpace(b)) == 0): // a known path
		return fmt.Errorf("%w: %s answers %s", ErrNotReached, req.URL.Redacted(), resp.Status)
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s", ErrUnknownModel, truncate(string(b)))
	case resp.StatusCode == http.StatusBadRequest && bytes.Contains(bytes.ToLower(b), []byte("context")):
		return fmt.Errorf("%w: %s", ErrContextExceeded, truncate(string(b)))
	case resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %s", ErrUnavailable, resp.Status)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: %s; check SERVICE_MODEL_TOKEN", ErrRefused, resp.Status)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: %s", ErrRefused, resp.Status)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%w: %s", ErrInvalidResponse, truncate(err.Error()))
	}
	return nil
}
