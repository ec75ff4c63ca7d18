package text

import (
	"github.com/scf-service/service/internal/lazyregexp"
)

// stillActivePattern matches reports that something that should have been removed is still present: "14 accounts of
// leavers were still active".
var stillActivePattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:(?:is|are|was|were|had|has|have|been|remain(?:s|ed)?) )?still (?:\w+ly )?(?:there\b|active|enabled|open|valid|working|usable|logged (?:in|on)|in use|on the list|ha(?:d|ve|s) (?:an? )?(?:active |open |working |valid )*(?:access|accounts?|rights|badges?|keys?)|able to|not (?:closed|locked|disabled|removed|revoked|deleted))\b|\bcould still (?:log|sign|get|enter|open|access|use|read|reach)\b|\bcontinued to (?:open|work|be active|be used|have access)\b|\b(?:remain(?:s|ed)?|(?:was|were) found) (?:active|enabled|open|valid)\b`,
)

// failurePattern matches reports that an existing safeguard failed, for example because it was skipped, late or
// expired. remediedPattern matches reports that a failure was corrected.
var (
	failurePattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:aborted|(?:went|were|was|left|remained|stayed) (?:\w+ )?un(?:answered|noticed|attended|read|escorted|locked|signed|acknowledged|resolved|reviewed|protected|encrypted|monitored|patched|tested|staffed|checked)|(?:was|were|been) (?:\w+ )?(?:skipped|missed|omitted|forgotten|overlooked|bypassed|propped open|left open|wedged open|ignored|cancelled|canceled)|(?:alarms?|alerts?|alerting|monitoring|logging|detection|protection|backups?|scans?|scanner|firewall|antivirus|agent|cameras?|detectors?|sensors?|rules?) (?:\w+ ){0,3}(?:was|were|been) (?:\w+ )?switched off|` +
			`failed (?:on|in|at|again|because|after|for|with|twice|three times)|expired (?:on|in|at|without|last|before|unnoticed|weeks|months|days)|(?:is|are|was|were) (?:\w+ )?(?:overdue|out of date|outdated|expired|unpatched|unescorted)|` +
			`overdue (?:by|since)|skipped|had lapsed|got past|gave out|kept working|although (?:\w+ ){1,3}(?:calls? for|asks? for|requires?|demands?|had flagged|had warned)|missing (?:the|its) (?:\S+ )?(?:limit|deadline|target)|(?:instead of|above|beyond|exceeding) (?:an? |the |our |its )?(?:\w+ ){0,3}(?:limit|deadline|maximum|service level)|longer than (?:the )?(?:allowed|agreed|permitted|required)|` +
			`(?:days|weeks|months|hours|years) (?:late|overdue|too late|past (?:the|their|its)|behind (?:plan|schedule)|after (?:\w+ ){0,3}(?:deadline|due date))|(?:weeks|months|years) after (?:\w+ ){0,3}(?:contract|employment|last day|departure|left|leaving|expiry)|` +
			`more than (?:\w+ ){1,2}(?:days|weeks|months|years) old|(?:while|whereas|although) the (?:agreed|permitted|required|allowed|planned|prescribed)\b|exceeding (?:the|its|our)\b|instead of within|let (?:\w+ ){1,4}through|to have bypassed|bypassed|continued to (?:open|work|run|be used)|turned out to be|with(?:out a| no) badge|had (?:already )?\w+(?:ed|en|un|ne|ft|ad|de|nt) (?:\w+ )?before|before (?:\w+ ){1,4}had\b|still (?:on|held|carried)|could not be (?:located|read|restored|opened|reached|found|produced|traced)|(?:open|outstanding|unresolved|pending|exposed) for (?:more than |over |about |some )?\w+ (?:working |business |calendar )?(?:days|weeks|months|years))\b`,
	)
	remediedPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:repeated|repaired|corrected|resolved|fixed|remedied|reissued|renewed|closed|made up for|caught up|re-?ran|re-?run|retested|rescheduled|recovered|replaced|removed the same|disabled the same|revoked the same|since then|in the meantime|dropped|improved|shortened|better than|well (?:below|within|under))\b`,
	)
)

// DescribesUnremediedFailure reports whether sentence i describes a failure that was not remedied. Outside of records, the
// sentence must contain a year.
func (a *Analysis) DescribesUnremediedFailure(i int, isRecord bool) bool {
	cur := &a.Sentences[i]
	if cur.IsTableRow || cur.Mandatory || cur.Conditional&1|cur.Hypothetical|cur.Denied|cur.Prohibited != 0 || cur.PlanWords != "" ||
		cur.Hedge != "" ||
		cur.Question ||
		!isRecord && len(cur.Years) == 0 {
		return false
	}
	text := cur.Text
	if i > 0 && !a.Sentences[i-1].IsTableRow && targetPattern.MatchString(a.Sentences[i-1].Text) &&
		!targetPattern.MatchString(text) {
		text = a.Text[a.Sentences[i-1].start:cur.end] // "Target: 100 % of staff. Reached: 57 %."
	}
	if !failurePattern.MatchString(text) && !isTargetMissed(text) || remediedPattern.MatchString(text) {
		return false
	}
	if n := i + 1; n < len(a.Sentences) && !a.Sentences[n].IsTableRow && !a.Sentences[n].Item {
		next := &a.Sentences[n]
		return next.Denied != 0 || next.PlanWords != "" || !remediedPattern.MatchString(next.Text)
	}
	return true
}
