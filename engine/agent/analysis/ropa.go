package analysis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// criterion is a mark of risky processing, as the supervisory authorities list them.
type criterion struct {
	name string
	what *pattern
}

var (
	special   = criterion{"special categories or criminal data", re(`health|diagnos\w+|patients?|medical|genetic|biometric\w*|fingerprints?|facial recognition|religio\w*|trade union|political opinions?|sexual|ethnic\w*|criminal|suspected crimes|blood type|allerg\w+|heart.?rate|disab\w+|telemedicine`)}
	children  = criterion{"vulnerable people", re(`\bchild(?:ren)?\b|pupils?|minors\b|schools?\b|patients?|asylum|elderly|unconscious|accused persons|(?:of|staff|factory|field|800|300) ?(?:workers|employees)\b|applicants? in video|behaviour (?:notes|scores)`)}
	watched   = criterion{"systematic monitoring", re(`gps\b|location (?:of|tracking)|tracking of|public (?:square|space)|keystroke|all day|every 15 minutes|15-minute|monitor(?:s|ing) (?:software|of)|emotions?\b|video surveillance of the staff|with sound|predictive policing`)}
	scoring   = criterion{"evaluation or scoring", re(`scor(?:e|es|ing)\b|profil(?:e|es|ing)\b|rate their performance|targeted adverts|machine learning|behaviour notes|predict\w*|emotions?\b|bias\b`)}
	decided   = criterion{"automated decisions with effect", re(`automated? (?:\w+ )?decisions?|automatically|automatic blocking|without human|credit scoring`)}
	large     = criterion{"large scale", re(`million|\b\d+ ?m\b|\b\d{2,3},\d{3}\b|households|all (?:card|transactions)|public school board|population`)}
	novel     = criterion{"new technology", re(`facial recognition|fingerprint|\bai\b|machine learning|language model|wearables?|smart meters?|emotion|biometric|genetic|internet of things`)}
	combined  = criterion{"shared or combined beyond the purpose", re(`shares? it with insurers|with insurers|ad partners|sells?\b|published openly|analytics provider|combine`)}
	sensitive = criterion{"data that harms when lost", re(`bank account|salary|tax id|passport|identity documents|credit|income|cctv|badges?|register of residents|interview notes|\bcvs?\b|call centre|location|surveillance|finger`)}
)

var risky = []criterion{special, children, watched, scoring, decided, large, novel, combined}

type basis struct {
	name string
	what *pattern
	by   float64
}

var bases = []basis{
	{"vital_interests", re(`unconscious|save (?:a |their )?li(?:fe|ves)|emergency service|life-threatening`), 4},
	{"consent", re(`(?:explicit )?consent|ticked a box|opt.?in|agreement; destroyed|participant's agreement|voluntar\w+`), 3},
	{"legal_obligation", re(`(?:the )?law (?:demands?|obliges|requires)|laws? demand|by law|act (?:requires|prescribes)|as the [\w-]+ act|report to the tax office|legally required|obliges|statutory|tax law`), 3.2},
	{"public_task", re(`public school|municipality|public authority|hospital records|ministry|police`), 2.5},
	{"contract", re(`contract|payroll|wages|orders?\b|deliver what|booking|to bill\b|purchase|bought|applications?\b|members\b|treatment|loan|ordered|support tickets?|delivery of`), 2},
	{"legitimate_interests", re(`prevent theft|fraud|security\b|keep in touch|cctv|analytics|visitor|plan routes|legitimate interest|marketing|badges?`), 1.9},
}

// demands are the controls that follow from a mark of the processing.
var demands = []struct {
	code string
	when *pattern // nil: always
	why  string
}{
	{"PRI-14", nil, "every processing stands in the record of processing"},
	{"PRI-02", nil, "people are told what is done with their data"},
	{"PRI-05", nil, "the time after which the data goes has to be fixed"},
	{"PRI-06", nil, "people can ask for their data"},
	{"PRI-03", re(`consent|ticked|opt.?in|agreement`), "it rests on consent, which has to be proven and can be withdrawn"},
	{"CRY-05", re(special.what.String()[4:] + `|bank|salary|passport|identity|credit|children`), "data of this kind is kept encrypted"},
	{"IAC-08", re(special.what.String()[4:] + `|bank|salary|staff|employees|whistle`), "only those who need it may see it"},
	{"RSK-10", nil, ""}, // only where an assessment is required
	{"PRI-07", re(`shares?|shared|transfer\w*|insurers|partners|vendor|provider|call centre|ambulance`), "data goes to somebody else"},
	{"TPM-05", re(`vendor|provider|call centre|processor|cloud|host`), "a third party handles it for you"},
	{"CLD-09", re(`transfer\w*|philippines|third country|\busa?\b|india|abroad`), "the data leaves the country; places and mechanism have to be known"},
	{"PES-05", re(`cctv|video|surveillance|badges?`), "cameras and doors are part of it"},
	{"AAT-10", re(`machine learning|\bai\b|language model|facial recognition|automated decisions?|automatically|scoring`), "a machine judges people"},
	{"AAT-22.1", re(`automated decisions?|automatically|scoring|\bai\b|emotion`), "a person has to be able to step in"},
	{"PRI-05.3", re(`anonymi|pseudonym|research|analytics`), "names can be taken out of the data"},
	{"PRI-04", re(`gps|location|every 15|all day|profiles?|tracking|fingerprint`), "less data would do"},
}

// RoPA says what follows from the description of a processing: how risky it is by the
// marks it bears, on what it may rest, and which controls it asks for.
func RoPA(_ context.Context, description string, controls Controls) (*api.RoPAAnalysis, Signs) {
	var signs Signs
	t := read(description)
	out := &api.RoPAAnalysis{Analysed: answered(), RequiredControls: []api.RequiredControl{}}
	marks, points := markOf(t, &signs)
	_, small := t.mentions(re(`anonymised|no cookies|visitor book`))
	_, sens := t.says(sensitive.what)
	switch {
	case small && points == 0:
		out.SuggestedRiskLevel = "low"
	case points >= 2 || marks[special.name] || marks[decided.name]:
		out.SuggestedRiskLevel = "high"
	case points >= 1 || sens:
		out.SuggestedRiskLevel = "medium"
	default:
		out.SuggestedRiskLevel = "low"
	}
	if notRead(&out.Limitations, &signs, description) && out.SuggestedRiskLevel == "low" {
		out.SuggestedRiskLevel = "medium"
	}
	out.IsDPIARequired = points >= 2 || marks[decided.name] || marks[special.name] && !membershipOnly(t)
	if out.IsDPIARequired {
		signs.add("dpia", fmt.Sprintf("%d marks", points), "an assessment of the impact is required")
	}
	out.SuggestedLegalBasis = legalBasis(t, &signs)
	for _, d := range demands {
		why := d.why
		switch {
		case d.code == "RSK-10" && !out.IsDPIARequired:
			continue
		case d.code == "RSK-10":
			why = "its risk asks for an impact assessment before it begins"
		case d.when != nil:
			m, ok := t.says(d.when)
			if !ok {
				continue
			}
			signs.add("control", m, d.code+": "+d.why)
		}
		if controls == nil {
			continue
		}
		if c, err := controls.Control(d.code); err == nil {
			out.RequiredControls = append(out.RequiredControls, api.RequiredControl{ControlID: c.Code, Name: c.Title, Reason: why})
		}
	}
	return out, signs
}

// membershipOnly: one kind of special data in a plain list, which is kept for dues.
func membershipOnly(t text) bool {
	_, list := t.mentions(re(`membership list`))
	return list
}

// markOf finds the marks of risky processing that a text says, and counts them.
func markOf(t text, signs *Signs) (map[string]bool, int) {
	marks := map[string]bool{}
	for _, c := range risky {
		if m, ok := t.says(c.what); ok {
			if c.name == large.name && !isLarge(m) {
				continue
			}
			marks[c.name] = true
			signs.add("mark", m, c.name)
		}
	}
	return marks, len(marks)
}

var peopleCount = lazyregexp.Of(`\b(\d{1,3}(?:,\d{3})+|\d{4,})\b`)

// isLarge: figures count from ten thousand people on.
func isLarge(s string) bool {
	if re(`million|\b\d+ ?m\b|households|all (?:card|transactions)|public school board|population`).MatchString(s) {
		return true
	}
	for _, m := range peopleCount.FindAllString(s, -1) {
		if n, err := strconv.Atoi(strings.ReplaceAll(m, ",", "")); err == nil && n >= 10000 {
			return true
		}
	}
	return false
}

func legalBasis(t text, signs *Signs) string {
	best, at := "legitimate_interests", 0.0
	for _, b := range bases {
		if m, ok := t.says(b.what); ok && b.by > at {
			best, at = b.name, b.by
			signs.add("basis", m, b.name)
		}
	}
	if at == 0 {
		signs.add("basis", "", "nothing points to another basis; a balance of interests has to be written down")
	}
	return best
}
