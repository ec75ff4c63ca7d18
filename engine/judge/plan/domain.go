package plan

import "strings"

// domain holds the defaults for a domain (a family of controls): the usual owner, the effect of missing
// controls, and the domain's rank in the working order.
type domain struct {
	role   string
	effect string
	rank   int // lower ranks (foundations) come first
}

var domains = map[string]domain{
	"GOV": {
		"Chief information security officer",
		"security may lack decisions, funding and accountability, and depend on individuals",
		0,
	},
	"RSK": {"Risk manager", "risks may be accepted without anyone knowing or deciding", 1},
	"CPL": {"Compliance officer", "legal and contractual obligations may be missed, leading to fines or lost business", 1},
	"AST": {"IT asset manager", "unknown assets may go unprotected, unpatched or unreturned", 1},
	"HRS": {"Head of human resources", "people may be given trust and access without checks, and keep it", 2},
	"DCH": {"Data owner", "sensitive data may be handled, stored or shared without protection", 2},
	"PRI": {"Data protection officer", "personal data may be used in breach of people's rights, leading to harm, orders and fines", 2},
	"IAC": {"Identity and access manager", "people and programs may gain unauthorized access through stolen or forgotten accounts", 2},
	"CFG": {"Head of IT operations", "systems may run with open services and default settings", 3},
	"CHG": {"Change manager", "unreviewed changes may break services or introduce vulnerabilities", 3},
	"CRY": {"Security architect", "stolen, lost or intercepted data may be readable", 3},
	"NET": {"Network manager", "an intruder may move freely from one system to the next", 3},
	"SEA": {"Security architect", "weaknesses may be built in and cost more to fix later", 3},
	"TDA": {"Head of software development", "software may be shipped with flaws that attackers find first", 3},
	"TPM": {"Supplier manager", "a supplier's failure or breach may become the organization's own", 3},
	"CLD": {"Cloud platform owner", "misconfigured cloud services may expose data to anyone", 3},
	"END": {"Workplace IT manager", "malicious software may enter and spread through endpoints", 3},
	"MDM": {"Workplace IT manager", "lost or personal devices may expose the data on them", 3},
	"PES": {"Facility manager", "intruders, water, fire or power failures may damage equipment and records", 3},
	"EMB": {
		"Head of operational technology",
		"embedded and industrial devices may be taken over or fail, harming people and production",
		3,
	},
	"AAT": {
		"Head of artificial intelligence",
		"automated decisions may go wrong, leak data or treat people unfairly without anyone noticing",
		3,
	},
	"WEB": {"Web platform owner", "public applications may be abused, defaced or taken offline", 3},
	"OPS": {"Head of IT operations", "operations may depend on memory, and mistakes may recur", 3},
	"PRM": {"Head of project management", "projects may go live without the protection they need", 3},
	"SAT": {"Security awareness lead", "people may fall for social engineering and not know what to do", 4},
	"VPM": {"Vulnerability manager", "known vulnerabilities may stay open and be exploited", 4},
	"MNT": {"Head of IT operations", "maintenance may be late or give attackers a way in", 4},
	"CAP": {"Head of IT operations", "services may fail under load", 4},
	"MON": {"Head of security operations", "attacks and errors may go unnoticed and be impossible to trace", 4},
	"THR": {"Head of security operations", "the organization may be unprepared for known threats", 4},
	"IRO": {"Incident response manager", "incidents may last longer and cost more than necessary, and notification duties may be missed", 4},
	"BCD": {"Business continuity manager", "an outage may last longer than the business can tolerate, or data may be lost permanently", 4},
	"IAO": {"Head of internal audit", "controls may be believed to work when they don't", 5},
}

func domainForCode(code string) domain {
	prefix, _, _ := strings.Cut(code, "-")
	if d, ok := domains[prefix]; ok {
		return d
	}
	return domain{role: "Chief information security officer", effect: "the risk that the control addresses remains", rank: 3}
}
