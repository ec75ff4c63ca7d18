package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// secondsPerReading is how long the model reads in a single call. Progress is shown between calls.
const secondsPerReading = 15

// secondsPerStep is how long the built-in network reads in a single call.
const secondsPerStep = 5

// readWithModel makes the language model read everything that it has not read yet, and returns the name of its reader.
// It first shows how much there is to read, and asks for confirmation if reading it would exceed the user's limits.
func (a *app) readWithModel(ctx context.Context, assessment string, yes bool) (readerName string, _ error) {
	a.progress.Start("searching for passages")
	r, err := call(ctx, a, api.GetModelReading, &api.AssessmentInput{AssessmentID: assessment})
	a.progress.Done("")
	if err != nil {
		return "", validationToRuntimeError(err)
	}
	if r.Note != "" {
		a.printNotice("%s", r.Note)
	}
	if r.Left == 0 {
		return r.Reader, nil
	}
	a.printNotice("%s", describeModelReading(r))
	if l := r.Limits; l.AskTokens > 0 && r.Next.Tokens() > l.AskTokens || l.AskCost > 0 && r.Next.Cost > l.AskCost {
		if err := a.confirm(yes, "let the model read the passages ("+describeModelUse(r.Next)+")"); err != nil {
			return "", err
		}
	}
	if a.interruptHint == "" {
		a.interruptHint = fmt.Sprintf("everything that the model has read so far is kept; continue with `%s`",
			a.suggestedCommandLine("soa draft --reader model"))
	}
	a.progress.Start("reading with the model")
	in := api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	in.Body.Seconds = secondsPerReading
	for r.Left > 0 {
		before := r.Left
		if r, err = call(ctx, a, api.ReadWithModel, &in); err != nil {
			a.progress.Done("")
			return "", validationToRuntimeError(err)
		}
		in.Body.Used = in.Body.Used.Add(r.Used)
		left := ""
		if r.Next.Seconds > 0 {
			left = ", about " + formatSeconds(r.Next.Seconds) + " left"
		}
		a.progress.Update("reading with the model: %d of %d requirements%s", r.Statements-r.Left, r.Statements, left)
		if r.Stopped != "" || r.Left == before && r.Used.Calls == 0 {
			a.progress.Done("")
			return "", withHint(
				runtimeError(
					"%s; %s not read", cmp.Or(r.Stopped, "The model made no progress"),
					prose.Count(r.Left, "requirement was", "requirements were"),
				),
				"continue reading with `%s`, or create a draft from what has been read so far with `%s`", a.suggestedCommandLine("soa draft --reader model"),
				a.suggestedCommandLine("soa draft --reader "+r.Reader),
			)
		}
	}
	a.progress.Done("%s has read the passages (%s)", r.Model.Name, describeModelUse(in.Body.Used))
	return r.Reader, nil
}

// readWithBuiltin makes the built-in network read everything that it has not read yet.
func (a *app) readWithBuiltin(ctx context.Context, assessment string) error {
	if a.interruptHint == "" {
		a.interruptHint = "everything that the built-in reader has read so far is kept; run the same command again to continue"
	}
	a.progress.Start("searching for passages")
	in := api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	in.Body.Reader, in.Body.Seconds = api.BuiltinReader, secondsPerStep
	read := 0
	for {
		r, err := call(ctx, a, api.ReadWithModel, &in)
		if err != nil {
			a.progress.Done("")
			return validationToRuntimeError(err)
		}
		read += r.Used.Calls
		if r.Left == 0 {
			done := ""
			if read > 0 {
				done = "the built-in reader has read " + prose.Count(read, "new passage", "new passages")
			}
			a.progress.Done("%s", done)
			return nil
		}
		a.progress.Update("reading with the built-in reader: %d of %d requirements, about %s left",
			r.Statements-r.Left, r.Statements, formatSeconds(r.Next.Seconds))
	}
}

// describeModelReading describes what the model is about to read, where it runs, and the resources required.
func describeModelReading(r *api.ModelReading) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s will read passages for %d of %s, which takes about %s.", r.Model.Name, r.Left,
		prose.Count(r.Statements, "requirement", "requirements"), describeModelUse(r.Next))
	if r.Next.Seconds == 0 {
		out.WriteString(" The remaining time is shown after the first answers.")
	}
	if r.Remote {
		fmt.Fprintf(&out, " The passages are sent to %s.", r.Server)
	}
	if r.Withheld > 0 {
		fmt.Fprintf(&out, " %s to influence the model's conclusion, and will not be sent.",
			prose.Count(r.Withheld, "passage tries", "passages try"))
	}
	return out.String()
}

// describeModelUse returns the resources used by requests, such as their number, tokens, duration and cost.
func describeModelUse(u api.ModelUse) string {
	out := fmt.Sprintf("%s, %s", prose.Count(u.Calls, "request", "requests"), formatTokenCount(u.Tokens()))
	if u.Seconds > 0 {
		out += ", " + formatSeconds(u.Seconds)
	}
	if u.Cost > 0 {
		out += fmt.Sprintf(", cost %.2f", u.Cost)
	}
	return out
}

func formatTokenCount(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f million tokens", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%d,000 tokens", (n+500)/1000)
	}
	return prose.Count(n, "token", "tokens")
}

func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
}
