package analysis

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
)

// factor moves the urgency of a risk, once, wherever its words stand.
type factor struct {
	name string
	what *pattern
	by   float64
}

var riskFactors = []factor{
	{"happening now", re(`exploited in the wild|currently|yesterday|active(?:ly)? (?:attack|exploit)|attackers? (?:hold|have|are)|still valid|under way|encrypted .{0,30}servers`), 30},
	{"no login needed", re(`unauthenticated|remote code execution|lets anyone|anyone (?:can|may)|public repository|internet-facing|publicly`), 18},
	{"takes over systems", re(`ransomware|domain administrator|remote code execution|sql injection|full control|administrator rights`), 18},
	{"people's data", re(`personal data|customer data|customers\b|patients?|health data|passwords?|credentials|subscribers|users in|users\.|data subjects?|employees?\b`), 10},
	{"special data", re(`health|patients?|biometric|genetic|children|keystrokes|criminal`), 10},
	{"special data leaves the law's reach", re(`(?:health|patients?|biometric|genetic)[^.]{0,120}third country`), 10},
	{"at scale", re(`\b\d+(?:\.\d+)? ?(?:m|million)\b|\b\d{2,3},\d{3}\b|all (?:customers|workloads|staff)`), 8},
	{"a protection is missing", re(`missing|no (?:multi-factor|failover|encryption|data processing|legal basis|mfa)|not encrypted|unsalted|without (?:a |any )?(?:transfer|legal|salt|encryption|consent)|never been|unsupported|nothing was started|before consent|were skipped|undefined|stayed active|readable by all|demands|hard-coded|manual`), 12},
	{"a core safeguard", re(`multi-factor|backups?|encryption keys|administrator|failover|single point of failure|any developer|transfer mechanism|legal basis|salt`), 14},
	{"the business stands or falls with it", re(`revenue|stops? all|all workloads|a day\b|payment|ledger|hospital|card acceptance|fintech|listed company|insurance|notar|outage|settlements`), 10},
	{"a deadline presses", re(`deadline|expires in (?:one|two|three|\d+) (?:weeks?|days)|\bin (?:one|two) weeks|legal month|within 30 days|30 days to`), 14},
	{"a regulator's clock runs", re(`regulator gave|deadline of \d+ days|order of the (?:regulator|authority)`), 12},
	{"it is out of date", re(`years old|outdated|out of support|average ten days late`), 16},
	{"people are misled", re(`click rate|phishing`), 16},
	{"a regulator or the law", re(`regulator|gdpr|dora|nis ?2|pci|legal (?:basis|month)|fine|authority|third country|works council|transfer mechanism`), 12},
}

// pressing factors alone make a risk critical: it happens, anyone can make it happen, a
// regulator waits, or data that can't be taken back is concerned.
var pressing = map[string]bool{"happening now": true, "no login needed": true, "special data leaves the law's reach": true, "a regulator's clock runs": true}

const criticalFrom = 80

var riskDampers = []factor{
	{"nothing that matters is on it", re(`test server|without data|no customers|brochure|stationery|printers|wiki|banner reveals|internal tool|six people`), 22},
	{"a formality", re(`wording|names a former|minor|documentation|overdue by|verbose|lacks an owner|questionnaire`), 24},
	{"behind a door", re(`behind vpn|internal (?:test|printers|wiki|tool|servers?)|office network`), 10},
	{"as others are", re(`industry average|low-tier|average is similar|low risk|two regions`), 8},
}

var (
	cvss  = re(`cvss[^0-9]{0,12}(\d{1,2}(?:\.\d)?)`)
	money = re(`(\d+(?:[.,]\d+)*)\s*(m|million|k|thousand|bn|billion)?\s*(eur|usd|gbp|chf|€|\$|£)\s*(a|per)?\s*(day|year|month)?|(€|\$|£)\s*(\d+(?:[.,]\d+)*)\s*(m|million|k|thousand|bn|billion)?`)
)

// Risk says a technical risk in a board's words, and how urgent it is: a base, moved by
// what the text says of exposure, of what is at stake and of time.
func Risk(_ context.Context, description, category, business string) (*api.RiskTranslation, Signs) {
	var signs Signs
	d, b := read(description), read(business)
	all := text{whole: d.whole + " . " + b.whole, clauses: append(append([]string{}, d.clauses...), b.clauses...)}
	urgency := 26.0
	var because []string
	for _, f := range riskFactors {
		if m, ok := all.mentions(f.what); ok {
			urgency += f.by
			because = append(because, f.name)
			signs.add("raises", m, fmt.Sprintf("%s: +%.0f", f.name, f.by))
		}
	}
	for _, f := range riskDampers {
		if m, ok := all.mentions(f.what); ok {
			urgency -= f.by
			signs.add("lowers", m, fmt.Sprintf("%s: −%.0f", f.name, f.by))
		}
	}
	if m := cvss.FindStringSubmatch(d.whole); m != nil {
		if score, err := strconv.ParseFloat(m[1], 64); err == nil && score <= 10 {
			urgency = max(urgency, score*9)
			signs.add("cvss", m[0], "a published score")
		}
	}
	if !slices.ContainsFunc(because, func(b string) bool { return pressing[b] }) {
		urgency = min(urgency, criticalFrom-1)
	}
	answer := answered()
	if notRead(&answer.Limitations, &signs, description, business) {
		urgency = max(urgency, 34)
	}
	urgency = bounded(urgency, 3, 99)
	band := Band(urgency)
	out := &api.RiskTranslation{Analysed: answer, UrgencyMetric: urgency,
		ExecutiveSummary:         summary(d, category, band, because),
		FinancialImpactEstimate:  financial(b, d, band, &signs),
		RegulatoryImpact:         regulatory(all, category, &signs),
		BoardLevelRecommendation: recommendation(band, because),
	}
	return out, signs
}

// Band names the urgency of a figure from 0 to 100.
func Band(urgency float64) string {
	switch {
	case urgency >= criticalFrom:
		return "critical"
	case urgency >= 56:
		return "high"
	case urgency >= 34:
		return "medium"
	}
	return "low"
}

func summary(d text, category, band string, because []string) string {
	first := clip(d.whole, 320)
	why := "Nothing in the description makes it pressing."
	if len(because) > 0 {
		why = "It weighs because: " + strings.Join(because, ", ") + "."
	}
	return fmt.Sprintf("A %s risk of %s urgency. In the words it was reported: %s %s", category, band, strings.TrimRight(first, ".")+".", why)
}

func financial(b, d text, band string, signs *Signs) string {
	for _, t := range []text{b, d} {
		if m := money.FindString(t.whole); m != "" {
			signs.add("money", m, "the figure that is at stake")
			return fmt.Sprintf("The context names %s. That is what is exposed, not what a loss would be; the share at risk has to be estimated by the business.", strings.TrimSpace(m))
		}
	}
	return fmt.Sprintf("No figure was given, so none is invented. At %s urgency, ask the business for the cost of a day without the service and of telling those concerned.", band)
}

var laws = []struct {
	what *pattern
	says string
}{
	{re(`personal data|customer data|patients?|health data|data subject|employees?|subscribers|cookie|privacy notice|leads|users\b|customers\b`), "Data protection law (GDPR where people in the EU are concerned): a breach is notified within 72 hours where it puts people at risk"},
	{re(`third country|transfer mechanism`), "transfers to third countries need a mechanism (GDPR chapter V)"},
	{re(`pci|card`), "PCI DSS: the acquirer may restrict card acceptance"},
	{re(`dora|payment institution|bank|fintech|insurance`), "financial supervision (DORA): major incidents and ICT risk are reported to the supervisor"},
	{re(`soc 2`), "the SOC 2 report may carry an exception"},
	{re(`hospital|patients?|energy|water|telecom`), "rules for essential services (NIS2) with short reporting times"},
	{re(`contract with|contract worth|demands`), "a duty under contract"},
}

func regulatory(all text, category string, signs *Signs) string {
	var of []string
	for _, l := range laws {
		if m, ok := all.mentions(l.what); ok {
			of = append(of, l.says)
			signs.add("law", m, l.says)
		}
	}
	if len(of) == 0 {
		return "Nothing in the description points to a particular law; a lawyer should confirm that for the category " + category + "."
	}
	return strings.Join(once(of, 5), "; ") + "."
}

func recommendation(band string, because []string) string {
	why := ""
	if len(because) > 0 {
		why = " The first question to management: what is done today about “" + because[0] + "”?"
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
