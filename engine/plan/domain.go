package plan

import "strings"

// domain holds the defaults for the items of a domain (a family of controls): the usual owner, and the domain's rank in
// the working order.
type domain struct {
	role string
	rank int // lower ranks (foundations) come first
}

var domains = map[string]domain{
	"GOV": {"Chief information security officer", 0},
	"RSK": {"Risk manager", 1},
	"CPL": {"Compliance officer", 1},
	"AST": {"IT asset manager", 1},
	"HRS": {"Head of human resources", 2},
	"DCH": {"Data owner", 2},
	"PRI": {"Data protection officer", 2},
	"IAC": {"Identity and access manager", 2},
	"CFG": {"Head of IT operations", 3},
	"CHG": {"Change manager", 3},
	"CRY": {"Security architect", 3},
	"NET": {"Network manager", 3},
	"SEA": {"Security architect", 3},
	"TDA": {"Head of software development", 3},
	"TPM": {"Supplier manager", 3},
	"CLD": {"Cloud platform owner", 3},
	"END": {"Workplace IT manager", 3},
	"MDM": {"Workplace IT manager", 3},
	"PES": {"Facility manager", 3},
	"EMB": {"Head of operational technology", 3},
	"AAT": {"Head of artificial intelligence", 3},
	"WEB": {"Web platform owner", 3},
	"OPS": {"Head of IT operations", 3},
	"PRM": {"Head of project management", 3},
	"SAT": {"Security awareness lead", 4},
	"VPM": {"Vulnerability manager", 4},
	"MNT": {"Head of IT operations", 4},
	"CAP": {"Head of IT operations", 4},
	"MON": {"Head of security operations", 4},
	"THR": {"Head of security operations", 4},
	"IRO": {"Incident response manager", 4},
	"BCD": {"Business continuity manager", 4},
	"IAO": {"Head of internal audit", 5},
}

func domainForCode(code string) domain {
	prefix, _, _ := strings.Cut(code, "-")
	if d, ok := domains[prefix]; ok {
		return d
	}
	return domain{role: "Chief information security officer", rank: 3}
}
