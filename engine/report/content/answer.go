package content

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// writeHeadline returns a headline that sums up the report's answer in a few words.
func (s *Story) writeHeadline() string {
	switch s.Posture.Rating {
	case "not assessed":
		return "No rating yet: nothing has been assessed"
	case "unproven":
		if p := s.Posture; p.NotEvidenced == p.Applicable {
			return "Unproven: there is not enough evidence to judge any of the measures"
		}
		return "Unproven: there is not enough evidence to judge most of the measures"
	}
	h := prose.Capitalize(s.Posture.Rating)
	if s.Strongest != "" {
		return h + ": " + s.describeExtremes()
	}
	return h + " overall"
}

// describeExtremes names the strongest and the weakest domain. If no domain stands out, it returns how many domains
// lack evidence or, if none do, "Where each domain stands".
func (s *Story) describeExtremes() string {
	if s.Strongest == "" {
		n := len(s.silentDomains())
		switch {
		case n > 1 && n == len(s.Domains):
			return fmt.Sprintf("None of the %d domains can be judged because evidence is missing", n)
		case n > 0:
			return fmt.Sprintf("%s of %s can't be judged because evidence is missing",
				prose.GroupThousands(n), prose.Count(len(s.Domains), "domain", "domains"))
		}
		return "Where each domain stands"
	}
	return fmt.Sprintf("The strongest domain is %s; the weakest is %s", s.Strongest, s.Weakest)
}

// writeAnswer returns three sentences for a board: the current status, the possible consequences,
// and what is needed.
func (v *Report) writeAnswer(s *Story) []string {
	p := s.Posture
	if p.Rating == "not assessed" {
		return []string{v.describeControls()}
	}
	against := prose.JoinAnd(v.frameworkNames())
	if len(v.Frameworks) > 3 {
		against = fmt.Sprintf("%s and %d more standards", strings.Join(v.frameworkNames()[:2], ", "), len(v.Frameworks)-2)
	}
	if against != "" {
		against = " for " + against
	}
	client := wording.OrDefault(v.client, "The organization")
	first := fmt.Sprintf(
		"%s can demonstrate that %s of the %s that apply%s %s in place",
		client, prose.GroupThousands(p.Implemented), prose.Count(p.Applicable, "measure", "measures"), against,
		map[bool]string{true: "is", false: "are"}[p.Implemented == 1],
	)
	if p.Partially > 0 {
		first += fmt.Sprintf(" and %s partly in place", prose.GroupThousands(p.Partially))
	}
	if p.Implemented+p.Partially == 0 {
		first = fmt.Sprintf("%s can't demonstrate any of the %s that apply%s", client, prose.Count(p.Applicable, "measure", "measures"), against)
	}
	if p.NotImplemented > 0 {
		first += fmt.Sprintf("; according to the organization's own documents, %s not in place", prose.Count(p.NotImplemented, "is", "are"))
	}
	if p.Planned > 0 {
		first += fmt.Sprintf("; %s only planned", prose.Count(p.Planned, "is", "are"))
	}
	switch {
	case p.NotEvidenced == p.Applicable:
		first += ": there is too little evidence to judge them"
	case p.NotEvidenced > 0:
		first += fmt.Sprintf("; there is too little evidence to judge %s (%s)",
			prose.GroupThousands(p.NotEvidenced), wording.FormatPercent(p.NotEvidenced, p.Applicable))
	}
	out := []string{first + "." + v.evidenceLimits()}
	if len(s.Risks) > 0 {
		var names []string
		for _, r := range s.Risks[:min(3, len(s.Risks))] {
			names = append(names, wording.LowerFirst(r.Title))
		}
		if rs := s.Risks; len(rs) == 1 && len(rs[0].Includes) > 0 {
			out = append(out, fmt.Sprintf("The main risk is uncertainty: %s can't be ruled out, and an auditor, customer or insurer "+
				"may not accept measures without evidence.", prose.Count(len(rs[0].Includes), "business risk", "business risks")))
		} else {
			out = append(out, fmt.Sprintf("Top risks: %s; in the worst case, %s.",
				prose.JoinAnd(names), rs[worstEvidencedRisk(rs)].Consequence))
		}
	} else {
		out = append(out, v.explainNoRisks())
	}
	if n := v.countOpenActions(); n > 0 {
		third := fmt.Sprintf("The plan has %s, with an estimated effort of %s", prose.Count(n, "action", "actions"), s.Effort)
		if last := v.lastDueDate(); last != "" {
			third += " until " + string(last)
		}
		switch asks := v.evidenceRequests(); {
		case asks == n:
			third += "; it only collects evidence of measures that may already be in place, and any gaps found will require additional work"
		case asks > 0:
			third += fmt.Sprintf("; %s evidence of measures that may already be in place, and any gaps found will require additional work",
				prose.Count(asks, "of them only collects", "of them only collect"))
		}
		out = append(out, third+".")
	} else if v.POAM == nil {
		out = append(out, "There is no plan yet to close the gaps.")
	} else {
		out = append(out, "The plan has no open actions.")
	}
	return out
}

// explainNoRisks returns a sentence that explains why the report has no risks.
func (v *Report) explainNoRisks() string {
	if v.Gap == nil {
		return "No gap analysis has been drafted yet, so the risks are not known."
	}
	return "The evidence shows no gaps that require action."
}

// worstEvidencedRisk returns the index of the first risk with findings shown by the evidence, or 0
// if there is none.
func worstEvidencedRisk(risks []KeyRisk) int {
	return max(0, slices.IndexFunc(risks, func(r KeyRisk) bool { return r.Shown > 0 }))
}

func (v *Report) countOpenActions() (n int) {
	for i := range v.POAMItems {
		if v.POAMItems[i].IsOpen() {
			n++
		}
	}
	return n
}

// evidenceRequests returns the number of open actions that ask only for evidence.
func (v *Report) evidenceRequests() (n int) {
	for i := range v.POAMItems {
		if it := &v.POAMItems[i]; it.IsOpen() && it.ActionType == "collect_evidence" {
			n++
		}
	}
	return n
}

func (v *Report) lastDueDate() (last api.Date) {
	for i := range v.POAMItems {
		if v.POAMItems[i].IsOpen() {
			last = max(last, v.POAMItems[i].CurrentDueDate())
		}
	}
	return last
}

// writeDecision returns what the board is asked to decide.
func (v *Report) writeDecision(s *Story) string {
	if v.POAM == nil {
		return "Have the assessment completed first; there is no plan to approve yet."
	}
	open := v.countOpenActions()
	if open == 0 {
		return "Accept the remaining risks; the plan has no open actions."
	}
	var asks []string
	requests := v.evidenceRequests()
	switch {
	case s.Posture.Rating == "unproven" && 2*requests > open:
		asks = append(asks, fmt.Sprintf("have existing evidence collected first (%s)", prose.Count(requests, "request", "requests")))
	case v.approvalStatus(api.GatePOAM).approved:
		asks = append(asks, fmt.Sprintf("start work on the approved plan with %s", prose.Count(open, "action", "actions")))
	default:
		asks = append(asks, fmt.Sprintf("approve the plan with %s", prose.Count(open, "action", "actions")))
	}
	items, effort, until := 0, Effort{}, ""
	for _, q := range s.Roadmap { // the next quarters, until they contain a quarter of the open items
		if q.End == "" || 4*items >= open {
			break
		}
		items, effort, until = items+q.Items, Effort{effort.MinDays + q.Effort.MinDays, effort.MaxDays + q.Effort.MaxDays}, q.Name
	}
	if items > 0 {
		asks = append(asks, fmt.Sprintf("make %s available for the %s due by the end of %s",
			effort, prose.Count(items, "action", "actions"), until))
	}
	if s.WithoutOwner > 0 {
		switch s.WithoutOwner {
		case open:
			asks = append(asks, "assign an owner to each action")
		case 1:
			asks = append(asks, "assign an owner to the action that has none")
		default:
			asks = append(asks, fmt.Sprintf("assign owners to the %s actions that have none", prose.GroupThousands(s.WithoutOwner)))
		}
	}
	return prose.Capitalize(prose.JoinAnd(asks)) + "."
}
