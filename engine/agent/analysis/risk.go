package analysis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
)

// factor changes the urgency of a risk once, however often its words occur.
type factor struct {
	name    string
	pattern *pattern
	weight  float64
}

var riskFactors = []factor{
	{
		"happening now",
		compileFold(
			`exploited in the wild|currently|yesterday|active(?:ly)? (?:attack|exploit)|attackers? (?:hold|have|are)|still valid|under way|encrypted .{0,30}servers`,
		),
		30,
	},
	{
		"no login needed",
		compileFold(`unauthenticated|remote code execution|lets anyone|anyone (?:can|may)|public repository|internet-facing|publicly`),
		18,
	},
	{
		"takes over systems",
		compileFold(`ransomware|domain administrator|remote code execution|sql injection|full control|administrator rights`),
		18,
	},
	{
		"people's data",
		compileFold(
			`personal data|customer data|customers\b|patients?|health data|passwords?|credentials|subscribers|users in|users\.|data subjects?|employees?\b`,
		),
		10,
	},
	{"special data", compileFold(`health|patients?|biometric|genetic|children|keystrokes|criminal`), 10},
	{"special data leaves the law's reach", compileFold(`(?:health|patients?|biometric|genetic)[^.]{0,120}third country`), 10},
	{"at scale", compileFold(`\b\d+(?:\.\d+)? ?(?:m|million)\b|\b\d{2,3},\d{3}\b|all (?:customers|workloads|staff)`), 8},
	{
		"a protection is missing",
		compileFold(
			`missing|no (?:multi-factor|failover|encryption|data processing|legal basis|mfa)|not encrypted|unsalted|without (?:a |any )?(?:transfer|legal|salt|encryption|consent)|never been|unsupported|nothing was started|before consent|were skipped|undefined|stayed active|readable by all|demands|hard-coded|manual`,
		),
		12,
	},
	{
		"a core safeguard",
		compileFold(
			`multi-factor|backups?|encryption keys|administrator|failover|single point of failure|any developer|transfer mechanism|legal basis|salt`,
		),
		14,
	},
	{
		"the business stands or falls with it",
		compileFold(
			`revenue|stops? all|all workloads|a day\b|payment|ledger|hospital|card acceptance|fintech|listed company|insurance|notar|outage|settlements`,
		),
		10,
	},
	{
		"a deadline presses",
		compileFold(
			`deadline|expires in (?:one|two|three|\d+) (?:weeks?|days)|\bin (?:one|two) weeks|legal month|within 30 days|30 days to`,
		),
		14,
	},
	{"a regulator's clock runs", compileFold(`regulator gave|deadline of \d+ days|order of the (?:regulator|authority)`), 12},
	{"it is out of date", compileFold(`years old|outdated|out of support|average ten days late`), 16},
	{"people are misled", compileFold(`click rate|phishing`), 16},
	{
		"a regulator or the law",
		compileFold(`regulator|gdpr|dora|nis ?2|pci|legal (?:basis|month)|fine|authority|third country|works council|transfer mechanism`),
		12,
	},
}

// pressingFactors make a risk critical on their own: it is happening, anyone can cause it, a
// regulator is waiting, or data can't be recovered.
var pressingFactors = map[string]bool{
	"happening now":                       true,
	"no login needed":                     true,
	"special data leaves the law's reach": true,
	"a regulator's clock runs":            true,
}

const minCriticalUrgency = 80

var riskReducers = []factor{
	{
		"nothing that matters is on it",
		compileFold(`test server|without data|no customers|brochure|stationery|printers|wiki|banner reveals|internal tool|six people`),
		22,
	},
	{"a formality", compileFold(`wording|names a former|minor|documentation|overdue by|verbose|lacks an owner|questionnaire`), 24},
	{"behind a door", compileFold(`behind vpn|internal (?:test|printers|wiki|tool|servers?)|office network`), 10},
	{"as others are", compileFold(`industry average|low-tier|average is similar|low risk|two regions`), 8},
}

var (
	cvssPattern  = compileFold(`cvss[^0-9]{0,12}(\d{1,2}(?:\.\d)?)`)
	moneyPattern = compileFold(
		`(\d+(?:[.,]\d+)*)\s*(m|million|k|thousand|bn|billion)?\s*(eur|usd|gbp|chf|€|\$|£)\s*(a|per)?\s*(day|year|month)?|(€|\$|£)\s*(\d+(?:[.,]\d+)*)\s*(m|million|k|thousand|bn|billion)?`,
	)
)

// TranslateRisk expresses a technical risk in executive terms with its urgency: a base value
// adjusted for exposure, impact and time pressure found in the text.
func TranslateRisk(_ context.Context, description, category, business string) (*api.RiskTranslation, Indicators) {
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
			signs.add("cvss", m[0], "a published score")
		}
	}
	if !slices.ContainsFunc(reasons, func(b string) bool { return pressingFactors[b] }) {
		urgency = min(urgency, minCriticalUrgency-1)
	}
	answer := newAnalysed()
	if noteForeignLanguage(&answer.Limitations, &signs, description, business) {
		urgency = max(urgency, 34)
	}
	urgency = clamp(urgency, 3, 99)
	band := UrgencyBand(urgency)
	out := &api.RiskTranslation{
		Analysed: answer, UrgencyMetric: urgency,
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
	why := "Nothing in the description makes it pressing."
	if len(reasons) > 0 {
		why = "It weighs because: " + strings.Join(reasons, ", ") + "."
	}
	return fmt.Sprintf(
		"A %s risk of %s urgency. In the words it was reported: %s %s",
		category,
		band,
		strings.TrimRight(first, ".")+".",
		why,
	)
}

func financialImpact(b, d parsedText, band string, signs *Indicators) string {
	for _, t := range []parsedText{b, d} {
		if m := moneyPattern.FindString(t.body); m != "" {
			signs.add("money", m, "the figure that is at stake")
			return fmt.Sprintf(
				"The context names %s. That is what is exposed, not what a loss would be; the share at risk has to be estimated by the business.",
				strings.TrimSpace(m),
			)
		}
	}
	return fmt.Sprintf(
		"No figure was given, so none is invented. At %s urgency, ask the business for the cost of a day without the service "+
			"and of telling those concerned.",
		band,
	)
}

var laws = []struct {
	what *pattern
	says string
}{
	{
		compileFold(
			`personal data|customer data|patients?|health data|data subject|employees?|subscribers|cookie|privacy notice|leads|users\b|customers\b`,
		),
		"Data protection law (GDPR where people in the EU are concerned): a breach is notified within 72 hours where it puts people at risk",
	},
	{compileFold(`third country|transfer mechanism`), "transfers to third countries need a mechanism (GDPR chapter V)"},
	{compileFold(`pci|card`), "PCI DSS: the acquirer may restrict card acceptance"},
	{
		compileFold(`dora|payment institution|bank|fintech|insurance`),
		"financial supervision (DORA): major incidents and ICT risk are reported to the supervisor",
	},
	{compileFold(`soc 2`), "the SOC 2 report may carry an exception"},
	{compileFold(`hospital|patients?|energy|water|telecom`), "rules for essential services (NIS2) with short reporting times"},
	{compileFold(`contract with|contract worth|demands`), "a duty under contract"},
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
		return "Nothing in the description points to a particular law; a lawyer should confirm that for the category " + category + "."
	}
	return strings.Join(uniqueStrings(names, 5), "; ") + "."
}

func boardRecommendation(band string, reasons []string) string {
	why := ""
	if len(reasons) > 0 {
		why = " The first question to management: what is done today about “" + reasons[0] + "”?"
	}
	switch band {
	case "critical":
		return "Decide now: name one accountable executive, release the means today and ask for a report within 24 hours." + why
	case "high":
		return "Decide at the next meeting at the latest: an owner, a budget and a date within 30 days." + why
	case "medium":
		return "Note it, and ask for a plan with an owner and a date within the quarter." + why
	}
	return "No decision by the board is needed; it is handled in the ordinary course and reported with the others."
}
