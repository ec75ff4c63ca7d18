package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
)

// maxDecisiveDocuments is the maximum number of documents that CountReliance lists.
const maxDecisiveDocuments = 10

// CountUnreviewed counts the items that nobody has reviewed, and lists the controls that are implemented without
// supporting evidence.
func CountUnreviewed(items []api.SoAItem) api.ReviewCount {
	out := api.ReviewCount{ImplementedWithoutEvidence: []string{}, CarriedToConfirm: []string{}}
	for n := range items {
		i := &items[n]
		changed := i.Carried != nil && i.Carried.EvidenceChanged
		if changed || !IsReviewed(i) {
			out.LinesNotReviewed++
			if i.NeedsReview {
				out.LinesToReview++
			}
		}
		if changed {
			out.CarriedToConfirm = append(out.CarriedToConfirm, i.ControlCode)
		}
		if IsImplementedWithoutEvidence(i) {
			out.ImplementedWithoutEvidence = append(out.ImplementedWithoutEvidence, i.ControlCode)
		}
	}
	return out
}

// maxControlsPerQuote is the number of controls that one quote of a language model may plausibly cover.
const maxControlsPerQuote = 6

// ItemsOnRepeatedQuotes returns the positions of the applicable items that are supported by a quote that supports more than
// maxControlsPerQuote items.
func ItemsOnRepeatedQuotes(items []api.SoAItem) (out []int) {
	lines := map[string][]int{} // by quote
	for n := range items {
		if !items[n].Applicability.IsApplicable() {
			continue
		}
		for _, e := range items[n].Evidence {
			quote := text.CollapseSpace(e.Quote)
			if have := lines[quote]; e.Stance == "supports" && (len(have) == 0 || have[len(have)-1] != n) {
				lines[quote] = append(have, n)
			}
		}
	}
	for _, on := range lines {
		if len(on) > maxControlsPerQuote {
			out = append(out, on...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsReviewed reports whether a person has set or confirmed the item's applicability or status. A confirmation doesn't
// count if the item has been marked for review again since.
func IsReviewed(i *api.SoAItem) bool {
	return i.IsManual("applicability") || i.IsManual("implementation_status") || i.IsManual("needs_review") && !i.NeedsReview
}

// IsAskedAgain reports whether an item that a person had confirmed as drafted is marked for review again, because a later
// draft gave it another status or because a person said so.
func IsAskedAgain(i *api.SoAItem) bool { return i.IsManual("needs_review") && !IsReviewed(i) }

// IsImplementedWithoutEvidence reports whether an applicable item is implemented although no passage supports any of
// its requirements.
func IsImplementedWithoutEvidence(i *api.SoAItem) bool {
	return i.Applicability.IsApplicable() && i.ImplementationStatus == api.Implemented && (len(i.Evidence) == 0 || i.CoverageRatio == 0)
}

// CountReliance counts the items whose verdict rests on a single document or was changed by one, and lists the
// documents responsible for most of them.
func CountReliance(items []api.SoAItem) api.Reliance {
	out := api.Reliance{DecisiveDocuments: []api.DecisiveDocument{}}
	byName := map[string]*api.DecisiveDocument{}
	document := func(name string) *api.DecisiveDocument {
		if byName[name] == nil {
			byName[name] = &api.DecisiveDocument{Filename: name}
		}
		return byName[name]
	}
	for n := range items {
		only, changing := items[n].SingleDocuments()
		if only != "" {
			out.LinesOnOneDocument++
			document(only).LinesAlone++
		}
		if changing != "" {
			out.LinesChangedByDocument++
			document(changing).LinesChanged++
		}
	}
	for _, d := range byName {
		out.DecisiveDocuments = append(out.DecisiveDocuments, *d)
	}
	slices.SortFunc(out.DecisiveDocuments, func(a, b api.DecisiveDocument) int {
		return cmp.Or(b.LinesChanged-a.LinesChanged, b.LinesAlone-a.LinesAlone, strings.Compare(a.Filename, b.Filename))
	})
	if len(out.DecisiveDocuments) > maxDecisiveDocuments { // keep the document that most items depend on alone, because warnings name it
		most := slices.MaxFunc(out.DecisiveDocuments, func(a, b api.DecisiveDocument) int { return a.LinesAlone - b.LinesAlone })
		out.DecisiveDocuments = out.DecisiveDocuments[:maxDecisiveDocuments]
		if !slices.Contains(out.DecisiveDocuments, most) {
			out.DecisiveDocuments[maxDecisiveDocuments-1] = most
		}
	}
	return out
}
