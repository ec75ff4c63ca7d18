package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) scopeCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "scope", Short: "Scope: which parts of the organization are assessed",
		Long: `The scope defines which business units, systems, locations and data are assessed, and which traits
the organization has. Traits determine which controls can apply; each is true, false or
unknown, with the reason.`,
		Example: "  service scope show\n  service scope set --trait has_ot=false --system Quayside --system Pilotlink\n" +
			"  service scope set -f scope.yaml\n  service scope submit",
	}, a.scopeShow(), a.scopeSet(), a.scopeSubmit(), a.scopeApprove())
}

// currentScope returns the scope of the current assessment.
func (a *app) currentScope(ctx context.Context) (*api.Scope, error) {
	one, err := a.currentAssessment(ctx)
	if err != nil {
		return nil, err
	}
	s, err := call(ctx, a, api.GetAssessmentScope, &api.AssessmentInput{AssessmentID: one.ID})
	if api.IsCode(err, api.CodeNotFound) {
		return nil, withHint(
			err,
			"create the scope with the next step of the assessment (`%s`), or manually with `%s`",
			a.suggestedCommandLine("assess run"),
			a.suggestedCommandLine("scope set"),
		)
	}
	return s, err
}

func (a *app) scopeShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show the scope with its traits",

		Long:    "Shows the scope of the assessment. Each trait is shown with the source of its value.",
		Example: "  service scope show\n  service scope show -o yaml > scope.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.currentScope(cmd.Context())
			if err != nil {
				return err
			}
			return a.out.Print(s, func(p *print.Page) { renderScope(p, s) })
		},
	}
}

func renderScope(p *print.Page, s *api.Scope) {
	p.Title("%s, version %d: %s", s.Title, s.VersionNumber, prose.Humanize(s.Status))
	lines := func(l []string) string { return strings.Join(l, "\n") }
	p.Fields(
		field("description", s.Description),
		field("business units", lines(s.BusinessUnits)),
		field("processes", lines(s.Processes)),
		field("systems", lines(s.Systems)),
		field("locations", lines(s.Locations)),
		field("legal entities", lines(s.LegalEntities)),
		field("data types", lines(s.DataTypes)),
		field("third parties", lines(s.ThirdParties)),
		field("exclusions", lines(s.Exclusions)),
		field("assumptions", lines(s.Assumptions)),
		field("constraints", lines(s.Constraints)),
		field("approved", formatByline(s.ApprovedAt, s.ApprovedBy)),
		field("id", s.ID),
	)
	p.Title("Traits")
	var rows [][]string
	names := slices.Clone(api.TraitNames)
	for _, n := range sortedKeys(s.Traits) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		if t, ok := s.Traits[n]; ok {
			why := t.Reason
			if len(t.Evidence) > 0 {
				why = joinNonEmpty(why, "“"+t.Evidence[0].Quote+"”", "("+t.Evidence[0].Filename+")")
			}
			rows = append(rows, []string{n, t.Value, t.Source, why})
		}
	}
	p.Table([]print.Column{fixed("trait"), fixed("value"), column("from"), wrapped("why")}, rows)
}

func (a *app) scopeSet() *cobra.Command {
	var title, description *string
	var file string
	var traits, reset []string
	var body api.ScopeBody
	lists := []struct {
		flag, usage string
		value       []string
		field       **[]string
	}{
		{"business-unit", "a business unit", nil, &body.BusinessUnits},
		{"process", "a process", nil, &body.Processes},
		{"system", "a system", nil, &body.Systems},
		{"location", "a location", nil, &body.Locations},
		{"legal-entity", "a legal entity", nil, &body.LegalEntities},
		{"data-type", "a type of data", nil, &body.DataTypes},
		{"third-party", "a third party", nil, &body.ThirdParties},
		{"exclusion", "an exclusion", nil, &body.Exclusions},
		{"assumption", "an assumption", nil, &body.Assumptions},
		{"constraint", "a constraint", nil, &body.Constraints},
	}
	cmd := &cobra.Command{
		Use: "set", Aliases: []string{"edit"}, Short: "Create or change the scope",
		Long: `Sets the given fields and leaves all others unchanged. A given list replaces the existing list;
repeat the flag to specify several entries. With -f, the fields are read from a YAML or JSON file
(- for stdin) that uses the API's field names. Flags take precedence over the file. The value of a
trait is true, false (or yes, no) or unknown. If the file is the output of ` + "`scope show -o yaml`" + `, only
the traits that you changed in it are set manually; the others are still derived from the documents.`,
		Example: "  service scope set --trait processes_personal_data=true --trait has_ot=unknown\n" +
			"  service scope set --title 'Head office' --system Quayside --system Pilotlink\n  service scope set -f scope.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireAnyFlag(cmd); err != nil {
				return err
			}
			var drawn map[string]string
			var err error
			if file != "" {
				if drawn, err = a.readScopeFile(file, &body); err != nil {
					return err
				}
			}
			body.Title, body.Description = cmp.Or(title, body.Title), cmp.Or(description, body.Description)
			for i := range lists {
				if v := flagIfChanged(cmd, lists[i].flag, lists[i].value); v != nil {
					*lists[i].field = v
				}
			}
			body.Reset = append(body.Reset, reset...)
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			if err := a.dropUnchangedDraftedTraits(cmd.Context(), one.ID, &body, drawn); err != nil {
				return err
			}
			if err := setTraits(&body, traits); err != nil {
				return err
			}
			return callAndPrint(
				cmd.Context(),
				a,
				api.PutScope,
				&api.PutScopeInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Body: body},
				func(p *print.Page, s *api.Scope) {
					renderScope(p, s)
					if one.State.HasReached(api.StateSoADrafted) && one.State != api.StateClosed {
						p.Title("Drafts out of date")
						p.Text(
							"The Statement of Applicability is based on the previous scope. To regenerate it and keep manual edits:",
						)
						p.Command(a.suggestedCommandLine("soa regenerate"))
					}
				},
			)
		},
	}
	f := cmd.Flags()
	addOptionalFlag(f, &title, "title", "title of the scope")
	addOptionalFlag(f, &description, "description", "description of the scope")
	f.StringArrayVar(&traits, "trait", nil, "value of a trait, as NAME=true, NAME=false or NAME=unknown; repeatable")
	f.StringSliceVar(&reset, "reset", nil,
		"traits to derive from the documents again, e.g. has_ot,uses_ai; \"all\" resets every trait set manually")
	f.StringVarP(&file, "file", "f", "", "file to read the fields from, or - for stdin")
	for i := range lists {
		f.StringArrayVar(&lists[i].value, lists[i].flag, nil, lists[i].usage+"; repeatable")
	}
	return cmd
}

// setTraits sets the traits given as NAME=VALUE in the body.
func setTraits(body *api.ScopeBody, traits []string) error {
	given := map[string]bool{}
	for _, t := range traits {
		name, value, ok := strings.Cut(t, "=")
		if !ok {
			return withHint(usageError("--trait %q is not in the form NAME=VALUE", t), "e.g. --trait has_ot=false")
		}
		if err := checkOneOfOrEmpty("trait", name, api.TraitNames); err != nil {
			return err
		}
		is, err := parseTrait(name, value)
		if err != nil {
			return err
		}
		if given[name] {
			return usageError("--trait %s is specified more than once", name)
		}
		if body.Traits == nil {
			body.Traits = map[string]api.TraitSetting{}
		}
		body.Traits[name], given[name] = api.TraitSetting{Value: is}, true
	}
	return nil
}

// parseTrait parses the value of a scope trait: true, false, or unknown, for which it returns nil. Anything
// else is an error, because a guess would affect which controls apply.
func parseTrait(name string, v any) (*bool, error) {
	var value bool
	switch word := strings.ToLower(fmt.Sprint(v)); {
	case v == nil, word == "unknown":
		return nil, nil
	case word == "true", word == "yes":
		value = true
	case word == "false", word == "no":
	default:
		return nil, withHint(usageError("invalid value for trait %s: %q", name, fmt.Sprint(v)), "use true, false or unknown")
	}
	return &value, nil
}

// traitFields lists the fields that a trait has in the output of `scope show`.
var traitFields = []string{"value", "source", "reason", "evidence"}

// maxScopeFile is the maximum size of a scope file, equal to the API's limit.
const maxScopeFile = api.MaxBodyBytes

// dropUnchangedDraftedTraits removes the traits from body that still have their drafted value.
func (a *app) dropUnchangedDraftedTraits(
	ctx context.Context,
	assessment string,
	body *api.ScopeBody,
	draftedTraits map[string]string,
) error {
	if len(draftedTraits) == 0 {
		return nil
	}
	s, err := call(ctx, a, api.GetAssessmentScope, &api.AssessmentInput{AssessmentID: assessment})
	if api.IsCode(err, api.CodeNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for name, value := range draftedTraits {
		if t, ok := s.Traits[name]; ok && t.Source != "user" && t.Value == value {
			delete(body.Traits, name)
		}
	}
	return nil
}

// readScopeFile reads the fields of a scope from a file into body. It also returns the values of those traits
// that, according to the file, were drafted and not set by a user.
func (a *app) readScopeFile(path string, body *api.ScopeBody) (draftedTraits map[string]string, err error) {
	b, err := a.readFile(path, maxScopeFile)
	if err != nil {
		return nil, err
	}
	draftedTraits = map[string]string{}
	var fields map[string]any
	y := yaml.NewDecoder(bytes.NewReader(b))
	switch err := y.Decode(&fields); {
	case errors.Is(err, io.EOF) || err == nil && len(fields) == 0:
		return nil, usageError("%s is empty; to create a scope file that you can edit, run `%s`",
			path, a.suggestedCommandLine("scope show -o yaml"))
	case err != nil:
		return nil, usageError("%s is neither YAML nor JSON: %w", path, err)
	case !errors.Is(y.Decode(new(any)), io.EOF):
		return nil, usageError("%s contains more than one YAML document; a scope file must contain exactly one", path)
	}
	if traits, ok := fields["traits"].(map[string]any); ok {
		for name, v := range traits {
			if m, ok := v.(map[string]any); ok { // in the form written by `scope show -o yaml`
				for _, field := range slices.Sorted(maps.Keys(m)) {
					if !slices.Contains(traitFields, field) {
						return nil, withHint(
							usageError("%s: the trait %s has no field %q", path, name, field),
							"valid fields: %s",
							strings.Join(traitFields, ", "),
						)
					}
				}
				v = cmp.Or[any](m["value"], "")
				if value, ok := v.(string); ok && m["source"] != nil && m["source"] != "user" {
					draftedTraits[name] = value
				}
			}
			is, err := parseTrait(name, v)
			if err != nil {
				return nil, err
			}
			traits[name] = is
		}
	}
	for _, shown := range []string{
		"id", "created_at", "updated_at", "organization_id", "assessment_id",
		"status", "version_number", "revision", "edited_fields", "created_by", "approved_by", "approved_at",
	} {
		delete(fields, shown)
	}
	j, err := json.Marshal(fields)
	if err != nil {
		return nil, usageError("invalid scope file %s: %w", path, err)
	}
	dec := json.NewDecoder(bytes.NewReader(j))
	dec.DisallowUnknownFields()
	if err := dec.Decode(body); err != nil {
		return nil, usageError("%s: %s", path, strings.TrimPrefix(explainDecodeError(err).Error(), "json: "))
	}
	return draftedTraits, nil
}

func (a *app) scopeSubmit() *cobra.Command {
	return &cobra.Command{
		Use:   "submit",
		Short: "Submit the scope for review",

		Long:    "Submits the scope for review. The lifecycle doesn't require approval of the scope, but it can be approved.",
		Example: "  service scope submit",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.changeScopeStatus(cmd.Context(), func(ctx context.Context, in api.ScopeInput) (*api.Scope, error) {
				return call(ctx, a, api.SubmitScope, &in)
			})
		},
	}
}

func (a *app) scopeApprove() *cobra.Command {
	var comment string
	cmd := &cobra.Command{
		Use:   "approve",
		Short: "Approve the scope",

		Long:    "Approves the scope that is under review. Requires the role owner or admin.",
		Example: "  service scope submit && service scope approve",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.changeScopeStatus(cmd.Context(), func(ctx context.Context, in api.ScopeInput) (*api.Scope, error) {
				return call(ctx, a, api.ApproveScope, &api.ApproveScopeInput{ScopeInput: in, Body: &api.VersionDecision{Comment: comment}})
			})
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", "comment to record with the decision in the audit trail")
	return cmd
}

// changeScopeStatus submits or approves the current scope with transition, and prints its new status.
func (a *app) changeScopeStatus(ctx context.Context, transition func(context.Context, api.ScopeInput) (*api.Scope, error)) error {
	s, err := a.currentScope(ctx)
	if err != nil {
		return err
	}
	if s, err = transition(ctx, api.ScopeInput{ScopeID: s.ID}); err != nil {
		return validationToRuntimeError(err)
	}
	return a.out.Print(s, func(p *print.Page) {
		p.Text("Version %d of the scope is %s.", s.VersionNumber, prose.Humanize(s.Status))
	})
}
