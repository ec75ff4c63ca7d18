package assessment

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// Limits on content that users write or that is synced from other installations.

const (
	maxItemText    = 20_000
	maxItemParts   = 1_000
	maxOwnerLength = 200
)

// validateOwner returns an error unless name is a valid owner, which is the name of a person or a role.
func validateOwner(name *string) error {
	if name == nil || *name == "" {
		return nil
	}
	if err := api.CheckName("owner", *name); err != nil {
		return err
	}
	switch {
	case api.IsBlank(*name):
		return api.Invalid("owner", "an owner can't be blank; if there is no owner, leave the field empty")
	case utf8.RuneCountInString(*name) > maxOwnerLength:
		return api.Invalid("owner", "an owner must be a name or role of up to %d characters", maxOwnerLength)
	}
	return nil
}

// emptyAsNull returns null if the name is empty, and the name unchanged otherwise.
func emptyAsNull(name api.Opt[string]) api.Opt[string] {
	if name.Value != nil && *name.Value == "" {
		name.Value = nil
	}
	return name
}

func checkOneOf[S ~string](field string, v S, allowed ...S) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return api.Invalid(field, "%q is not among %v", v, allowed)
}

func checkImplementationStatus(field string, v api.Implementation) error {
	return checkOneOf(
		field,
		v,
		api.Implemented,
		api.PartiallyImplemented,
		api.Planned,
		api.NotImplemented,
		api.NotEvidenced,
		api.NotAssessed,
	)
}

// excerpt returns the beginning of a string, which is enough to recognize it.
func excerpt(t string) string {
	r := []rune(strings.TrimSpace(t[:min(len(t), 200)]))
	return string(r[:min(len(r), 40)]) + "…"
}

// checkItemSize returns an error if one of an item's strings is too long or it has too many passages or
// statements.
func checkItemSize(it *api.Item, evidence []api.Evidence, partCount int, texts ...string) error {
	for _, e := range evidence {
		texts = append(texts, e.Quote, e.Statement, e.Filename)
	}
	if len(evidence) > maxItemParts || partCount > maxItemParts {
		return api.Invalid("evidence", "%s has more than %d parts", it.ControlCode, maxItemParts)
	}
	for _, t := range append(texts, it.ControlCode, it.ControlTitle, it.DomainCode) {
		if len(t) > maxItemText {
			return api.Invalid("", "a text in %s is %d bytes long; the maximum is %d: %q", it.ControlCode, len(t), maxItemText, excerpt(t))
		}
	}
	if it.ControlCode == "" {
		return api.Invalid("control_code", "the item has no control")
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func validateSoAItem(i *api.SoAItem) error {
	var reason error
	if isExcludedByDecision(i) && api.IsBlank(i.Rationale) {
		reason = api.Invalid("rationale", "state why %s is %s", i.ControlCode, prose.Humanize(i.Applicability))
	}
	return firstError(
		reason,
		checkOneOf(
			"applicability",
			i.Applicability,
			api.Applicable,
			api.PartiallyApplicable,
			api.NotApplicable,
			api.OutOfScope,
			api.Undecided,
		),
		checkImplementationStatus("implementation_status", i.ImplementationStatus),
		checkItemSize(
			&i.Item,
			i.Evidence,
			len(i.Statements)+len(i.MissingElements),
			i.Rationale,
			i.Reason,
			stringOrEmpty(i.Owner),
			stringOrEmpty(i.Note),
		),
	)
}

func validateFinding(i *api.Finding) error {
	return firstError(
		checkImplementationStatus("status", i.Status),
		checkOneOf("severity", i.Severity, api.Severities...),
		checkOneOf("source", i.Source, "analysis", sourceManual),
		checkItemSize(
			&i.Item,
			i.Evidence,
			len(i.MissingElements),
			i.Condition,
			i.Criteria,
			i.Cause,
			i.Effect,
			i.Recommendation,
			stringOrEmpty(i.Owner),
			stringOrEmpty(i.Note),
		),
	)
}

func validateScore(i *api.MaturityScore) error {
	var level error
	if i.Level < 0 || i.Level > 5 || i.TargetLevel < 0 || i.TargetLevel > 5 {
		level = api.Invalid("level", "a level must be between 0 and 5")
	}
	return firstError(level, checkItemSize(&i.Item, i.Evidence, 0, i.Criteria, i.NextCriteria, i.Rationale, stringOrEmpty(i.Note)))
}

func validatePOAMItem(i *api.POAMItem) error {
	err := firstError(
		checkOneOf("status", i.Status, api.POAMStatuses...),
		checkOneOf("severity", i.Severity, api.Severities...),
		checkItemSize(
			&i.Item,
			nil,
			len(i.Milestones)+len(i.AcceptanceCriteria),
			i.POAMCode,
			i.Weakness,
			i.CorrectiveAction,
			stringOrEmpty(i.Owner),
			stringOrEmpty(i.Resources),
			stringOrEmpty(i.VendorDependency),
			stringOrEmpty(i.Comments),
		),
	)
	for _, m := range i.Milestones {
		err = firstError(
			err,
			checkOneOf("milestones", m.Status, "open", "in_progress", "completed", "cancelled"),
			checkItemSize(&i.Item, nil, len(m.Changes), m.Title),
		)
	}
	return err
}
