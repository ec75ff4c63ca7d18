package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/lazyregexp"
)

var uuidPattern = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// currentAssessment returns the assessment specified with --assessment. Without the flag, it returns the most recently
// used assessment or, if none has been used, the only one.
func (a *app) currentAssessment(ctx context.Context) (*api.Assessment, error) {
	if a.flags.assessment != "" {
		return a.findAssessment(ctx, a.flags.assessment)
	}
	if id := a.readSavedState().LastAssessments[a.savedStateKey()]; id != "" {
		got, err := call(ctx, a, api.GetAssessment, &api.AssessmentInput{AssessmentID: id})
		if err == nil {
			a.defaultAssessment = got.Name
		}
		if err == nil || !api.IsCode(err, api.CodeNotFound) {
			return got, err
		}
	}
	all, err := call(ctx, a, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: 2}})
	if err != nil {
		return nil, err
	}
	switch len(all.Data) {
	case 0:
		return nil, withHint(
			runtimeError("there are no assessments yet"),
			"create one with `%s`, or try `%s`",
			a.suggestedCommandLine("assess run DIR"),
			a.suggestedCommandLine("demo"),
		)
	case 1:
		return &all.Data[0], nil
	}
	return nil, withHint(
		usageError("there are %d assessments; specify one", all.Pagination.Total),
		"pass --assessment ID|NAME, or set a default with `%s`; `%s` lists all assessments",
		a.suggestedCommandLine("assess use ID"),
		a.suggestedCommandLine("assess list"),
	)
}

// printDefaultAssessment prints the name of the assessment that a command changes, once, if the user did not name it.
func (a *app) printDefaultAssessment() {
	if a.defaultAssessment != "" && !a.namedDefault && !a.flags.quiet {
		a.printNotice("assessment: %s", a.defaultAssessment)
		a.namedDefault = true
	}
}

// assessmentNotFoundError is returned if no assessment has the given ID or name.
type assessmentNotFoundError struct{ ref string }

func (e *assessmentNotFoundError) Error() string {
	return fmt.Sprintf("there is no assessment with the ID or name %q", e.ref)
}

// findAssessment returns the assessment with the given ID or unique name.
func (a *app) findAssessment(ctx context.Context, ref string) (*api.Assessment, error) {
	if uuidPattern.MatchString(ref) {
		return call(ctx, a, api.GetAssessment, &api.AssessmentInput{AssessmentID: ref})
	}
	found, err := a.findAssessmentsByName(ctx, ref)
	if err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		return nil, withHint(runtimeError("%w", &assessmentNotFoundError{ref}), "`%s` lists all assessments",
			a.suggestedCommandLine("assess list"))
	case 1:
		return &found[0], nil
	}
	return nil, ambiguousNameError(ref, found, "specify the assessment by its ID")
}

// earlierAssessmentID returns the ID of the assessment specified with --from, or "" if the flag isn't set.
func (a *app) earlierAssessmentID(ctx context.Context, from string) (string, error) {
	if from == "" {
		return "", nil
	}
	one, err := a.findAssessment(ctx, from)
	if err != nil {
		return "", err
	}
	return one.ID, nil
}

// ambiguousNameError returns the error for a name shared by several assessments; hint says how to select one.
func ambiguousNameError(name string, found []api.Assessment, hint string) error {
	lines := make([]string, len(found))
	for i, f := range found {
		lines[i] = fmt.Sprintf("%s (%s, created %s)", f.ID, f.State, print.FormatDay(f.CreatedAt))
	}
	return withHint(usageError("%d assessments have the name %q:\n  - %s", len(found), name, strings.Join(lines, "\n  - ")), "%s", hint)
}

// findAssessmentsByName returns the assessments with exactly this name, ignoring case, newest first.
func (a *app) findAssessmentsByName(ctx context.Context, name string) (out []api.Assessment, err error) {
	l, err := fetchAll(ctx, a, api.ListAssessments, &api.AssessmentsInput{Q: name})
	if err != nil {
		return nil, err
	}
	for _, one := range l.Data {
		if strings.EqualFold(one.Name, name) {
			out = append(out, one)
		}
	}
	return out, nil
}
