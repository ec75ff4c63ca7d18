package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// maxResultBytes is the maximum size of a call's result, because the result uses part of the calling model's context
// window.
const maxResultBytes = 128 << 10

const (
	// maxConcurrentCalls is the maximum number of concurrent calls to the engine, and maxQueuedCalls is the maximum
	// number of calls that wait.
	maxConcurrentCalls = 4
	maxQueuedCalls     = 64
)

// toolCaller executes tool calls, a few at a time.
type toolCaller struct {
	client            *client.Client
	admitted, running chan struct{}
}

func newToolCaller(c *client.Client) *toolCaller {
	return &toolCaller{
		client:   c,
		admitted: make(chan struct{}, maxConcurrentCalls+maxQueuedCalls),
		running:  make(chan struct{}, maxConcurrentCalls),
	}
}

// handler returns the handler of a tool. Errors of the operation become tool results with the
// engine's code, not protocol errors.
func (c *toolCaller) handler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		select {
		case c.admitted <- struct{}{}:
			defer func() { <-c.admitted }()
		default:
			return errorResult(
				&api.Error{Code: api.CodeRateLimit, Message: "too many calls are in progress; wait until some of them have finished"},
			), nil
		}
		select {
		case c.running <- struct{}{}:
			defer func() { <-c.running }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		text, err := c.call(ctx, t, r.Params.Arguments)
		if err != nil {
			return errorResult(err), nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
}

// errorResult returns an error as a tool result, in the same format as over HTTP.
func errorResult(err error) *sdk.CallToolResult {
	var e *api.Error
	if !errors.As(err, &e) {
		e = &api.Error{Code: api.CodeInternal, Message: err.Error()}
	}
	if e.Details == nil {
		e.Details = []api.ErrorDetail{}
	}
	b, err := json.Marshal(api.ErrorEnvelope{Error: e})
	if err != nil {
		b = []byte(e.Message)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(b)}}}
}

// call sends the request to the engine and limits the size of the result.
func (c *toolCaller) call(ctx context.Context, t *tool, arguments json.RawMessage) (string, error) {
	path, body, header, err := t.buildRequest(arguments)
	if err != nil {
		return "", err
	}
	resp, err := c.client.SendRaw(ctx, t.op.Method, path, body, header)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxResultBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the response was cut off: %w", err)
	case resp.StatusCode >= http.StatusBadRequest:
		var env api.ErrorEnvelope
		if json.Unmarshal(b, &env) != nil || env.Error == nil || env.Error.HTTPStatus() == 0 {
			return "", fmt.Errorf("the server answered %s", resp.Status)
		}
		return "", env.Error
	case len(b) > maxResultBytes && t.isPaged:
		return "", api.Invalid(
			"limit",
			"the response is larger than %d KiB; request fewer records with limit, and request the next page with cursor",
			maxResultBytes>>10,
		)
	case len(b) > maxResultBytes:
		return "", api.Invalid(
			"arguments",
			"the response is larger than %d KiB; request only part of the data, or ask a person to save the response with `service api %s`",
			maxResultBytes>>10,
			t.op.ID,
		)
	case resp.StatusCode == http.StatusNoContent:
		return "{}", nil
	}
	return strings.TrimSpace(string(b)), nil
}

// buildRequest returns the path, body and headers of a call. It rejects unknown arguments, and values that
// don't fit in a path or query, because the engine would never see them. Everything else is validated by
// the engine.
func (t *tool) buildRequest(arguments json.RawMessage) (string, io.Reader, http.Header, error) {
	given := map[string]jsontext.Value{}
	if len(bytes.TrimSpace(arguments)) > 0 {
		if err := strict.Unmarshal(arguments, &given); err != nil {
			return "", nil, nil, api.Invalid("arguments", "the arguments must be a JSON object without duplicate names")
		}
	}
	path, query, header, fields := t.op.Path, url.Values{}, http.Header{}, map[string]jsontext.Value{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		where, known := t.locations[name]
		switch {
		case known:
			text, err := formatParameter(given[name])
			if err != nil {
				return "", nil, nil, api.Invalid(name, "%s has to be %v", name, err)
			}
			switch {
			case where == "path" && text == "":
				return "", nil, nil, api.Invalid(name, "%s is empty", name)
			case where == "path":
				path = strings.Replace(path, "{"+name+"}", url.PathEscape(text), 1)
			case where == "query" && text != "":
				query.Set(name, text)
			case where == "header" && text != "":
				header.Set(name, text)
			}
		case slices.Contains(t.bodyFields, name):
			fields[name] = given[name]
		default:
			return "", nil, nil, api.Invalid(name, "the operation %s has no argument %q; the valid arguments are %s",
				t.op.ID, name, t.argumentNames())
		}
	}
	if _, after, open := strings.Cut(path, "{"); open {
		name, _, _ := strings.Cut(after, "}")
		return "", nil, nil, api.Invalid(name, "%s needs %s", t.op.ID, name)
	}
	if t.isPaged && query.Get("limit") == "" {
		query.Set("limit", strconv.Itoa(defaultPageSize))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if !t.hasBody {
		return path, nil, header, nil
	}
	b, err := strict.Marshal(fields, strict.Deterministic(true))
	return path, bytes.NewReader(b), header, err
}

func (t *tool) argumentNames() string {
	names := append(slices.Sorted(maps.Keys(t.locations)), t.bodyFields...)
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// formatParameter formats a value for a path or query. It returns "" for null and empty lists.
func formatParameter(raw jsontext.Value) (string, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	switch x := v.(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	case json.Number, bool:
		return fmt.Sprint(x), nil
	case []any:
		var words []string
		for _, one := range x {
			if s, ok := one.(string); ok {
				words = append(words, s)
				continue
			}
			return "", errors.New("a string, a number, true, false, or a list of strings")
		}
		return strings.Join(words, ","), nil
	}
	return "", errors.New("a string, a number, true, false, or a list of strings")
}
