package risk

import "strings"

// effects describes, for each domain, what may happen while its controls are missing. Each is a clause without an
// initial capital or a final period.
var effects = map[string]string{
	"GOV": "security may lack decisions, funding and accountability, and depend on individuals",
	"RSK": "risks may be accepted without anyone being aware of them or deciding to accept them",
	"CPL": "legal and contractual obligations may be missed, leading to fines or lost business",
	"AST": "unknown assets may go unprotected, unpatched or unreturned",
	"HRS": "people may be given trust and access without checks, and keep it",
	"DCH": "sensitive data may be handled, stored or shared without protection",
	"PRI": "personal data may be used in breach of people's rights, leading to harm, orders and fines",
	"IAC": "people and programs may gain unauthorized access through stolen or forgotten accounts",
	"CFG": "systems may run with open services and default settings",
	"CHG": "unreviewed changes may break services or introduce vulnerabilities",
	"CRY": "stolen, lost or intercepted data may be readable",
	"NET": "an intruder may move freely from one system to the next",
	"SEA": "weaknesses may be built in and cost more to fix later",
	"TDA": "software may be shipped with flaws that attackers find first",
	"TPM": "a supplier's failure or breach may affect the organization directly",
	"CLD": "misconfigured cloud services may expose data to anyone",
	"END": "malicious software may enter and spread through endpoints",
	"MDM": "lost or personal devices may expose the data on them",
	"PES": "intruders, water, fire or power failures may damage equipment and records",
	"EMB": "embedded and industrial devices may fail or be hijacked, harming people and production",
	"AAT": "automated systems may make wrong decisions, leak data or treat people unfairly without anyone noticing",
	"WEB": "public applications may be abused, defaced or taken offline",
	"OPS": "operations may depend on people's memory, and mistakes may recur",
	"PRM": "projects may go live without adequate protection",
	"SAT": "people may fall for social engineering and not know how to respond",
	"VPM": "known vulnerabilities may stay open and be exploited",
	"MNT": "maintenance may be late or give attackers a way in",
	"CAP": "services may fail under load",
	"MON": "attacks and errors may go unnoticed and be impossible to trace",
	"THR": "the organization may be unprepared for known threats",
	"IRO": "incidents may last longer and cost more than necessary, and notification duties may be missed",
	"BCD": "an outage may last longer than the business can tolerate, or data may be lost permanently",
	"IAO": "controls may be assumed to work when they don't",
}

// EffectForControl returns what may happen while a control is missing, given the control's code, such as IAC-06.
func EffectForControl(code string) string {
	domain, _, _ := strings.Cut(code, "-")
	if effect, ok := effects[domain]; ok {
		return effect
	}
	return "the risk that the control addresses remains"
}
