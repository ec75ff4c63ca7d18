// Package risk names the business risks that missing controls lead to, in words for people who run a company. It groups
// the domains of controls into a few themes, so that a report can merge many findings into one risk.
package risk

import (
	"slices"
	"strings"
)

// Theme is a business risk: an event that may happen, and its consequence. Event and Consequence are clauses that
// continue a sentence, without an initial capital or a final period.
type Theme struct {
	ID, Title, Event, Consequence string
	// Domains are the codes of the domains of controls that reduce the risk.
	Domains []string
}

// themes lists all themes. Themes of equal weight are reported in this order.
var themes = []Theme{
	{
		"access", "Unauthorized access",
		"an outsider or a former employee may sign in with an account that should no longer work",
		"confidential data may be read, changed or encrypted, and payments or orders manipulated",
		[]string{"IAC"},
	},
	{
		"interruption", "Business interruption",
		"systems or a site may fail and not be restored in time, if at all",
		"customers may go unserved for days, with lost revenue and contract penalties",
		[]string{"BCD", "CAP", "MNT"},
	},
	{
		"detection", "Attacks noticed too late",
		"an attack or error may go unnoticed, or be handled without a plan",
		"the damage may grow unnoticed for weeks, and legal reporting deadlines may be missed",
		[]string{"MON", "IRO", "THR"},
	},
	{
		"weaknesses", "Attacks through known weaknesses",
		"malicious software or an intruder may use an open weakness and spread from system to system",
		"operations may stop, and recovery may cost far more than prevention",
		[]string{"VPM", "CFG", "CHG", "END", "NET", "OPS"},
	},
	{
		"data", "Loss of confidential data",
		"sensitive data may be lost, copied or sent where others can read it",
		"customers may have to be informed, contracts may be at risk, and business secrets may be lost",
		[]string{"DCH", "CRY", "CLD", "MDM"},
	},
	{
		"suppliers", "Failure of a supplier",
		"a supplier may fail or be breached",
		"the supplier's outage or data loss may affect the organization directly, without recourse",
		[]string{"TPM"},
	},
	{
		"duties", "Breach of law or contract",
		"an authority, a customer or an affected person may find that a duty was not met",
		"fines, orders, claims, or the loss of contracts and certificates may follow",
		[]string{"CPL", "PRI"},
	},
	{
		"people", "Human error and social engineering",
		"employees may be deceived, or keep access and trust that should have been checked or withdrawn",
		"money or data may be handed over, and nobody may notice in time",
		[]string{"HRS", "SAT"},
	},
	{
		"governance", "Lack of security governance",
		"security may depend on individuals, and risks may be taken without a decision",
		"money may be spent in the wrong places, and management may be held responsible for risks it was unaware of",
		[]string{"GOV", "RSK", "IAO", "PRM"},
	},
	{
		"software", "Flaws in in-house software",
		"software may go live with flaws that attackers find first",
		"services may be abused, customer data may leak, and repair may cost more than prevention",
		[]string{"SEA", "TDA", "WEB"},
	},
	{
		"assets", "Unknown equipment and data",
		"equipment and data that nobody has listed may go unprotected, unpatched or unreturned",
		"unlisted equipment may let attackers in, or may be lost without anyone knowing what data was on it",
		[]string{"AST"},
	},
	{
		"premises", "Physical damage and intrusion",
		"intruders, water, fire or a power failure may damage equipment and records",
		"equipment and records may be lost, and work on site may stop",
		[]string{"PES"},
	},
	{
		"automation", "Uncontrolled automation",
		"automated decisions may be wrong, or connected devices may be hijacked",
		"people may be harmed or treated unfairly, and production may stop",
		[]string{"AAT", "EMB"},
	},
	{
		"other", "Other security risks",
		"the risk addressed by the missing measures may materialize",
		"the organization may suffer the full damage",
		nil,
	},
}

// Themes returns all themes.
func Themes() []Theme { return slices.Clone(themes) }

// ForDomain returns the theme of a domain by its code. For an unknown domain, it returns the last theme.
func ForDomain(code string) Theme {
	for _, t := range themes {
		if slices.Contains(t.Domains, code) {
			return t
		}
	}
	return themes[len(themes)-1]
}

// ForControl returns the theme of a control by its code, such as IAC-06.
func ForControl(code string) Theme {
	domain, _, _ := strings.Cut(code, "-")
	return ForDomain(domain)
}
