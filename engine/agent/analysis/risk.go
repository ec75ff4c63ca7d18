package analysis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
)

// factor is an influence on the urgency of a risk. It counts once, however often its words occur.
type factor struct {
	name    string
	pattern *pattern
	weight  float64
}

var riskFactors = []factor{
	{
		"active exploitation",
		compileIgnoringCase(
			`exploited in the wild|currently|yesterday|active(?:ly)? (?:attack|exploit)|attackers? (?:hold|have|are)|still valid|under way|encrypted .{0,30}servers`,
		),
		30,
	},
	{
		"exposed without authentication",
		compileIgnoringCase(`unauthenticated|remote code execution|lets anyone|anyone (?:can|may)|public repository|internet-facing|publicly`),
		18,
	},
	{
		"system takeover possible",
		compileIgnoringCase(`ransomware|domain administrator|remote code execution|sql injection|full control|administrator rights`),
		18,
	},
	{
		"personal data affected",
		compileIgnoringCase(
			`personal data|customer data|customers\b|patients?|health data|passwords?|credentials|subscribers|users in|users\.|data subjects?|employees?\b`,
		),
		10,
	},
	{"special categories of data affected", compileIgnoringCase(`health|patients?|biometric|genetic|children|keystrokes|criminal`), 10},
	{"special categories of data transferred to a third country", compileIgnoringCase(`(?:health|patients?|biometric|genetic)[^.]{0,120}third country`), 10},
	{"large scale", compileIgnoringCase(`\b\d+(?:\.\d+)? ?(?:m|million)\b|\b\d{2,3},\d{3}\b|all (?:customers|workloads|staff)`), 8},
	{
		"missing safeguard",
		compileIgnoringCase(
			`missing|no (?:multi-factor|failover|encryption|data processing|legal basis|mfa)|not encrypted|unsalted|without (?:a |any )?(?:transfer|legal|salt|encryption|consent)|never been|unsupported|nothing was started|before consent|were skipped|undefined|stayed active|readable by all|demands|hard-coded|manual`,
		),
		12,
	},
	{
		"core safeguard affected",
		compileIgnoringCase(
			`multi-factor|backups?|encryption keys|administrator|failover|single point of failure|any developer|transfer mechanism|legal basis|salt`,
		),
		14,
	},
	{
		"business-critical",
		compileIgnoringCase(
			`revenue|stops? all|all workloads|a day\b|payment|ledger|hospital|card acceptance|fintech|listed company|insurance|notar|outage|settlements`,
		),
		10,
	},
	{
		"approaching deadline",
		compileIgnoringCase(
			`deadline|expires in (?:one|two|three|\d+) (?:weeks?|days)|\bin (?:one|two) weeks|legal month|within 30 days|30 days to`,
		),
		14,
	},
	{"regulatory deadline running", compileIgnoringCase(`regulator gave|deadline of \d+ days|order of the (?:regulator|authority)`), 12},
	{"outdated systems or practices", compileIgnoringCase(`years old|outdated|out of support|average ten days late`), 16},
	{"phishing exposure", compileIgnoringCase(`click rate|phishing`), 16},
	{
		"legal or regulatory exposure",
		compileIgnoringCase(`regulator|gdpr|dora|nis ?2|pci|legal (?:basis|month)|fine|authority|third country|works council|transfer mechanism`),
		12,
	},
}

// pressingFactors are factors that make a risk critical on their own: the attack is under way, anyone can cause the
// damage, a regulator is waiting, or data can't be recovered.
var pressingFactors = map[string]bool{
	"active exploitation":                                       true,
	"exposed without authentication":                            true,
	"special categories of data transferred to a third country": true,
	"regulatory deadline running":                               true,
}

const minCriticalUrgency = 80

var riskReducers = []factor{
	{
		"low-value asset",
		compileIgnoringCase(`test server|without data|no customers|brochure|stationery|printers|wiki|banner reveals|internal tool|six people`),
		22,
	},
	{"formal finding", compileIgnoringCase(`wording|names a former|minor|documentation|overdue by|verbose|lacks an owner|questionnaire`), 24},
	{"not exposed to the internet", compileIgnoringCase(`behind vpn|internal (?:test|printers|wiki|tool|servers?)|office network`), 10},
	{"in line with peers", compileIgnoringCase(`industry average|low-tier|average is similar|low risk|two regions`), 8},
}

var (
	cvssPattern  = compileIgnoringCase(`cvss[^0-9]{0,12}(\d{1,2}(?:\.\d)?)`)
	moneyPattern = compileIgnoringCase(
		`(\d+(?:[.,]\d+)*)\s*(m|million|k|thousand|bn|billion)?\s*(eur|usd|gbp|chf|€|\$|£)\s*(a|per)?\s*(day|year|month)?|(€|\$|£)\s*(\d+(?:[.,]\d+)*)\s*(m|million|k|thousand|bn|billion)?`,
	)
)

// TranslateRisk expresses a technical risk in executive terms with its urgency: a base value
// adjusted for exposure, impact and time pressure found in the text.
func TranslateRisk(_ context.Context, description, category, business string) (translation *api.RiskTranslation, indicators Indicators) {
	var signs Indicators
	d, b := parseText(description), parseText(business)
	all := parsedText{body: d.body + " . " + b.body, clauses: append(append([]string{}, d.clauses...), b.clauses...)}
	urgency := 26.0
	var reasons []string
	for _, f := range riskFactors {
		if m, ok := all.findMention(f.pattern); ok {
			urgency += f.weight
			reasons = append(reasons, f.name)
			signs.add("raises", m, fmt.Sprintf("%s: +%.0f", f.name, f.weight))
		}
	}
	for _, f := range riskReducers {
		if m, ok := all.findMention(f.pattern); ok {
			urgency -= f.weight
			signs.add("lowers", m, fmt.Sprintf("%s: −%.0f", f.name, f.weight))
		}
	}
	if m := cvssPattern.FindStringSubmatch(d.body); m != nil {
		if score, err := strconv.ParseFloat(m[1], 64); err == nil && score <= 10 {
			urgency = max(urgency, score*9)
			signs.add("cvss", m[0], "published CVSS score")
		}
	}
	if !slices.ContainsFunc(reasons, func(b string) bool { return pressingFactors[b] }) {
		urgency = min(urgency, minCriticalUrgency-1)
	}
	answer := newAnalysisMetadata()
	if addNonEnglishLimitation(&answer.Limitations, &signs, description, business) {
		urgency = max(urgency, 34)
	}
	urgency = clamp(urgency, 3, 99)
	band := UrgencyBand(urgency)
	out := &api.RiskTranslation{
		AnalysisMetadata: answer, UrgencyMetric: urgency,
		ExecutiveSummary:         executiveSummary(d, category, band, reasons),
		FinancialImpactEstimate:  financialImpact(b, d, band, &signs),
		RegulatoryImpact:         regulatoryImpact(all, category, &signs),
		BoardLevelRecommendation: boardRecommendation(band, reasons),
	}
	return out, signs
}

// UrgencyBand returns the name of an urgency from 0 to 100.
func UrgencyBand(urgency float64) string {
	switch {
	case urgency >= minCriticalUrgency:
		return "critical"
	case urgency >= 56:
		return "high"
	case urgency >= 34:
		return "medium"
	}
	return "low"
}

func executiveSummary(d parsedText, category, band string, reasons []string) string {
	first := truncate(d.body, 320)
	why := "Nothing in the description suggests that the risk is urgent."
	if len(reasons) > 0 {
		why = "Main drivers: " + strings.Join(reasons, ", ") + "."
	}
	return fmt.Sprintf(
		"A %s risk of %s urgency. As reported: %s %s",
		category,
		band,
		strings.TrimRight(first, ".")+".",
		why,
	)
}

func financialImpact(b, d parsedText, band string, signs *Indicators) string {
	for _, t := range []parsedText{b, d} {
		if m := moneyPattern.FindString(t.body); m != "" {
			signs.add("money", m, "amount at stake")
			return fmt.Sprintf(
				"The context mentions %s. That is the exposure, not the expected loss; the business has to estimate the share at risk.",
				strings.TrimSpace(m),
			)
		}
	}
	return fmt.Sprintf(
		"No figure was given, so the cost is not estimated. The urgency is %s: ask the business what one day of "+
			"downtime would cost, and what it would cost to notify the people affected.",
		band,
	)
}

var laws = []struct {
	what *pattern
	says string
}{
	{
		compileIgnoringCase(
			`personal data|customer data|patients?|health data|data subject|employees?|subscribers|cookie|privacy notice|leads|users\b|customers\b`,
		),
		"Data protection law (GDPR for people in the EU): breaches that put people at risk must be notified within 72 hours",
	},
	{compileIgnoringCase(`third country|transfer mechanism`), "transfers to third countries need a legal mechanism (GDPR chapter V)"},
	{compileIgnoringCase(`pci|card`), "PCI DSS: the acquirer may restrict card acceptance"},
	{
		compileIgnoringCase(`dora|payment institution|bank|fintech|insurance`),
		"financial regulation (DORA): major ICT incidents must be reported to the supervisor",
	},
	{compileIgnoringCase(`soc 2`), "the SOC 2 report may contain an exception"},
	{compileIgnoringCase(`hospital|patients?|energy|water|telecom`), "rules for essential services (NIS2), with short reporting deadlines"},
	{compileIgnoringCase(`contract with|contract worth|demands`), "contractual obligations"},
}

func regulatoryImpact(all parsedText, category string, signs *Indicators) string {
	var names []string
	for _, l := range laws {
		if m, ok := all.findMention(l.what); ok {
			names = append(names, l.says)
			signs.add("law", m, l.says)
		}
	}
	if len(names) == 0 {
		return "Nothing in the description points to a specific law; have counsel confirm this for the category " + category + "."
	}
	return strings.Join(firstUnique(names, 5), "; ") + "."
}

func boardRecommendation(band string, reasons []string) string {
	why := ""
	if len(reasons) > 0 {
		why = " First question for management: what is being done today about “" + reasons[0] + "”?"
	}
	switch band {
	case "critical":
		return "Decide now: name one accountable executive, approve the resources today and ask for a report within 24 hours." + why
	case "high":
		return "Decide by the next meeting: assign an owner and a budget, and set a completion date within 30 days." + why
	case "medium":
		return "Note the risk, and ask for a plan with an owner and a completion date within the quarter." + why
	}
	return "No board decision is needed; handle it in the ordinary course and report it with other risks."
}
