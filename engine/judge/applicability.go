package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/prose"
)

// traitPhrases describes each trait in words that complete "the organization …".
var traitPhrases = map[string]string{
	"develops_software": "develops software", "uses_cloud": "uses cloud services", "processes_personal_data": "processes personal data",
	"handles_cards": "handles payment card data", "has_ot": "runs operational technology", "has_facilities": "has its own premises",
	"uses_ai": "uses artificial intelligence", "outsources_it": "outsources IT", "has_mobile_devices": "uses mobile devices",
	"has_remote_workers": "has remote workers",
}

func traitPhrase(name string) string {
	if w, ok := traitPhrases[name]; ok {
		return w
	}
	return strings.ReplaceAll(name, "_", " ")
}

// DetermineApplicability returns whether a control applies to an organization with the given
// traits, and why. Deprecated controls don't apply. Otherwise, a control, or the part of it that
// concerns premises, is excluded only if a user set a trait to "false". If a trait is unknown or
// was only detected in documents, the control stays included, and the reason says so.
func DetermineApplicability(c api.Control, traits map[string]api.Trait) (applicability api.Applicability, reason string) {
	if c.IsDeprecated {
		return api.NotApplicable, "The catalog marks this control as deprecated."
	}
	onlyFacility := len(c.Applicability) == 1 && c.Applicability[0] == "facility"
	facility := traits["has_facilities"]
	noFacility := facility.Value == "false" && facility.Source == "user"
	if onlyFacility && noFacility && len(c.Traits) == 0 && c.DomainCode == continuityDomain {
		return api.PartiallyApplicable, "The control concerns alternate sites and lines, which providers may operate: a user stated that " +
			"the organization has no premises of its own."
	}
	if onlyFacility && noFacility && len(c.Traits) == 0 {
		return api.NotApplicable, "The control concerns only premises, and a user stated that the organization has no premises of its own." + formatTraitReason(
			facility,
		)
	}
	if len(c.Traits) == 0 {
		if noFacility && slices.Contains(c.Applicability, "facility") {
			return api.PartiallyApplicable,
				"The control applies except for the part about premises: a user stated that the organization has no premises of its own."
		}
		return api.Applicable, "The control applies to every organization in scope."
	}
	var yes, unknown, read, said []string
	for _, name := range c.Traits {
		t := traits[name]
		switch {
		case t.Value == "true":
			yes = append(yes, traitPhrase(name))
		case t.Value == "false" && t.Source == "user":
			said = append(said, traitPhrase(name))
		case t.Value == "false":
			read = append(read, traitPhrase(name))
		default:
			unknown = append(unknown, traitPhrase(name))
		}
	}
	switch {
	case len(yes) > 0:
		return api.Applicable, "The organization " + text.JoinSome(yes) + "."
	case len(unknown) > 0:
		return api.Applicable, "Included by default: it isn't known whether the organization " + prose.JoinOr(
			unknown,
		) + "."
	case len(read) > 0:
		return api.Applicable, "Included by default: documents suggest that the organization doesn't match “" + prose.JoinOr(
			read,
		) + "”, but no user has confirmed it."
	}
	return api.NotApplicable, "The control applies only to an organization that " + prose.JoinOr(said) +
		"; a user stated that this organization doesn't."
}

// continuityDomain is the domain of business continuity. The alternate sites that it requires may
// be operated by a provider.
const continuityDomain = "BCD"

func formatTraitReason(t api.Trait) string {
	if t.Reason == "" {
		return ""
	}
	return " " + strings.TrimRight(t.Reason, ".") + "."
}
