package words

import "strings"

// foldSpelling converts British to American spelling, so that both spellings have the same stem. The result
// doesn't have to be correct English, only the same for both.
func foldSpelling(w string) string {
	if len(w) < 5 {
		return w
	}
	if american, ok := spellingOverrides[w]; ok {
		return american
	}
	for _, e := range britishEndings {
		if root, ok := strings.CutSuffix(w, e.british); ok && len(root) >= 3 {
			if e.british[0] == 'i' && keepsIseEnding(w) {
				return w
			}
			return root + e.american
		}
	}
	for _, e := range britishRoots {
		if strings.HasPrefix(w, e.british) {
			return e.american + w[len(e.british):]
		}
	}
	return w
}

type spelling struct{ british, american string }

var britishEndings = []spelling{
	{"isational", "izational"},
	{"isations", "izations"},
	{"isation", "ization"},
	{"ises", "izes"},
	{"ised", "ized"},
	{"ising", "izing"},
	{"ise", "ize"},
	{"isers", "izers"},
	{"iser", "izer"},
	{"yses", "yzes"},
	{"ysed", "yzed"},
	{"ysing", "yzing"},
	{"yse", "yze"},
}

var britishRoots = []spelling{
	{"behaviour", "behavior"},
	{"colour", "color"},
	{"favour", "favor"},
	{"honour", "honor"},
	{"labour", "labor"},
	{"harbour", "harbor"},
	{"endeavour", "endeavor"},
	{"neighbour", "neighbor"},
	{"centre", "center"},
	{"defence", "defense"},
	{"licence", "license"},
	{"offence", "offense"},
	{"programme", "program"},
	{"catalogue", "catalog"},
	{"artefact", "artifact"},
	{"judgement", "judgment"},
	{"cancell", "cancel"},
	{"labell", "label"},
	{"modell", "model"},
	{"travell", "travel"},
	{"signall", "signal"},
	{"fulfill", "fulfil"},
	{"enroll", "enrol"},
	{"acknowledgement", "acknowledgment"},
	{"authoris", "authoriz"},
	{"organis", "organiz"},
	{"grey", "gray"},
	{"cheque", "check"},
	{"metre", "meter"},
	{"fibre", "fiber"},
}

// spellingOverrides maps words to the form that is stemmed instead, because the stemmer would
// separate related forms or group unrelated ones.
var spellingOverrides = map[string]string{
	"analysis": "analyze", "analyses": "analyze", "analyst": "analyst",
	"backups": "backup", "whilst": "while", "practise": "practice", "practised": "practiced",
	"organization": "organization", "emphasise": "emphasize",
}

// keepsIseEnding reports whether a word must keep its "is" because American English spells it that way too
// ("supervision", "revision").
func keepsIseEnding(w string) bool {
	for _, root := range iseEndingRoots {
		if strings.HasPrefix(w, root) {
			return true
		}
	}
	return false
}

var iseEndingRoots = []string{
	"supervis", "revis", "advis", "devis", "improvis", "televis", "precis", "concis", "incis", "excis",
	"promis", "compromis", "premis", "compris", "rais", "apprais", "prais", "expertise", "exercis",
	"enterpris", "surpris", "disguis", "franchis", "merchandis", "nois", "likewise", "otherwise",
}
