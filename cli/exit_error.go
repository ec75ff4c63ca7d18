package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// Exit codes of the program. `service help exit-codes` explains them.
const (
	exitOK           = 0
	exitVerdict      = 1
	exitUsage        = 2
	exitRuntime      = 3
	exitApproval     = 4
	exitUnauthorized = 5
	exitInterrupted  = 130
)

// exitError is an error with an exit code, a hint for the user, or both.
type exitError struct {
	// code 0 means the code of the wrapped error.
	code int
	err  error
	hint string
}

func (f *exitError) Error() string { return f.err.Error() }
func (f *exitError) Unwrap() error { return f.err }

// usageError returns an error about how the command was called.
func usageError(format string, args ...any) *exitError {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// runtimeError returns an error that occurred while the command ran.
func runtimeError(format string, args ...any) *exitError {
	return &exitError{code: exitRuntime, err: fmt.Errorf(format, args...)}
}

// withHint adds a hint to an error, unless it already has one.
func withHint(err error, format string, args ...any) error {
	var f *exitError
	if err == nil || (errors.As(err, &f) && f.hint != "") {
		return err
	}
	return &exitError{err: err, hint: fmt.Sprintf(format, args...)}
}

// validationToRuntimeError gives a validation error the exit code of a runtime error. It is for operations whose
// validation errors can't be caused by the command's arguments.
func validationToRuntimeError(err error) error {
	if api.IsCode(err, api.CodeValidation) {
		return &exitError{code: exitRuntime, err: err}
	}
	return err
}

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	var f *exitError
	for e := err; errors.As(e, &f); e = f.err {
		if f.code != 0 {
			return f.code
		}
	}
	var e *api.Error
	if !errors.As(err, &e) {
		return exitRuntime
	}
	switch e.Code {
	case api.CodeApproval:
		return exitApproval
	case api.CodeUnauthorized, api.CodeForbidden:
		return exitUnauthorized
	case api.CodeValidation, api.CodeTenantRequired:
		return exitUsage
	}
	return exitRuntime
}

// reportError prints an error with its details and hint to stderr and returns the exit code.
func (a *app) reportError(ctx context.Context, err error) (code int) {
	a.progress.Done("")
	if err == nil {
		return exitOK
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		a.printNotice("interrupted")
		resumeHint := a.interruptHint
		if resumeHint == "" {
			resumeHint = "completed work is kept; run the same command again to continue"
		}
		a.printNotice("hint: %s", resumeHint)
		return exitInterrupted
	}
	a.printNotice("service: %s", err.Error())
	var e *api.Error
	if errors.As(err, &e) {
		for _, line := range detailsNotInMessage(e) {
			a.printNotice("  - %s", line)
		}
		if e.IsCauseHidden() && e.TraceID != "" {
			a.printNotice("  trace id: %s", e.TraceID)
		}
	}
	if hint := a.hintFor(err); hint != "" {
		a.printNotice("hint: %s", hint)
	}
	return exitCode(err)
}

// flagAliases are the flags whose names differ from those of the fields that they set.
var flagAliases = map[string]string{
	"due_date": "due", "gap_type": "type", "implementation_status": "status", "target_level": "target", "corrective_action": "action",
	"vendor_dependency": "vendor", "owner_name": "owner", "content": "comment",
}

// flagOfField returns the flag of a command that sets a field of a request, such as --due for set.due_date, or "" if the
// command has none.
func flagOfField(cmd *cobra.Command, field string) string {
	field = strings.TrimPrefix(field, "set.")
	for _, name := range []string{flagAliases[field], strings.ReplaceAll(field, "_", "-")} {
		if name != "" && cmd.Flags().Lookup(name) != nil {
			return "--" + name
		}
	}
	return ""
}

// nameFlags replaces names of fields at the beginning of a validation error with the flags that the user knows.
func nameFlags(cmd *cobra.Command, err error) error {
	var e *api.Error
	if cmd == nil || !errors.As(err, &e) || e.Code != api.CodeValidation {
		return err
	}
	for i := range e.Details {
		d := &e.Details[i]
		if flag := flagOfField(cmd, d.Field); flag != "" {
			e.Message = strings.TrimSpace(strings.Replace(e.Message, d.Field+": ", flag+" ", 1))
			d.Field = flag
		}
	}
	return err
}

// detailsNotInMessage returns the details of an error that its message does not already contain.
func detailsNotInMessage(e *api.Error) (out []string) {
	for _, d := range e.Details {
		line := d.Message
		switch {
		case d.Field != "" && d.Message != "" && !strings.Contains(e.Message, d.Message):
			line = d.Field + ": " + d.Message
		case d.Message != "" && strings.Contains(e.Message, d.Message):
			continue
		case d.Gate != "" && d.ApprovalID != nil:
			line = fmt.Sprintf("approval %s of the %s", *d.ApprovalID, d.Gate.Title())
		case d.Reason != "" && !strings.Contains(e.Message, d.Reason):
			line = d.Reason
		}
		if line != "" && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// hintFor returns what the user can do about an error, or "" if nothing specific is known.
func (a *app) hintFor(err error) string {
	var f *exitError
	for e := err; errors.As(e, &f); e = f.err {
		if f.hint != "" {
			return f.hint
		}
	}
	if errors.Is(err, client.ErrConnectionLost) {
		return "the server process ended before it responded; check whether the change was made, or run the same command again"
	}
	if errors.Is(err, client.ErrPlainHTTP) {
		return "use https://…, or pass --insecure-http if the network is trusted, such as a VPN"
	}
	var unknownCA x509.UnknownAuthorityError
	if errors.As(err, &unknownCA) {
		return "if the server's certificate was issued by a private certificate authority, pass the authority's certificate with --ca FILE"
	}
	if errors.Is(err, client.ErrUnreachable) && a.context != nil {
		return fmt.Sprintf(
			"check that the server for the context %s is running; `service use` lists other contexts, and "+
				"`service use local` switches to the local data folder",
			a.context.Name,
		)
	}
	if errors.Is(err, client.ErrUnreachable) {
		return "check that the server is running and that --server or SERVICE_SERVER is correct"
	}
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code {
	case api.CodeUnauthorized:
		if a.context != nil && a.flags.Token == "" {
			return "sign in again with `" + a.loginCommandLineFor(a.context) + "`"
		}
		return "sign in with `service login URL`, or give an API key with --token or SERVICE_TOKEN"
	case api.CodeForbidden:
		if slices.ContainsFunc(e.Details, func(d api.ErrorDetail) bool { return d.Field == api.TenantHeader }) {
			return "list your organizations with `service org list`, then choose one with `service use --org NAME`"
		}
		if i := slices.IndexFunc(e.Details, func(d api.ErrorDetail) bool { return d.Field == api.NoRemoteModel }); i >= 0 {
			lift := "or allow remote models with `" + a.suggestedCommandLine("assess update --no-remote-model=false") + "`"
			if strings.HasSuffix(e.Details[i].Message, "the organization") {
				lift = "or ask an owner to allow remote models with `" + a.suggestedCommandLine("org update --no-remote-model=false") + "`"
			}
			return "choose a local model with `service model use ollama/MODEL`, " + lift
		}
		if slices.ContainsFunc(e.Details, func(d api.ErrorDetail) bool { return d.Field == api.RequireSecondPerson }) {
			return "ask another owner, admin or approver to decide; an owner can turn off this rule with `" +
				a.suggestedCommandLine("org update --second-person=false") + "`"
		}
		return "ask an owner or admin of the organization for the required permission, or use a different API key"
	case api.CodeTenantRequired:
		if a.flags.Server == "" {
			return "select an organization with --org or SERVICE_DEFAULT_ORG, or with `service org use ORG`. Local access to it is read-only; " +
				"to make changes, sign in to its server with `service login URL`"
		}
		return "specify an organization with --org or SERVICE_DEFAULT_ORG; to join an organization, ask its owner or an admin for an invitation"
	case api.CodeApproval:
		for _, d := range e.Details {
			if noun := gateCommandName(d.Gate); noun != "" {
				return fmt.Sprintf("review the version with `%s`; if it isn't under review, submit it with `%s`; then approve it with `%s`",
					a.suggestedCommandLine(noun+" show"), a.suggestedCommandLine(noun+" submit"), a.suggestedCommandLine(noun+" approve"))
			}
		}
	case api.CodeRateLimit:
		return "wait for the stated time and run the same command again"
	case api.CodeInternal:
		if !e.IsCauseHidden() {
			return ""
		}
		return "try again; if the error persists, search the service's log for the trace id"
	}
	return ""
}

// printNotice prints a sanitized message to stderr, wrapped to the terminal.
func (a *app) printNotice(format string, args ...any) {
	for _, line := range print.WrapProse(print.SafeBlock(fmt.Sprintf(format, args...)), a.StderrWidth) {
		fmt.Fprintln(a.Stderr, line)
	}
}
