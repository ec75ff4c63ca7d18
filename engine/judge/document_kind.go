package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Documents other than an organization's rules, records and contracts show little or nothing about
// its practice, whatever their sentences say: a job advert describes tasks, a law describes others'
// duties, and a brochure describes a product. The kind of a document is recognized by cues in its
// layout and wording; several different cues must occur.

// documentKind is a kind of document whose passages can show only a limited amount.
type documentKind struct {
	category string
	cues     []*lazyregexp.Prefiltered
	limit    kindLimit
}

// kindLimit states how much the passages of a kind of document can show.
type kindLimit int

const (
	showsAll      kindLimit = iota
	showsPart               // at most part of a statement
	showsTraining           // at most part of a statement about training, and nothing about others
	showsNothing
)

const (
	minKindCues         = 2 // minimum number of cues that identify a kind
	minKindCuesIfTitled = 4 // … if the name says that it is a policy, procedure or similar
	maxKindBytes        = 6 << 10
)

// cue returns a pattern that ignores case and in which ^ and $ match at line breaks.
func cue(expression string) *lazyregexp.Prefiltered {
	return lazyregexp.NewPrefiltered(`(?im)` + expression)
}

// documentKinds lists the kinds; on a tie in the number of cues, the first one wins.
var documentKinds = []documentKind{
	{"job advert", []*lazyregexp.Prefiltered{
		cue(`\((?:m|f|w)/(?:m|f|w)/(?:d|x|n)\)|\bvacancy\b|\bjob (?:advert\w*|posting|opening|offer)\b|\b(?:full|part)[- ]time\b|^#*\W*(?:we are|we're) hiring\b`),
		cue(`\b(?:are|is|we're) (?:looking for|hiring|recruiting|seeking)\b|\bjoin (?:us|our)\b|\byour (?:new )?(?:role|job|position)\b|\bas our new\b`),
		cue(`^\W*(?:your|what you(?:'ll)?) (?:tasks|profile|responsibilities|mission|qualifications|bring|will do|do)\b|\bwhat you (?:bring|get)\b`),
		cue(`\b(?:apply (?:now|by|online|with|today)|send (?:us )?your (?:application|cv|resume)|your application|cover letter)\b`),
		cue(`\bwe offer\b|\bwhat you get\b|\bsalary\b|\bdays of (?:holiday|leave|vacation)\b|\bpension plan\b`),
		cue(`\b(?:years of (?:professional )?experience|degree in|driving licen[cs]e|team player)\b`),
	}, showsNothing},
	{"tender", []*lazyregexp.Prefiltered{
		cue(`\b(?:invitation to tender|invites tenders|call for (?:tenders|bids)|request for (?:proposals?|quotations?|tenders?)|rf[pqt]\b|tender (?:documents?|no\.?|number|specification))`),
		cue(`\b(?:bidders?|tenderers?|proposers?|offerors?|qualified vendors)\b`),
		cue(`\b(?:award criteria|evaluation criteria|contracting authority|must criteria|scored on|price \d+ ?%)`),
		cue(`\b(?:tenders?|bids?|proposals?)\b[^.\n]{0,30}\b(?:submitted|scored|evaluated|accepted|considered|received|due)\b`),
	}, showsNothing},
	{"quiz", []*lazyregexp.Prefiltered{
		cue(`\b(?:quiz|exam(?:ination)? (?:paper|questions?)|multiple[- ]choice|test your knowledge|final exam)\b`),
		cue(`\b(?:tick|choose|mark|circle) (?:the|one|all) (?:correct|right|answer|box|that)|\bcorrect answers?\b|\btrue or false\b|\bright or wrong\b`),
		cue(`\bpoints? (?:for|are|is|each)\b|\bto pass\b|\banswer key\b|^\W*solutions?\b`),
		cue(`^\s*(?:[-*] )?[b-d][).] `),
		cue(`^\W*(?:question )?\d+[.)]? [^\n]*\?\s*$`),
	}, showsTraining},
	{"course", []*lazyregexp.Prefiltered{
		cue(`\b(?:learning (?:objectives?|goals?|outcomes?)|syllabus|curriculum|teaching materials?|after this (?:unit|module|lesson|course|session)|in this (?:lesson|module|unit|course)|you (?:will )?learn)\b`),
		cue(`\b(?:students?|learners?|pupils?|participants?|trainees?|attendees)\b`),
		cue(`\b(?:homework|exercises?\b[^.\n]{0,30}\b(?:groups?|minutes)|tutorial|assignment|flip chart|handout|reading list)\b`),
		cue(`\b(?:lesson|module|unit|lecture|week|session) \d`),
		cue(`\b(?:trainer|lecturer|instructor|teacher|tutor|professor)\b`),
	}, showsTraining},
	{"glossary", []*lazyregexp.Prefiltered{
		cue(`^\W*(?:[\d.]+ )?(?:glossary|vocabulary|terminology|list of (?:terms|abbreviations|acronyms)|abbreviations|terms and definitions)\b`),
		cue(`(?:^\W{0,6}[A-Z][\w -]{1,40}(?:\*\*)?(?:\*\*)? ?[:–—-](?:\*\*)? [^\n]+\n\s*){4}`),
	}, showsNothing},
	{"press release", []*lazyregexp.Prefiltered{
		cue(`\bfor immediate release\b|\b(?:press|media|news) release\b|\bembargo(?:ed)?\b`),
		cue(`\b(?:press|media) (?:contact|office|enquiries|inquiries)\b|\bpress@`),
		cue(`\btoday (?:announced|launched|unveiled|introduced)\b|\b(?:announced|launched) today\b|\bthe leading (?:maker|provider|supplier|manufacturer)\b`),
		cue(`^\W*about [A-Z][\w ]+(?::|$)`),
		cue(`^\W*[A-Z][A-Z]+(?:, | \()?[^\n]{0,30} [–—-]+ `),
	}, showsNothing},
	{"law", []*lazyregexp.Prefiltered{
		cue(`\bthis (?:act|law|ordinance|statute|regulation|bill)\b`),
		cue(`\b(?:official (?:gazette|journal)|enters? into force|entry into force|be it enacted|parliament|royal assent)\b`),
		cue(`\b(?:commits an offen[cs]e|liable to a fine|penalt(?:y|ies)|infringements?|contravenes)\b`),
		cue(`\b(?:competent authorit(?:y|ies)|member states?|supervisory authority|subsection|paragraph \(\d)`),
		cue(`^\W*(?:section|article|§|part) ?\d+[.:]? `),
		cue(`\b(?:an?|every|each) (?:operator|person|controller|provider|undertaking|entity|employer|processor) shall\b|\boperators\b[^.\n]{0,40}\bshall\b`),
	}, showsNothing},
	{"external standard", []*lazyregexp.Prefiltered{
		cue(`^\W*(?:[\d.]+ )?foreword\b|\btechnical committee\b|\bstandards (?:body|institute|institution)\b|\bthis (?:edition|standard) (?:cancels|replaces|supersedes)\b|\bit supersedes edition\b`),
		cue(`\bthis (?:standard|document|specification) (?:specifies|gives|provides|defines) (?:the )?(?:requirements|guidance|guidelines)\b`),
		cue(`\borgani[sz]ations of (?:any|all) (?:type|kind|size)`),
		cue(`\b(?:normative references|annex [a-z] \((?:informative|normative)\)|^note \d)`),
		cue(`\bthe organi[sz]ation shall\b`),
	}, showsNothing},
	{"brochure", []*lazyregexp.Prefiltered{
		cue(`\b(?:free trial|book (?:a|your) (?:demo|free|call|consultation)|request a (?:quote|demo)|get started today|contact (?:our|us|the) sales|sales team|order now|buy now|sign up (?:now|today))\b`),
		cue(`\b(?:award[- ]winning|market[- ]leading|industry[- ]leading|world[- ]class|all-in-one|best-in-class|cutting[- ]edge|next[- ]generation)\b`),
		cue(`\b(?:happy customers?|customers trust|trusted by|our customers (?:love|say)|testimonials?|why choose|our (?:consulting )?offer)\b`),
		cue(`\bprices? (?:from|start)\b|\bper (?:device|user|seat|employee)(?: and| per|/)|\b24/7 support\b|\bmoney[- ]back\b|\bpricing\b`),
		cue(`^\W*(?:discover|introducing|meet|experience) [A-Z]|\bfor companies of (?:every|any|all) size|\bnever sleeps\b|\bwe help (?:our |your )?(?:clients|customers|companies|you)\b`),
	}, showsNothing},
	{"news", []*lazyregexp.Prefiltered{
		cue(`^\W*by [A-Z]\w+ [A-Z]\w+(?:,|$)`),
		cue(`^\W*[A-Z]{3,}(?: \([A-Za-z ]+\))? [–—-]+ `),
		cue(`\bspokes(?:person|man|woman)\b|\btold (?:reporters|the (?:newspaper|gazette|paper))\b|\baccording to (?:the )?(?:police|prosecutors?|media|reports)\b`),
		cue(`\b(?:read more|related articles?|gazette|herald|tribune|newspaper|press review)\b`),
		cue(`\b(?:said|announced|confirmed)\b[^.\n]{0,20} on (?:mon|tues|wednes|thurs|fri|satur|sun)day\b`),
	}, showsNothing},
	{"blog", []*lazyregexp.Prefiltered{
		cue(`\bposted (?:by|on|in)\b|\bmin(?:utes?)? read\b|\b\d+ comments\b|\bfiled under\b`),
		cue(`\b(?:leave (?:a|your) comment|subscribe|share this|follow (?:me|us)|newsletter signup|in the comments)\b`),
		cue(`^\W*(?:hi|hey|hello) (?:folks|all|everyone|there|friends)\b|\bthings i (?:learned|wish)\b|\bthread:|^\W*user ?\d+ wrote\b|\bmy blog\b`),
	}, showsNothing},
	{"fiction", []*lazyregexp.Prefiltered{
		cue(`^\W*chapter (?:one|two|three|four|five|six|seven|eight|nine|ten|[\divx]+)\b|: chapter \w+$|\bonce upon a time\b|\ba novel\b|\bscene \d`),
		cue(`["”],? (?:she|he|they|\w+ (?:the|old)|the \w+|[a-z]+ed the \w+(?: \w+)?) ?(?:said|read|asked|whispered|murmured|smiled|shouted|replied)?|(?:said|whispered|murmured|asked|shouted|replied) (?:she|he|the (?:old|young) \w+)\b`),
		cue(`\b(?:she|he) (?:looked|smiled|thought of|opened|closed|walked|turned|nodded|felt|stared)\b`),
	}, showsNothing},
	{"chat", []*lazyregexp.Prefiltered{
		cue(`(?:^\W?(?:\d{4}-\d\d-\d\d )?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\]?,? ?(?:- )?<?@?[\w. -]{1,30}>?: [^\n]*\n?){2}`),
		cue(`\b(?:lol|brb|thx|afaik|imho|does any(?:body|one) know|no idea)\b|[👍😀🙂😂🎉]`),
		cue(`\b(?:morning|hi|hey|yes|yep|nope|ok|should be|i think so|never seen)\b[^\n]{0,60}$`),
	}, showsPart},
	{"research paper", []*lazyregexp.Prefiltered{
		cue(`^\W*abstract\b`),
		cue(`^\W*(?:\d+ )?(?:references|bibliography)\b`),
		cue(`\[\d+(?:, ?\d+)*\]|\bet al\.|\bproc\. of\b|\bjournal of\b|\bdoi\b`),
		cue(`\b(?:we (?:study|propose|investigate|survey|present)|our results|previous work|related work|empirical study|hypothes[ie]s|statistically)\b`),
		cue(`\b(?:participants report|respondents|questionnaire to the participants|sample of \d+|companies surveyed|methodology)\b`),
	}, showsNothing},
	{"changelog", []*lazyregexp.Prefiltered{
		cue(`^\W*(?:change ?log|release notes|what's new|version history)\b`),
		cue(`^\W*(?:version |v)?\d+\.\d+(?:\.\d+)?(?: [-–(] ?| \()20\d\d`),
		cue(`(?:^\s*[-*] (?:\*\*)?(?:added|changed|fixed|removed|deprecated|security|improved|new)\b[^\n]*\n?\s*){2}`),
	}, showsNothing},
	{"invoice", []*lazyregexp.Prefiltered{
		cue(`^\W*(?:invoice|quotation|purchase order|order confirmation|receipt|delivery note|credit note)\b`),
		cue(`\b(?:bill to|ship to|unit price|qty)\b`),
		cue(`\b(?:subtotal|total due|amount due|grand total|vat)\b`),
		cue(`\b(?:iban|payable within|payment terms|due on receipt)\b`),
	}, showsNothing},
	{"cv", []*lazyregexp.Prefiltered{
		cue(`\bcurriculum vitae\b|\br[ée]sum[ée]\b of|^\W*(?:cv|r[ée]sum[ée])\b`),
		cue(`^\W*(?:work|professional) experience\b|^\W*(?:employment|career) history\b`),
		cue(`^\W*education\b`),
		cue(`\bborn (?:in )?(?:19|20)\d\d|\bdate of birth\b|\bnationality\b|^\W*(?:languages|hobbies|interests|skills)\b`),
		cue(`\b(?:19|20)\d\d ?[–-] ?(?:(?:19|20)\d\d|today|present|now)\b`),
	}, showsNothing},
	{"presentation", []*lazyregexp.Prefiltered{
		cue(`\b(?:conference (?:talk|speech|track)|keynote|speaker:|webinar|meetup)`),
		cue(`^\W*slide \d`),
		cue(`\b(?:thank you for your attention|track [a-z], room|follow me @|questions\? )`),
	}, showsNothing},
	{"product manual", []*lazyregexp.Prefiltered{
		cue(`\b(?:administrator|admin|user|developer|product) (?:documentation|manual|guide)\b`),
		cue("^\\W*(?:installation|getting started|quick ?start|api reference|configuration options|system requirements)\\b"),
		cue("`[\\w.-]+(?: = |=| )[\\w.-]+`|`(?:GET|POST|PUT|DELETE) /|\\b(?:is set|option is|set `|run `|endpoint)"),
	}, showsPart},
	{"template", []*lazyregexp.Prefiltered{
		cue(`\bhow to use this (?:template|form|document)\b|\btemplate\)|^\W*template\b|\bdelete what does not apply\b`),
		cue(`\breplace the text in (?:brackets|italics)|\[(?:company|organi[sz]ation|name|date|insert)[^\]\n]*\]|_{6,}`),
		cue(`\b(?:questionnaire|self-assessment form)\b`),
		cue(`\bplease (?:complete|answer|fill|return|tick)\b|\byour answer\b`),
		cue(`\|[ \t]*\|[ \t]*$|answer: *_{2,}|signature:? *_{2,}`),
	}, showsAll},
}

// guessKind returns the kind of a document, guessed from cues in its text, or "" if there are too few.
func guessKind(title, text string) string {
	if len(text) > maxKindBytes {
		text = text[:maxKindBytes]
	}
	text = title + "\n" + text
	needed := minKindCues
	if ownDocumentPattern.MatchString(title) {
		needed = minKindCuesIfTitled
	}
	best, most := "", needed-1
	for i := range documentKinds {
		k := &documentKinds[i]
		n := 0
		for _, c := range k.cues {
			if c.MatchString(text) {
				n++
			}
		}
		required := most
		if len(k.cues) > 4 && needed == minKindCues {
			required = max(most, minKindCues) // one of many cues may occur by chance
		}
		if n > required {
			best, most = k.category, n
		}
	}
	return best
}

// ownDocumentPattern matches titles of an organization's rules and records.
var ownDocumentPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:polic(?:y|ies)|procedures?|handbook|charter|directive|register|inventory|minutes|log|plan|audit report|risk assessment|runbook|playbook|guidelines?|rules)\b`,
)

// limitOfCategory returns what passages of a document category can show.
func limitOfCategory(category string) kindLimit {
	if i := slices.IndexFunc(documentKinds, func(k documentKind) bool { return k.category == strings.ToLower(category) }); i >= 0 {
		return documentKinds[i].limit
	}
	return showsAll
}

// silenceReason returns why a passage can show nothing about a statement, whatever it says, or "".
func (c *foundPassage) silenceReason(d *preparedStatement) string {
	limit := limitOfCategory(c.category)
	switch _, outside := c.disclaimer(); {
	case limit == showsNothing, limit == showsTraining && !d.mentions("train") && !d.mentions("aware"):
		return fmt.Sprintf("%s is of a kind that doesn't show what the organization does: %s", c.documentName(), c.category)
	case c.status.repealed:
		return fmt.Sprintf("%s is no longer in force", c.documentName())
	case outside:
		return fmt.Sprintf("a sentence in %s says that the text after it is not the organization's own practice", c.documentName())
	}
	return ""
}

// documentName returns the title of the passage's document, or its file name if it has no title.
func (c *foundPassage) documentName() string { return cmp.Or(c.DocumentTitle, c.Filename) }
