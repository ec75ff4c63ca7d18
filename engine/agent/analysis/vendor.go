package analysis

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// term is one of the things that a processor's contract has to say (GDPR art. 28).
type term struct {
	name string
	what *pattern
	lack string
}

var processorTerms = []term{
	{"instructions", re(`(?:documented|written) instructions?|instructions of the (?:controller|customer)|dokumentierte?n? weisung`), "Nothing binds the vendor to documented instructions."},
	{"confidentiality", re(`confidential\w*|secrecy|vertraulich\w*`), "Staff are not bound to confidentiality."},
	{"security", re(`technical and organi[sz]ational|appropriate (?:technical|security)|security measures|technische und organisatorische`), "No technical and organisational security measures are named."},
	{"data subjects", re(`data subjects?|betroffenen\w*`), "No help with requests of data subjects is promised."},
	{"breach", re(`breach\w*|datenschutzverletzung\w*`), "No duty to notify personal data breaches was found."},
	{"deletion", re(`delet\w+|eras\w+|return(?:ed|s|ing)?\b|löschung|vernicht\w+`), "Nothing says that data is returned or deletion follows at the end."},
	{"audit", re(`audits?\b|inspect\w*|kontrollrechte?|prüfungsrechte?`), "No right to audit or inspect was found."},
	{"sub-processor", re(`sub-?processors?|other processors?|no other processor|subcontractors?|unterauftragsverarbeiter`), "Nothing governs sub-processors."},
}

var (
	sccs       = re(`standard contractual clauses|\bsccs?\b|2021/914|standardvertragsklauseln`)
	breachTime = re(`(?:breach|verletzung)[^.]{0,120}?\b(?:within|binnen|innerhalb von)\s+(\d+)\s*(hours?|days?|stunden|tagen?)`)
	vagueTime  = re(`(?:breach)[^.]{0,80}\b(?:deems? appropriate|at its discretion|reasonable time|if it chooses)`)
	unlimited  = re(`(?:liab\w+|haftung)[^.]{0,80}\b(?:unlimited|not (?:be )?limited|without limit|unbegrenzt)|unlimited liability`)
	excluded   = re(`(?:in no event (?:shall|will)[^.]{0,60}be liable|no liability|liability[^.]{0,40}(?:is|are) (?:excluded|disclaimed)|not be liable for any)`)
	capOf      = re(`(?:liab\w+|haftung)[^.;]{0,140}?(?:limited to|not exceed|shall not exceed|capped at|cap(?:\s+of)?:?|begrenzt auf)\s*(.{3,90})`)
	transfers  = re(`\bunited states\b|\busa?\b|\bindia\b|\bsingapore\b|\bchina\b|third countr\w+|outside the (?:eea|eu)|\bphilippines\b|\b(?:Inc|LLC|Pty|Pvt)\b\.?`)
	adequacy   = re(`data privacy framework|adequacy|binding corporate rules|no (?:data|transfer)[^.]{0,30}outside`)
	notIn      = re(`not (?:a )?part of|not (?:apply|included|incorporated)|do(?:es)? not apply`)
)

// redFlags are terms that shouldn't be there.
var redFlags = []term{
	{"purpose", re(`improve its services|own purposes|product analytics|for their marketing|trains? its|machine-learning models on|combine it with other|own product`), "Use for the vendor's own purpose: data is used beyond what was ordered."},
	{"sell", re(`\b(?:sell|sale of)\b`), "The vendor may sell data."},
	{"unilateral", re(`(?:change|amend|modify)[^.]{0,60}(?:at any time|without notice|unilateral)`), "Unilateral changes of the terms without notice."},
	{"retention", re(`retains? all data after|unlimited time|indefinitely|keep copies`), "No deletion: data is kept after the end."},
	{"no audit", re(`no right to audit|audits? (?:is|are) excluded|may not audit`), "The right to audit is excluded."},
	{"indemnity", re(`customer shall indemnify[^.]{0,120}(?:own|all claims)`), "A one-sided indemnity: the customer answers for the vendor's own breaches."},
	{"free subcontracting", re(`engage third parties at its discretion|subcontract freely|(?:sub-?processors?|third parties)[^.]{0,80}without (?:prior )?notice`), "Sub-processors may be engaged or changed without notice or consent."},
}

// Vendor finds what a contract says of data protection, and what it lacks.
func Vendor(_ context.Context, vendor, contract string) (*api.VendorScan, Signs) {
	var signs Signs
	t := read(contract)
	out := &api.VendorScan{Analysed: answered(), DataSubprocessorsListed: []string{}, RedFlagsForNegotiation: []string{}}
	notRead(&out.Limitations, &signs, contract)
	for _, o := range t.orders {
		signs.add("order", o, "it tells the reader what to answer and is no term of the contract")
	}
	flag := func(s string) { out.RedFlagsForNegotiation = append(out.RedFlagsForNegotiation, s) }
	if m, ok := t.mentions(sccs); ok {
		where := sentenceWith(t.whole, m)
		out.HasStandardContractualClauses = !notIn.MatchString(where)
		signs.add("standard_clauses", where, fmt.Sprint(out.HasStandardContractualClauses))
	}
	out.DataSubprocessorsListed = subprocessors(t.whole)
	has := 0
	for _, p := range processorTerms {
		where, said := t.says(p.what)
		if !said && p.name == "sub-processor" { // "uses no sub-processors" governs them as well
			where, said = t.mentions(p.what)
		}
		if p.name == "sub-processor" && len(out.DataSubprocessorsListed) > 0 {
			said = true
		}
		if said && spoiled(p.name, t) {
			said = false
		}
		if said {
			has++
			signs.add("term_"+strings.ReplaceAll(p.name, " ", "_"), where, "the contract has it")
			continue
		}
		flag(p.lack)
		signs.add("lacks_"+strings.ReplaceAll(p.name, " ", "_"), "", p.lack)
	}
	for _, f := range redFlags {
		if m, ok := t.mentions(f.what); ok {
			flag(f.lack)
			signs.add("red_flag", m, f.lack)
		}
	}
	out.LiabilityCapIdentified = liability(t, vendor, flag, &signs)
	if m, ok := t.mentions(transfers); ok && !out.HasStandardContractualClauses {
		if _, other := t.mentions(adequacy); !other {
			flag("A transfer to a third country is possible (" + m + ") and no mechanism for it is named.")
			signs.add("transfer", m, "no mechanism")
		}
	}
	if m := breachTime.FindStringSubmatch(t.whole); m != nil && late(m[1], m[2]) {
		flag("The notice of a breach comes too late: " + m[1] + " " + m[2] + ", where the controller has 72 hours.")
	}
	out.RedFlagsForNegotiation = once(out.RedFlagsForNegotiation, 30)
	out.IsDPACompliant = has == len(processorTerms)
	return out, signs
}

// spoiled: the term is there, and taken back by another.
func spoiled(name string, t text) bool {
	switch name {
	case "breach":
		_, vague := t.mentions(vagueTime)
		_, told := t.mentions(re(`(?:notif|inform|report|tell|announc|meldung|breach notice)\w*`))
		m := breachTime.FindStringSubmatch(t.whole)
		return vague || !told || m != nil && late(m[1], m[2])
	case "deletion":
		_, kept := t.mentions(redFlags[3].what)
		return kept
	case "audit":
		_, no := t.mentions(redFlags[4].what)
		return no
	case "sub-processor":
		_, free := t.mentions(redFlags[6].what)
		return free
	}
	return false
}

func late(n, unit string) bool {
	hours := 0
	if _, err := fmt.Sscan(n, &hours); err != nil {
		return true
	}
	if strings.HasPrefix(strings.ToLower(unit), "d") || strings.HasPrefix(strings.ToLower(unit), "t") {
		hours *= 24
	}
	return hours > 72
}

func liability(t text, vendor string, flag func(string), signs *Signs) string {
	if m, ok := t.mentions(unlimited); ok {
		signs.add("liability", m, "unlimited")
		return "unlimited (" + clip(m, 120) + ")"
	}
	if m := capOf.FindStringSubmatch(t.whole); m != nil {
		amount := strings.TrimRight(clip(cutAt(m[1]), 90), " .")
		signs.add("liability", m[0], "a cap")
		if re(`fees paid in the last (?:one|two|three|six|\d) months|fees`).MatchString(amount) && re(`(?:one|two|three|six|[1-6])\W`).MatchString(amount+" ") {
			flag("The liability cap is low: " + amount + ".")
		}
		return amount
	}
	if m, ok := t.mentions(excluded); ok {
		signs.add("liability", m, "excluded")
		flag("Liability is excluded" + forVendor(vendor) + ".")
		return "excluded (" + clip(m, 120) + ")"
	}
	flag("Liability: no cap and no rule was found in this part.")
	return "not identified"
}

func forVendor(v string) string {
	if v = strings.TrimSpace(v); v != "" {
		return " for " + clip(v, 60)
	}
	return ""
}

// cutAt ends an amount at the sentence's end, not at the point in a figure.
func cutAt(s string) string {
	if at := regexp.MustCompile(`\.\s|;|\.$`).FindStringIndex(s); at != nil {
		return s[:at[0]]
	}
	return s
}

func sentenceWith(s, part string) string {
	for _, one := range regexp.MustCompile(`\.\s+|\n`).Split(s, -1) {
		if strings.Contains(one, part) {
			return one
		}
	}
	return part
}

var (
	subIntro = re(`(?:sub-?processors?|subcontractors)(?:[^.:]{0,60}?)(?::| are | is |\bengaged:)\s*|list of sub-?processors:?\s*|sub-processor\s+`)
	company  = lazyregexp.Of(`\b[A-Z][\w&'-]*(?: [A-Z][\w&'-]*){0,5}(?:,? (?:Inc|LLC|Ltd|GmbH|SARL|SAS|AG|BV|NV|SA|SE|Corp|Pty Ltd|Pvt Ltd|PLC|S\.à r\.l)\b\.?)|\b(?:Amazon Web Services|Google Cloud|Microsoft Azure|Cloudflare|Zendesk|Twilio|Snowflake|Datadog)\b`)
)

// subprocessors are the companies named behind the word.
func subprocessors(s string) []string {
	var out []string
	for _, at := range subIntro.FindAllStringIndex(s, -1) {
		rest := s[at[1]:min(len(s), at[1]+600)]
		if negation.MatchString(strings.TrimSpace(rest)[:min(8, len(strings.TrimSpace(rest)))]) {
			continue
		}
		for _, c := range company.FindAllString(rest, -1) {
			out = append(out, strings.TrimRight(strings.TrimSpace(c), ".,"))
		}
	}
	return once(out, 100)
}
