package analysis

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// contractTerm is a term that a processor's contract must contain (GDPR art. 28).
type contractTerm struct {
	name    string
	pattern *pattern
	message string
}

var processorTerms = []contractTerm{
	{
		"instructions",
		compileIgnoringCase(`(?:documented|written) instructions?|instructions of the (?:controller|customer)|dokumentierte?n? weisung`),
		"The vendor is not bound to documented instructions.",
	},
	{"confidentiality", compileIgnoringCase(`confidential\w*|secrecy|vertraulich\w*`), "Staff are not bound to confidentiality."},
	{
		"security",
		compileIgnoringCase(`technical and organi[sz]ational|appropriate (?:technical|security)|security measures|technische und organisatorische`),
		"No technical and organizational security measures are specified.",
	},
	{"data subjects", compileIgnoringCase(`data subjects?|betroffenen\w*`), "The vendor doesn't agree to assist with data subject requests."},
	{"breach", compileIgnoringCase(`breach\w*|datenschutzverletzung\w*`), "The vendor has no duty to report personal data breaches."},
	{
		"deletion",
		compileIgnoringCase(`delet\w+|eras\w+|return(?:ed|s|ing)?\b|löschung|vernicht\w+`),
		"The contract doesn't require data to be returned or deleted when it ends.",
	},
	{
		"audit", compileIgnoringCase(`audits?\b|inspect\w*|kontrollrechte?|prüfungsrechte?`),
		"The customer has no right to audit or inspect the vendor.",
	},
	{
		"sub-processor",
		compileIgnoringCase(`sub-?processors?|other processors?|no other processor|subcontractors?|unterauftragsverarbeiter`),
		"The contract has no rules for sub-processors.",
	},
}

var (
	standardClauses = compileIgnoringCase(`standard contractual clauses|\bsccs?\b|2021/914|standardvertragsklauseln`)
	breachDeadline  = compileIgnoringCase(
		`(?:breach|verletzung)[^.]{0,120}?\b(?:within|binnen|innerhalb von)\s+(\d+)\s*(hours?|days?|stunden|tagen?)`,
	)
	vagueDeadline      = compileIgnoringCase(`(?:breach)[^.]{0,80}\b(?:deems? appropriate|at its discretion|reasonable time|if it chooses)`)
	unlimitedLiability = compileIgnoringCase(
		`(?:liab\w+|haftung)[^.]{0,80}\b(?:unlimited|not (?:be )?limited|without limit|unbegrenzt)|unlimited liability`,
	)
	excludedLiability = compileIgnoringCase(
		`(?:in no event (?:shall|will)[^.]{0,60}be liable|no liability|liability[^.]{0,40}(?:is|are) (?:excluded|disclaimed)|not be liable for any)`,
	)
	liabilityCap = compileIgnoringCase(
		`(?:liab\w+|haftung)[^.;]{0,140}?(?:limited to|not exceed|shall not exceed|capped at|cap(?:\s+of)?:?|begrenzt auf)\s*(.{3,90})`,
	)
	thirdCountry = compileIgnoringCase(
		`\bunited states\b|\busa?\b|\bindia\b|\bsingapore\b|\bchina\b|third countr\w+|outside the (?:eea|eu)|\bphilippines\b|\b(?:Inc|LLC|Pty|Pvt)\b\.?`,
	)
	adequacyMechanism = compileIgnoringCase(`data privacy framework|adequacy|binding corporate rules|no (?:data|transfer)[^.]{0,30}outside`)
	notIncorporated   = compileIgnoringCase(`not (?:a )?part of|not (?:apply|included|incorporated)|do(?:es)? not apply`)
)

// redFlags are terms that a contract should not contain.
var redFlags = []contractTerm{
	{
		"purpose",
		compileIgnoringCase(
			`improve its services|own purposes|product analytics|for their marketing|trains? its|machine-learning models on|combine it with other|own product`,
		),
		"The vendor may use data for its own purposes.",
	},
	{"sell", compileIgnoringCase(`\b(?:sell|sale of)\b`), "The vendor may sell data."},
	{
		"unilateral",
		compileIgnoringCase(`(?:change|amend|modify)[^.]{0,60}(?:at any time|without notice|unilateral)`),
		"The vendor may change the terms unilaterally or without notice.",
	},
	{
		"retention",
		compileIgnoringCase(`retains? all data after|unlimited time|indefinitely|keep copies`),
		"Data is kept after the contract ends instead of being deleted.",
	},
	{"no audit", compileIgnoringCase(`no right to audit|audits? (?:is|are) excluded|may not audit`), "The right to audit is excluded."},
	{
		"indemnity",
		compileIgnoringCase(`customer shall indemnify[^.]{0,120}(?:own|all claims)`),
		"One-sided indemnity: the customer is liable for the vendor's own breaches.",
	},
	{
		"free subcontracting",
		compileIgnoringCase(
			`engage third parties at its discretion|subcontract freely|(?:sub-?processors?|third parties)[^.]{0,80}without (?:prior )?notice`,
		),
		"Sub-processors may be engaged or changed without notice or consent.",
	},
}

// ScanVendorContract returns what a contract says about data protection, and what it lacks.
func ScanVendorContract(_ context.Context, vendor, contract string) (scan *api.VendorScan, indicators Indicators) {
	var signs Indicators
	t := parseText(contract)
	out := &api.VendorScan{AnalysisMetadata: newAnalysisMetadata(), DataSubprocessorsListed: []string{}, RedFlagsForNegotiation: []string{}}
	addNonEnglishLimitation(&out.Limitations, &signs, contract)
	for _, o := range t.instructions {
		signs.add("order", o, "ignored: an instruction to the reader, not a contract term")
	}
	flag := func(s string) { out.RedFlagsForNegotiation = append(out.RedFlagsForNegotiation, s) }
	if m, ok := t.findMention(standardClauses); ok {
		where := sentenceContaining(t.body, m)
		out.HasStandardContractualClauses = !notIncorporated.MatchString(where)
		signs.add("standard_clauses", where, fmt.Sprint(out.HasStandardContractualClauses))
	}
	out.DataSubprocessorsListed = findSubprocessors(t.body)
	has := 0
	for _, p := range processorTerms {
		where, found := t.findAffirmedClause(p.pattern)
		if !found && p.name == "sub-processor" { // "uses no sub-processors" also settles this term
			where, found = t.findMention(p.pattern)
		}
		if p.name == "sub-processor" && len(out.DataSubprocessorsListed) > 0 {
			found = true
		}
		if found && isTermUndermined(p.name, t) {
			found = false
		}
		if found {
			has++
			signs.add("term_"+strings.ReplaceAll(p.name, " ", "_"), where, "covered by the contract")
			continue
		}
		flag(p.message)
		signs.add("lacks_"+strings.ReplaceAll(p.name, " ", "_"), "", p.message)
	}
	for _, f := range redFlags {
		if m, ok := t.findMention(f.pattern); ok {
			flag(f.message)
			signs.add("red_flag", m, f.message)
		}
	}
	out.LiabilityCapIdentified = findLiability(t, vendor, flag, &signs)
	if m, ok := t.findMention(thirdCountry); ok && !out.HasStandardContractualClauses {
		if _, other := t.findMention(adequacyMechanism); !other {
			flag("Data may be transferred to a third country (" + m + ") without a named transfer mechanism.")
			signs.add("transfer", m, "no transfer mechanism")
		}
	}
	if m := breachDeadline.FindStringSubmatch(t.body); m != nil && isLaterThan72Hours(m[1], m[2]) {
		flag("Breach notification is too late: within " + m[1] + " " + m[2] + ", while the controller has 72 hours.")
	}
	out.RedFlagsForNegotiation = firstUnique(out.RedFlagsForNegotiation, 30)
	out.IsDPACompliant = has == len(processorTerms)
	return out, signs
}

// isTermUndermined reports whether the rest of the contract withdraws a term or makes it ineffective.
func isTermUndermined(termName string, t parsedText) bool {
	switch termName {
	case "breach":
		_, vague := t.findMention(vagueDeadline)
		_, notifies := t.findMention(compileIgnoringCase(`(?:notif|inform|report|tell|announc|meldung|breach notice)\w*`))
		m := breachDeadline.FindStringSubmatch(t.body)
		return vague || !notifies || m != nil && isLaterThan72Hours(m[1], m[2])
	case "deletion":
		_, kept := t.findMention(redFlags[3].pattern)
		return kept
	case "audit":
		_, no := t.findMention(redFlags[4].pattern)
		return no
	case "sub-processor":
		_, free := t.findMention(redFlags[6].pattern)
		return free
	}
	return false
}

func isLaterThan72Hours(n, unit string) bool {
	hours := 0
	if _, err := fmt.Sscan(n, &hours); err != nil {
		return true
	}
	if strings.HasPrefix(strings.ToLower(unit), "d") || strings.HasPrefix(strings.ToLower(unit), "t") {
		hours *= 24
	}
	return hours > 72
}

// findLiability describes the liability provisions of a contract. It flags those that are unfavorable.
func findLiability(t parsedText, vendor string, flag func(string), signs *Indicators) string {
	if m, ok := t.findMention(unlimitedLiability); ok {
		signs.add("liability", m, "unlimited")
		return "unlimited (" + truncate(m, 120) + ")"
	}
	if m := liabilityCap.FindStringSubmatch(t.body); m != nil {
		amount := strings.TrimRight(truncate(cutAtSentenceEnd(m[1]), 90), " .")
		signs.add("liability", m[0], "capped")
		if compileIgnoringCase(`fees paid in the last (?:one|two|three|six|\d) months|fees`).MatchString(amount) &&
			compileIgnoringCase(`(?:one|two|three|six|[1-6])\W`).MatchString(amount+" ") {
			flag("The liability cap is low: " + amount + ".")
		}
		return amount
	}
	if m, ok := t.findMention(excludedLiability); ok {
		signs.add("liability", m, "excluded")
		flag("Liability is excluded" + vendorSuffix(vendor) + ".")
		return "excluded (" + truncate(m, 120) + ")"
	}
	flag("This excerpt contains no liability cap or other liability provision.")
	return "not identified"
}

func vendorSuffix(v string) string {
	if v = strings.TrimSpace(v); v != "" {
		return " for " + truncate(v, 60)
	}
	return ""
}

// cutAtSentenceEnd cuts a text that starts with an amount at the end of the sentence, ignoring decimal points.
func cutAtSentenceEnd(s string) string {
	if at := regexp.MustCompile(`\.\s|;|\.$`).FindStringIndex(s); at != nil {
		return s[:at[0]]
	}
	return s
}

func sentenceContaining(s, part string) string {
	for _, one := range regexp.MustCompile(`\.\s+|\n`).Split(s, -1) {
		if strings.Contains(one, part) {
			return one
		}
	}
	return part
}

var (
	subprocessorIntro = compileIgnoringCase(
		`(?:sub-?processors?|subcontractors)(?:[^.:]{0,60}?)(?::| are | is |\bengaged:)\s*|list of sub-?processors:?\s*|sub-processor\s+`,
	)
	companyPattern = lazyregexp.New(
		`\b[A-Z][\w&'-]*(?: [A-Z][\w&'-]*){0,5}(?:,? (?:Inc|LLC|Ltd|GmbH|SARL|SAS|AG|BV|NV|SA|SE|Corp|Pty Ltd|Pvt Ltd|PLC|S\.à r\.l)\b\.?)|\b(?:Amazon Web Services|Google Cloud|Microsoft Azure|Cloudflare|Zendesk|Twilio|Snowflake|Datadog)\b`,
	)
)

// findSubprocessors returns the companies listed after a term such as "sub-processors".
func findSubprocessors(s string) []string {
	var out []string
	for _, at := range subprocessorIntro.FindAllStringIndex(s, -1) {
		rest := s[at[1]:min(len(s), at[1]+600)]
		if negationPattern.MatchString(strings.TrimSpace(rest)[:min(8, len(strings.TrimSpace(rest)))]) {
			continue
		}
		for _, c := range companyPattern.FindAllString(rest, -1) {
			out = append(out, strings.TrimRight(strings.TrimSpace(c), ".,"))
		}
	}
	return firstUnique(out, 100)
}
