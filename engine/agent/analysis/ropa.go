package analysis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// criterion is a named pattern, such as a criterion of high-risk processing as listed by supervisory
// authorities.
type criterion struct {
	name    string
	pattern *pattern
}

var (
	specialCategories = criterion{
		"special categories or criminal data",
		compileIgnoringCase(
			`health|diagnos\w+|patients?|medical|genetic|biometric\w*|fingerprints?|facial recognition|religio\w*|trade union|political opinions?|sexual|ethnic\w*|criminal|suspected crimes|blood type|allerg\w+|heart.?rate|disab\w+|telemedicine`,
		),
	}
	vulnerablePeople = criterion{
		"vulnerable people",
		compileIgnoringCase(
			`\bchild(?:ren)?\b|pupils?|minors\b|schools?\b|patients?|asylum|elderly|unconscious|accused persons|(?:of|staff|factory|field|800|300) ?(?:workers|employees)\b|applicants? in video|behaviour (?:notes|scores)`,
		),
	}
	systematicMonitoring = criterion{
		"systematic monitoring",
		compileIgnoringCase(
			`gps\b|location (?:of|tracking)|tracking of|public (?:square|space)|keystroke|all day|every 15 minutes|15-minute|monitor(?:s|ing) (?:software|of)|emotions?\b|video surveillance of the staff|with sound|predictive policing`,
		),
	}
	evaluationOrScoring = criterion{
		"evaluation or scoring",
		compileIgnoringCase(
			`scor(?:e|es|ing)\b|profil(?:e|es|ing)\b|rate their performance|targeted adverts|machine learning|behaviour notes|predict\w*|emotions?\b|bias\b`,
		),
	}
	automatedDecisions = criterion{
		"automated decisions with significant effect",
		compileIgnoringCase(`automated? (?:\w+ )?decisions?|automatically|automatic blocking|without human|credit scoring`),
	}
	largeScale = criterion{
		"large scale",
		compileIgnoringCase(`million|\b\d+ ?m\b|\b\d{2,3},\d{3}\b|households|all (?:card|transactions)|public school board|population`),
	}
	newTechnology = criterion{
		"new technology",
		compileIgnoringCase(
			`facial recognition|fingerprint|\bai\b|machine learning|language model|wearables?|smart meters?|emotion|biometric|genetic|internet of things`,
		),
	}
	combinedData = criterion{
		"data shared or combined beyond the purpose",
		compileIgnoringCase(`shares? it with insurers|with insurers|ad partners|sells?\b|published openly|analytics provider|combine`),
	}
	sensitiveData = criterion{
		"data that would cause harm if lost",
		compileIgnoringCase(
			`bank account|salary|tax id|passport|identity documents|credit|income|cctv|badges?|register of residents|interview notes|\bcvs?\b|call centre|location|surveillance|finger`,
		),
	}
)

var riskCriteria = []criterion{
	specialCategories,
	vulnerablePeople,
	systematicMonitoring,
	evaluationOrScoring,
	automatedDecisions,
	largeScale,
	newTechnology,
	combinedData,
}

type legalBasisRule struct {
	name    string
	pattern *pattern
	weight  float64
}

var legalBasisRules = []legalBasisRule{
	{"vital_interests", compileIgnoringCase(`unconscious|save (?:a |their )?li(?:fe|ves)|emergency service|life-threatening`), 4},
	{"consent", compileIgnoringCase(`(?:explicit )?consent|ticked a box|opt.?in|agreement; destroyed|participant's agreement|voluntar\w+`), 3},
	{
		"legal_obligation",
		compileIgnoringCase(
			`(?:the )?law (?:demands?|obliges|requires)|laws? demand|by law|act (?:requires|prescribes)|as the [\w-]+ act|report to the tax office|legally required|obliges|statutory|tax law`,
		),
		3.2,
	},
	{"public_task", compileIgnoringCase(`public school|municipality|public authority|hospital records|ministry|police`), 2.5},
	{
		"contract",
		compileIgnoringCase(
			`contract|payroll|wages|orders?\b|deliver what|booking|to bill\b|purchase|bought|applications?\b|members\b|treatment|loan|ordered|support tickets?|delivery of`,
		),
		2,
	},
	{
		"legitimate_interests",
		compileIgnoringCase(
			`prevent theft|fraud|security\b|keep in touch|cctv|analytics|visitor|plan routes|legitimate interest|marketing|badges?`,
		),
		1.9,
	},
}

// controlRules lists the controls that follow from a property of the processing.
var controlRules = []struct {
	code string
	when *pattern // nil means always
	why  string
}{
	{"PRI-14", nil, "every processing activity must be in the record of processing"},
	{"PRI-02", nil, "people must be informed about how their data is used"},
	{"PRI-05", nil, "a retention period must be set"},
	{"PRI-06", nil, "people have a right of access to their data"},
	{"PRI-03", compileIgnoringCase(`consent|ticked|opt.?in|agreement`), "the processing relies on consent, which " +
		"must be provable and can be withdrawn"},
	{
		"CRY-05",
		compileIgnoringCase(specialCategories.pattern.String()[4:] + `|bank|salary|passport|identity|credit|children`),
		"sensitive data must be encrypted",
	},
	{
		"IAC-08",
		compileIgnoringCase(specialCategories.pattern.String()[4:] + `|bank|salary|staff|employees|whistle`),
		"access must be limited to those who need it",
	},
	{"RSK-10", nil, ""}, // only if an assessment is required
	{
		"PRI-07",
		compileIgnoringCase(`shares?|shared|transfer\w*|insurers|partners|vendor|provider|call centre|ambulance`),
		"data is disclosed to others",
	},
	{"TPM-05", compileIgnoringCase(`vendor|provider|call centre|processor|cloud|host`), "a third party processes the data"},
	{
		"CLD-09",
		compileIgnoringCase(`transfer\w*|philippines|third country|\busa?\b|india|abroad`),
		"data leaves the country; the locations and the transfer mechanism must be known",
	},
	{"PES-05", compileIgnoringCase(`cctv|video|surveillance|badges?`), "the processing involves cameras or physical access control"},
	{
		"AAT-10",
		compileIgnoringCase(`machine learning|\bai\b|language model|facial recognition|automated decisions?|automatically|scoring`),
		"an automated system evaluates people",
	},
	{"AAT-22.1", compileIgnoringCase(`automated decisions?|automatically|scoring|\bai\b|emotion`), "a person must be able to intervene"},
	{"PRI-05.3", compileIgnoringCase(`anonymi|pseudonym|research|analytics`), "the data can be anonymized or pseudonymized"},
	{"PRI-04", compileIgnoringCase(`gps|location|every 15|all day|profiles?|tracking|fingerprint`), "the processing may collect more data than needed"},
}

// AnalyzeRoPA analyzes the description of a processing activity: its risk, its possible legal basis and
// the controls it requires.
func AnalyzeRoPA(_ context.Context, description string, controls Controls) (analysis *api.RoPAAnalysis, indicators Indicators) {
	var signs Indicators
	t := parseText(description)
	out := &api.RoPAAnalysis{AnalysisMetadata: newAnalysisMetadata(), RequiredControls: []api.RequiredControl{}}
	marks, points := findRiskMarks(t, &signs)
	_, small := t.findMention(compileIgnoringCase(`anonymised|no cookies|visitor book`))
	_, sens := t.findAffirmedClause(sensitiveData.pattern)
	switch {
	case small && points == 0:
		out.SuggestedRiskLevel = "low"
	case points >= 2 || marks[specialCategories.name] || marks[automatedDecisions.name]:
		out.SuggestedRiskLevel = "high"
	case points >= 1 || sens:
		out.SuggestedRiskLevel = "medium"
	default:
		out.SuggestedRiskLevel = "low"
	}
	if addNonEnglishLimitation(&out.Limitations, &signs, description) && out.SuggestedRiskLevel == "low" {
		out.SuggestedRiskLevel = "medium"
	}
	out.IsDPIARequired = points >= 2 || marks[automatedDecisions.name] || marks[specialCategories.name] && !mentionsMembershipList(t)
	if out.IsDPIARequired {
		signs.add("dpia", fmt.Sprintf("%d criteria met", points), "an impact assessment is required")
	}
	out.SuggestedLegalBasis = suggestLegalBasis(t, &signs)
	for _, d := range controlRules {
		why := d.why
		switch {
		case d.code == "RSK-10" && !out.IsDPIARequired:
			continue
		case d.code == "RSK-10":
			why = "because of the risk, an impact assessment is required before the processing begins"
		case d.when != nil:
			m, ok := t.findAffirmedClause(d.when)
			if !ok {
				continue
			}
			signs.add("control", m, d.code+": "+d.why)
		}
		if controls == nil {
			continue
		}
		if c, err := controls.Control(d.code); err == nil {
			out.RequiredControls = append(out.RequiredControls, api.RequiredControl{ControlID: c.Code, Name: c.Title, Reason: why})
		}
	}
	return out, signs
}

// mentionsMembershipList reports whether the text mentions a membership list.
func mentionsMembershipList(t parsedText) bool {
	_, list := t.findMention(compileIgnoringCase(`membership list`))
	return list
}

// findRiskMarks returns the high-risk criteria that a text meets, and their number.
func findRiskMarks(t parsedText, signs *Indicators) (map[string]bool, int) {
	marks := map[string]bool{}
	for _, c := range riskCriteria {
		if m, ok := t.findAffirmedClause(c.pattern); ok {
			if c.name == largeScale.name && !isLargeScale(m) {
				continue
			}
			marks[c.name] = true
			signs.add("mark", m, c.name)
		}
	}
	return marks, len(marks)
}

var peopleCountPattern = lazyregexp.New(`\b(\d{1,3}(?:,\d{3})+|\d{4,})\b`)

// isLargeScale reports whether the text describes large-scale processing, either in words or by a figure
// of at least ten thousand people.
func isLargeScale(s string) bool {
	if compileIgnoringCase(`million|\b\d+ ?m\b|households|all (?:card|transactions)|public school board|population`).MatchString(s) {
		return true
	}
	for _, m := range peopleCountPattern.FindAllString(s, -1) {
		if n, err := strconv.Atoi(strings.ReplaceAll(m, ",", "")); err == nil && n >= 10000 {
			return true
		}
	}
	return false
}

func suggestLegalBasis(t parsedText, signs *Indicators) string {
	best, at := "legitimate_interests", 0.0
	for _, b := range legalBasisRules {
		if m, ok := t.findAffirmedClause(b.pattern); ok && b.weight > at {
			best, at = b.name, b.weight
			signs.add("basis", m, b.name)
		}
	}
	if at == 0 {
		signs.add("basis", "", "nothing indicates another basis; document a legitimate interests assessment")
	}
	return best
}
