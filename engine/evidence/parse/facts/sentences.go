package facts

import (
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/lazyregexp"
)

// selfNouns matches the words that a document uses for itself.
const selfNouns = `(?:policy|procedure|standard|guidelines?|rules|plan|process|document|manual|handbook|instruction|charter|version|edition|issue)`

// mastheadPattern matches the start of a line that gives metadata in sentences, such as "Version 3.1, in force
// since 2 March 2026. Approved by Ann Roe.", "Procedure OPS-12, version 2" or "This is version 2 of the policy". In plain
// text, a title in capitals may precede it.
var mastheadPattern = lazyregexp.New(
	`^\W{0,4}(?:\p{Lu}[\p{Lu}\d ,&/–-]{3,80} )?(?:(?i:version|draft|revision|rev\.|issue|edition|release) v?\d|` +
		`(?i:status\W{1,3}approved|in force|valid from|effective|in kraft|gültig ab|(?:approved|adopted|endorsed|issued|signed off) (?:by|on)|last (?:reviewed|updated|revised))\b|` +
		`(?i:policy|procedure|standard|guideline|rules|plan|process|document|reference|ref\.)(?i: no\.?)?:? ` +
		`[A-Z][A-Za-z]{0,7}(?:[-./ ]?[A-Z0-9][\w.-]*){1,4}[.,;]|` +
		`(?i:this (?:is (?:the )?|[\p{L}-]+ (?:[\p{L}-]+ ){0,3})?` + selfNouns + `|(?:the )?(?:document|policy|standard|procedure|process) owner is|owner of this ` + selfNouns + `)\b)`,
)

// dateStart matches the beginning of a date in a sentence, up to the point where the date may end.
const dateStart = `(\d[^;]{6,30}|\p{L}{3,10} \d[^;]{5,20})`

var (
	versionPattern = lazyregexp.NewPrefiltered(`(?i)(?:^\W{0,4}|[,;.(]\s*|\bthis is (?:the )?)(?:version|draft|revision|rev\.|issue|edition|release) (v?\d[\w.]*)`)

	effectivePattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:(?:in force|valid|effective|applicable|applies) (?:since|from|as of|as from|on)|in force,?|effective,?|` +
			`(?:takes?|took) effect (?:on|from)|(?:comes?|came|enters?|entered|has (?:come|entered)) into (?:force|effect) on|` +
			`in kraft seit|gültig (?:ab|seit)) +` + dateStart,
	)
	dateAfterVersionPattern = lazyregexp.NewPrefiltered(
		`(?i)(?:^\W{0,4}|[,;.(]\s*)(?:version|revision|rev\.|issue|edition|release) v?\d[\w.]*(?:,? of|,? dated|,| -| –)? +\(?` +
			`(\d{1,4}[^;,)]{6,20}|\p{L}{3,10} \d[^;)]{5,20})`,
	)
	updatedPattern    = lazyregexp.NewPrefiltered(`(?i)\blast (?:reviewed|updated|revised)(?: on)? ` + dateStart)
	approvedByPattern = lazyregexp.NewPrefiltered(
		`(?i)` + clauseStart + `(?:(?:approved|adopted|endorsed|ratified|signed off|authori[sz]ed)(?: (?:on )?\d[^;]{5,20}?)? by|freigegeben (?:von|durch)|` +
			`genehmigt (?:von|durch)) ` + nameEnd,
	)
	alsoApprovedPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:owned|maintained|prepared|written|reviewed) by [^.;]{2,60}? and (?:approved|adopted|endorsed|ratified|signed off) by ` + nameEnd,
	)
	approvedOnPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:approved|adopted|endorsed|ratified|signed off) (?:(?:it|by [^.;|]{2,80}?|this ` + selfNouns + `) )?(?:on )?` + dateStart)
	approverPattern   = lazyregexp.NewPrefiltered(`(?:^|[.;] )(?:The |the )?(\p{L}[^.;,]{1,60}?) (?:has )?(?:approved|adopted|endorsed|ratified) (?:it|this|the present)\b`)
	ownerPattern      = lazyregexp.NewPrefiltered(`(?i)` + clauseStart + `(?:(?:owned|maintained) by|(?:(?:document|policy|process|procedure) )?owner(?: of this ` + selfNouns + `)? is) ` + nameEnd)
	inChargePattern   = lazyregexp.NewPrefiltered(`(?:^|[.;] )(?:The |the )?(\p{L}[^.;,]{1,60}?) (?:is responsible for|owns|maintains) (?:it\b|this ` + selfNouns + `\b)`)
	// nextClausePattern matches what follows a name in the same sentence: "(version 1.0)", "and was approved by …".
	nextClausePattern = lazyregexp.New(`(?i),? (?:and|who|which) (?:it |they )?(?:is|are|was|were|has|have|takes?|comes?|approved|reviewed|owned|maintained|applies|valid|effective|in force)\b.*$` +
		`|,? (?:is|was|has been) .*$|,? \((?:version|rev|v\d).*$`)
)

// clauseStart matches the text that precedes a participle referring to the document itself rather than to its subject:
// "This policy is", "It was", the start of a sentence, or a comma.
const clauseStart = `(?:^\W{0,4}|[.;,(:|–-] ?|\b(?:it|this (?:[\p{L}-]+ ){0,3}` + selfNouns + `) (?:is|was|has been) |` +
	`\band (?:is|was|has been) )`

// nameEnd matches a person or role, up to the end of the sentence or clause. Abbreviations don't end a sentence.
const nameEnd = `((?:\b(?:dr|prof|mr|mrs|ms|jr|sr|[a-z])\.|[^.;|]){2,120})`

// sentenceFacts lists the facts that sentences state: their keys, patterns, and whether the value contains digits.
var sentenceFacts = []struct {
	key       string
	pattern   *lazyregexp.Prefiltered
	hasDigits bool
}{
	{"version", versionPattern, true},
	{"effective", effectivePattern, true},
	{"revision date", dateAfterVersionPattern, true},
	{"last updated", updatedPattern, true},
	{"approval date", approvedOnPattern, true},
	{"approved by", approvedByPattern, false},
	{"approved by", alsoApprovedPattern, false},
	{"approved by", approverPattern, false},
	{"owner", ownerPattern, false},
	{"owner", inChargePattern, false},
}

// scanOpeningSentences reads facts from sentences in the first lines of a document, such as "Version 3.1, in
// force since 2 March 2026."
func (f *factCollector) scanOpeningSentences(blocks []document.Block) {
	for _, b := range blocks {
		if b.Kind == document.Line || b.Kind == document.TableRow && (b.Header != nil || document.CountFilled(b.Cells) > 1) {
			continue
		}
		for _, line := range strings.Split(b.Text, "\n") {
			if len(line) > 400 || !mastheadPattern.MatchString(line) && !inChargePattern.MatchString(line) {
				continue
			}
			hasDigits := strings.ContainsAny(line, "0123456789")
			for _, fact := range sentenceFacts {
				if fact.hasDigits && !hasDigits {
					continue
				}
				if m := fact.pattern.FindStringSubmatch(line); m != nil {
					f.recordFact(fact.key, strings.TrimRight(nextClausePattern.ReplaceAllString(m[1], ""), ".,"))
				}
			}
		}
	}
}

const runningVersion = `(?:^|[\s|,;(–-])(?:(?i:version|ver\.|rev\.?|revision|issue|edition|release) v?|[vV])(\d[\d.]*)`

var (
	// runningVersionPattern matches a version anywhere in a running header or footer.
	runningVersionPattern = lazyregexp.New(runningVersion + `(?:[\s|,;)–-]|$)`)
	// runningDatePattern matches a date after such a version.
	runningDatePattern = lazyregexp.New(runningVersion + `[\s,|(–-]+(?:(?:of|dated) )?` + dateStart)
)

// scanRunningLine reads the version and its date from a running header or footer, anywhere in the line.
func (f *factCollector) scanRunningLine(line string) {
	if len(line) > 200 || f.version != "" && f.revised != nil {
		return
	}
	if m := runningVersionPattern.FindStringSubmatch(line); m != nil {
		f.recordFact("version", m[1])
	}
	if m := runningDatePattern.FindStringSubmatch(line); m != nil {
		f.recordFact("revision date", strings.TrimRight(m[2], ".,"))
	}
}
