package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) apiCommand() *cobra.Command {
	var data, out string
	var headers []string
	var force bool
	cmd := &cobra.Command{
		Use: "api METHOD PATH | OPERATION key=value…", Short: "Call any operation of the API", Args: requireArgCount(1, -1),
		Long: `Calls an API operation and prints its response. Specify the operation in one of two ways:
by method and path, with the request body in -d (JSON, @file, or - for stdin); or by ID,
with parameters and body fields as key=value (string), key:=value (JSON) and file=@path
(upload).
` + "`service api list`" + ` lists the operations.`,
		Example: `  service api GET /assessments
  service api POST /assessments -d '{"name": "Acme 2026"}'
  service api get-scf-control controlId=IAC-06
  service api search-kb query='access review' top_k:=3 --jq '.data[].filename'
  service api list`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, op := range api.Operations() {
					ids = append(ids, cobra.CompletionWithDesc(op.ID, op.Summary))
				}
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir := cmd.Flag("data").Value.String(); strings.HasPrefix(dir, "{") || strings.HasPrefix(dir, "[") || strings.HasPrefix(dir, "@") {
				return withHint(usageError("--data selects the data folder, and %s is not a folder", dir), "give the request body with -d or --body")
			}
			if err := a.rejectUnusableOutputPath(out, force); err != nil {
				return err
			}
			req, err := a.buildRawRequest(cmd.Context(), args, data)
			if err != nil {
				return err
			}
			for _, h := range headers {
				name, value, ok := strings.Cut(h, ":")
				if !ok {
					return usageError("the header %q must have the form 'NAME: VALUE'", h)
				}
				req.header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
			}
			c, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			a.progress.Start(req.method + " " + req.path)
			resp, err := c.SendRaw(cmd.Context(), req.method, req.path, req.body, req.header)
			a.progress.Done("")
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			return a.printRawResponse(resp, out, force)
		},
	}
	cmd.Flags().StringVarP(&data, "body", "d", "", "request body: JSON, @file, or - for stdin")
	cmd.Flags().StringArrayVarP(&headers, "header", "H", nil, "request header, such as 'Idempotency-Key: 42'; can be repeated")
	cmd.Flags().StringVar(&out, "out", "", "write the response to this file; - for stdout")
	addForceFlag(cmd, &force)
	cmd.AddCommand(a.apiListOperations())
	return cmd
}

// rawRequest is an HTTP request that `service api` sends without interpreting it.
type rawRequest struct {
	method, path string
	body         io.Reader
	header       http.Header
}

// buildRawRequest builds the HTTP request from the arguments of `service api`: either a method and a path, or an
// operation's ID followed by its fields.
func (a *app) buildRawRequest(ctx context.Context, args []string, data string) (*rawRequest, error) {
	if strings.ToUpper(args[0]) == args[0] && !strings.Contains(args[0], "-") {
		if len(args) != 2 || !strings.HasPrefix(args[1], "/") {
			return nil, withHint(
				usageError("%s must be followed by a single path that begins with /", args[0]),
				"use, for example, `service api GET /assessments`; `service api list` lists the paths",
			)
		}
		body, err := a.openRawBody(data)
		return &rawRequest{method: args[0], path: args[1], body: body, header: http.Header{}}, err
	}
	op, ok := api.OperationByID(args[0])
	if !ok {
		var ids []string
		for _, o := range api.Operations() {
			ids = append(ids, o.ID)
		}
		return nil, withHint(
			usageError("there is no API operation with the ID %q%s", args[0], didYouMean(args[0], ids)),
			"`%s` lists the operations",
			a.suggestedCommandLine("api list"),
		)
	}
	body, err := a.openRawBody(data)
	if err != nil {
		return nil, err
	}
	return requestFromArgs(ctx, op, args[1:], body)
}

// openRawBody returns the request body that -d specifies, or nil if there is none.
func (a *app) openRawBody(data string) (io.Reader, error) {
	switch {
	case data == "":
		return nil, nil
	case data == "-":
		return a.Stdin, nil
	case strings.HasPrefix(data, "@"):
		b, err := a.readFile(data[1:], api.MaxSourceBytes)
		if err != nil {
			return nil, err
		}
		return bytes.NewReader(b), nil
	}
	return strings.NewReader(data), nil
}

// maxRawJSON is the maximum size of a JSON response, which is held in memory so that it can be formatted or
// filtered.
const maxRawJSON = 256 << 20

// printRawResponse prints an HTTP response. JSON is printed in the selected output format; anything else is
// written unchanged.
func (a *app) printRawResponse(resp *http.Response, out string, force bool) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		if resp.StatusCode == http.StatusNoContent {
			return nil
		}
		if out == "" && a.StdoutWidth > 0 {
			return withHint(runtimeError("the response is %s, which may not be suitable for a terminal", kind),
				"save the response to a file with --out FILE")
		}
		if out == "" {
			out = "-"
		}
		return a.saveDownload(&api.File{Content: resp.Body}, out, force)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxRawJSON))
	if err != nil {
		return runtimeError("the response was cut off: %w", err)
	}
	if !json.Valid(b) {
		return runtimeError("the server responded with the status %s and invalid JSON", resp.Status)
	}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		err = (&print.Output{W: a.Stdout, Format: "json"}).PrintRecord(json.RawMessage(b))
		return errors.Join(parseRawError(resp, b), err)
	case out != "" && out != "-":
		return a.saveDownload(&api.File{Content: io.NopCloser(bytes.NewReader(b))}, out, force)
	}
	if a.out.Format == "table" {
		a.out.Format = "json"
	}
	return a.out.PrintRecord(json.RawMessage(b))
}

// parseRawError returns the API error in a response. If the response contains no API error, the returned error
// contains the HTTP status.
func parseRawError(resp *http.Response, b []byte) error {
	var env api.ErrorEnvelope
	if json.Unmarshal(b, &env) != nil || env.Error == nil || env.Error.HTTPStatus() == 0 {
		return runtimeError("the server responded with the status %s", resp.Status)
	}
	return env.Error
}

// operationInfo is a row in the output of `service api list`.
type operationInfo struct {
	ID         string `json:"id"`
	Method     string `json:"method"`
	Path       string `json:"path"`
	Permission string `json:"permission"`
	Tag        string `json:"tag"`
	Summary    string `json:"summary"`
}

func (a *app) apiListOperations() *cobra.Command {
	var q string
	cmd := &cobra.Command{
		Use: "list", Short: "List the operations of the API",
		Long:    "Lists every operation with its method, path, permission and summary.",
		Example: "  service api list --query approval\n  service api list -o json",
		RunE: func(*cobra.Command, []string) error {
			all := []operationInfo{}
			for _, op := range api.Operations() {
				l := operationInfo{
					ID:         op.ID,
					Method:     op.Method,
					Path:       op.Path,
					Permission: string(op.Permission),
					Tag:        op.Tag,
					Summary:    op.Summary,
				}
				if strings.Contains(strings.ToLower(fmt.Sprint(l)), strings.ToLower(q)) {
					all = append(all, l)
				}
			}
			return a.out.Print(all, func(p *print.Page) {
				renderTable(p, all, []print.Column{
					fixed("operation"), fixed("method"), fixed("path"), optional(column("permission")),
					column("summary"),
				}, func(l operationInfo) []string {
					return []string{l.ID, l.Method, strings.TrimPrefix(l.Path, api.Prefix), l.Permission, l.Summary}
				})
				renderTextIfEmpty(p, len(all), "No operations match.")
			})
		},
	}
	cmd.Flags().StringVar(&q, "query", "", "list only operations with this text in the ID, path or summary")
	return cmd
}
