package judge

import "strings"

// domain is what the rules know of a family of controls: who usually owns it, what
// comes of its absence, and how early it is needed by others.
type domain struct {
	role   string
	effect string
	rank   int // foundations first
}

var domains = map[string]domain{
	"GOV": {
		"Chief information security officer",
		"nobody decides, pays for or answers for security, and what is done depends on single people",
		0,
	},
	"RSK": {"Risk manager", "risks are taken without anyone knowing or deciding it", 1},
	"CPL": {"Compliance officer", "duties by law and contract are missed, with fines or lost business", 1},
	"AST": {"IT asset manager", "what isn't known is not protected, patched or returned", 1},
	"HRS": {"Head of human resources", "people get trust and access that nobody checked, and keep it", 2},
	"DCH": {"Data owner", "sensitive data is handled, kept or given away as if it were not", 2},
	"PRI": {"Data protection officer", "people's data is used against their rights, with harm to them, orders and fines", 2},
	"IAC": {"Identity and access manager", "people and programs reach what they should not, with stolen or forgotten accounts", 2},
	"CFG": {"Head of IT operations", "systems run with open services and default settings", 3},
	"CHG": {"Change manager", "changes break services or open holes without anyone having looked", 3},
	"CRY": {"Security architect", "data can be read where it is stolen, lost or tapped", 3},
	"NET": {"Network manager", "an intruder moves freely from one system to the next", 3},
	"SEA": {"Security architect", "weaknesses are built in and cost more to repair later", 3},
	"TDA": {"Head of software development", "software is shipped with flaws that others find first", 3},
	"TPM": {"Supplier manager", "a supplier's failure or breach becomes one's own", 3},
	"CLD": {"Cloud platform owner", "misconfigured cloud services expose data to anyone", 3},
	"END": {"Workplace IT manager", "malicious software enters and spreads through endpoints", 3},
	"MDM": {"Workplace IT manager", "lost or private devices give away the data on them", 3},
	"PES": {"Facility manager", "people, water, fire or a cut of power reach equipment and records", 3},
	"EMB": {
		"Head of operational technology",
		"embedded and industrial devices are taken over or fail, with harm to people and production",
		3,
	},
	"AAT": {"Owner of artificial intelligence", "automated decisions go wrong, leak data or treat people unfairly, unseen", 3},
	"WEB": {"Web platform owner", "public applications are abused, defaced or taken offline", 3},
	"OPS": {"Head of IT operations", "operations depend on memory, and mistakes repeat", 3},
	"PRM": {"Head of project management", "projects go live without the protection they need", 3},
	"SAT": {"Security awareness lead", "people fall for deception and don't know what to do", 4},
	"VPM": {"Vulnerability manager", "known weaknesses stay open and are used", 4},
	"MNT": {"Head of IT operations", "maintenance is late or opens a way in", 4},
	"CAP": {"Head of IT operations", "services fail under load", 4},
	"MON": {"Head of security operations", "attacks and errors go unseen, and can't be reconstructed", 4},
	"THR": {"Head of security operations", "known threats arrive unprepared for", 4},
	"IRO": {"Incident response manager", "incidents last longer and cost more than they need to, and duties to notify are missed", 4},
	"BCD": {"Business continuity manager", "an outage lasts longer than the business can bear, or data is lost for good", 4},
	"IAO": {"Head of internal audit", "controls are believed to work that don't", 5},
}

func domainForCode(code string) domain {
	prefix, _, _ := strings.Cut(code, "-")
	if d, ok := domains[prefix]; ok {
		return d
	}
	return domain{role: "Chief information security officer", effect: "the risk that the control addresses stays as it is", rank: 3}
}
