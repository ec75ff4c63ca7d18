package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// MonthNames are the English names of the months, as alternatives in a regular expression that ignores case.
const MonthNames = `january|february|march|april|may|june|july|august|september|october|november|december`

// negativeStates lists, as alternatives of a regular expression, what may follow "not" in a status or cell.
const negativeStates = `yet|done|met|tested|in place|compliant|enabled|enforced|effective|started|performed|available|active|configured|present|established|held|reviewed|passed|completed|carried out`

// planVerbs lists, as alternatives of a regular expression, the beginnings of verbs used to announce work.
const planVerbs = `(?:implement|deploy|introduc|roll(?:ed|ing)? out|rolled|establish|adopt|develop|procur|purchas|enabl|migrat|put in place|launch|complet|finali[sz]|creat|install|acquir|set up|start|begin|build|address|remediat|in place|available|extend)`

var (
	planPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:` +
		`road ?map item|will (?:\w+ly )?(?:soon )?(?:be )?(?:fitted|built|bought|implement|deploy|introduc|roll(?:ed)? out|rolled|establish|adopt|procur|purchas|migrat|put in place|launch|in place)\w*|` +
		`shall be (?:implemented|introduced|rolled out|deployed) (?:by|in|during) |` +
		`(?:is|are|was|were|has been|have been|being|remains?|currently|still) (?:\w+ly )?(?:planned|foreseen|envisaged|intended|on the roadmap|on our roadmap|under development|under construction|in development|in progress|in preparation|work in progress|being (?:` + planVerbs + `)\w*)(?: (?:for|to|in|by|as))?|` +
		`(?:we|organi[sz]ation|company|team|it|department|management) (?:currently )?(?:plans?|intends?|expects?|proposes?) to |` +
		`plans? (?:are|is) (?:under way|underway|in place) to |planned (?:for|in|by) |scheduled to (?:be )?(?:` + planVerbs + `)\w*|` +
		`scheduled for (?:q[1-4]|20\d\d|next|completion|implementation|roll-?out|` + MonthNames + `)|(?:on|in) (?:the|our) roadmap|` +
		`to be (?:implemented|introduced|rolled out|deployed|established|developed|purchased|completed by|done)|` +
		`going to (?:implement|introduce|deploy|roll|establish|adopt|develop|buy)|next (?:year|quarter|fiscal year|budget)|` +
		`(?:target|planned|expected|due|go-live) date:? |(?:has|have) been (?:proposed|suggested|scheduled)\b|(?:is|are) (?:proposed|scheduled to|expected (?:to (?:be )?` + planVerbs + `\w*|to go|to arrive|in|by)|going to)\b|not (?:yet )?started\b|(?:on|in) (?:the|our|a) backlog|` +
		`(?:under|being) (?:consideration|considered|evaluated|discussed)\b|(?:we|team|it|they) (?:are|is) (?:evaluating|considering|exploring|looking into|discussing)\b|(?:would|'d|’d) like to\b|hopes? to\b|in (?:the )?future,? |budget (?:is )?pending|` +
		`(?:is|are) to (?:be (?:divided|introduced|bought|written|set up|assessed|monitored|moved|replaced)|monitor|watch|send|provide) .{0,80}\b(?:20\d\d|next|q[1-4])|want(?:s)? to (?:have|introduce|buy|set up|start|build)|(?:explore|investigate) whether\b|first draft\b)`)
	plannedStatusPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:status|state|implementation|progress|implemented)\s*[:=|]\s*(?:planned|open|backlog|not (?:yet )?(?:started|begun)|in progress|pending|to ?do|ongoing|scheduled|0 ?%|(?:an? |first |rough )?(?:ideas?|notes|sketch|proposal|thoughts)\b|(?:\w+ )?(?:offers?|quotes?) (?:received|asked|requested)|under discussion|to be (?:decided|discussed))`,
	)
	negativeStatusPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:status|state|implementation|implemented|in place|enabled|encrypted|enforced|result|compliant|compliance|tested|answer|response|met|effective)\s*[:=|]\s*(?:no(?:ne)?\s*(?:[.;,|)]|$)|false\b|not (?:implement|complete|encrypted|` + negativeStates + `)|missing|fail|absent|disabled|non-?complian|n\s*(?:[.;,|)]|$)|inactive|off\b|expired|overdue)`,
	)
	// negativeCellPattern matches the value of a negative table cell. statusColumnPattern matches the names of
	// columns whose value applies to the whole row.
	negativeCellPattern = lazyregexp.New(
		`(?i)^\W*(?:no|n|false|none|never|absent|off|none (?:held|done|made|performed|recorded))[\s.]*$|^\W*(?:(?:target )?missed|not (?:implemented|completed?|` + negativeStates + `)|missing|disabled|inactive|expired|overdue|fail(?:ed|s|ure)?|non-?complian\w*|on hold|stopped|abandoned|suspended|skipped|incomplete|cancell?ed)\b|^\s*(?:[✗✘❌☐□❏⬜]|\[ *\])\s*$`,
	)
	// notStartedPattern matches a status that shows that planned work has not begun.
	notStartedPattern = lazyregexp.New(`(?i)^\W*not (?:yet )?started\b`)
	// noFindingsPattern matches a result that consists of no findings: "Result: none".
	noFindingsPattern   = lazyregexp.New(`(?i)^\W*(?:result|outcome|answer|response)s?: *(?:no|none|n)[\s.]*$`)
	statusColumnPattern = lazyregexp.New(
		`(?i)^\W*(?:(?:current |overall )?(?:status|state)|(?:date )?held(?: on)?|result|outcome|answer|response|implementation|implemented|in place|in use|in force|enforced|effective|compliant|compliance|met|done|performed|completed?|attended|active|passed|tested|exists?|existing|documented|written)(?: on)?\W*(?:\(?y ?/ ?n\)?|\?)?\W*$`,
	)
	positiveStatusPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:status|state|result|outcome|completed|closed|implemented|in place|enabled|encrypted|enforced)\s*[:=|]\s*(?:yes|done|complete|closed|pass|success|ok\b|on\b|active|enabled|enforced|approved|implemented|in place|y\b|true|resolved|restored)`,
	)

	deadlinePattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:by|in|during|until|from|starting|before|for|end of|mid|early|late)(?: the)?(?: end of| start of| middle of| first half of| second half of)? (?:the )?(?:(?:easter|spring|summer|autumn|fall|winter|christmas) )?(?:(?:q[1-4]|h[12]|fy)[ /-]?)?(?:(?:\d{1,2}\.? )?(?:` + MonthNames + `)(?: \d{1,2},?)? )?(20\d\d)\b`,
	)

	reviewYearPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:review\w*|revis\w*|valid|expir\w*|next|due)\b[^.]{0,40}\b20\d\d`) // review date of the document itself

	templatePattern = lazyregexp.NewPrefiltered(
		`(?i)(?:\[\s*(?:insert|enter|specify|add|your|company|organi[sz]ation|entity|name|date|role|title|department|system|number|x+|tbd|tbc|todo|describe|choose|select|frequency|e\.g|list|owner|job|amount|persons?|set the|address|fill|period|placeholder|…|\.\.\.|●|_+)[^\]\n]{0,160}\]|<\s*(?:insert|enter|your|company|organi[sz]ation|name|date|role|title|department|system|number|x+|tbd|client|list|owner|describe|frequency|period)[^<>\n]{0,60}>|\{\{[^}\n]{1,60}\}\}|\$\{[^}\n]{1,60}\}|\b(?:TBD|TBC|TODO|FIXME|XXX+|lorem ipsum)\b|_{4,}|to be (?:defined|determined|confirmed|decided|specified|completed|added|written|agreed)\b|\((?:an? )?(?:sample|example|dummy) (?:text|wording|sentence)\)|\byour (?:company|organi[sz]ation) name\b|\bACME (?:name|placeholder)\b)`,
	)
	// separationPattern matches an "apart from" that doesn't express a limit: "kept apart from one another".
	separationPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:is|are|be|kept|keeps?|held|runs?|stored|stands?|lies?|lives?) (?:\w+ )?apart from\b|\bapart from (?:one another|each other)\b`,
	)
	limitPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:(?:on|in|for|of|to) (?:the |our |all )?(?:laptops|desktops|workstations|servers|phones|tablets|endpoints|windows (?:machines|devices)|production|offices?|headquarters|head office|clinics?) only\b|only (?:on|in|for) (?:the |our )?(?:laptops|desktops|workstations|servers|phones|tablets|production|offices?|headquarters|head office|clinics?)\b|(?:have|has|had|gets?) none\s*(?:[.;,]|$)|outside (?:of )?(?:this|the|our) (?:policy|scope|standard|procedure)|except(?:ing)? (?:for|in|where|when|that)\b|with the exception of|excluding|other than|does not apply|do not apply|not in scope|out of scope|(?:is|are) exempt|exempt from|exceptionally|only (?:for|applies|cover\w*)\b|limited to|apart from|pilot|partially|partly|in part\b|some (?:of )?(?:the |our )?(?:systems?|devices?|users?|servers?|laptops?|teams?|suppliers?|vendors?|sites?|employees|staff|applications?|accounts?)|selected (?:systems?|devices?|users?|servers?|teams?|suppliers?|vendors?|applications?)|most (?:of|systems?|devices?|users?|servers?|laptops?|teams?|suppliers?|vendors?|employees|staff|applications?|accounts?)|a (?:number of|subset)|a few (?:of|other|more|systems?|devices|users|people|servers|laptops|machines|teams|suppliers|vendors|employees|staff|applications|accounts|sites|offices|locations|countries|departments|rooms|places|services|customers|controls|cases|exceptions)\b|case by case|ad hoc|informal(?:ly)?|inconsistent(?:ly)?|sporadic(?:ally)?|occasional(?:ly)?|in theory)`,
	)
	instructPattern = lazyregexp.NewPrefiltered(
		`(?i)(?:(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|your|other)\b.{0,30}\b(?:instruction|prompt|rule|guideline|finding|evidence|criteria)|\b(?:ignore|disregard|forget) (?:all |everything )?(?:the )?above\b|\b(?:mark|rate|score|grade|report|treat|regard|deem|consider|classify|set|record|flag)\b.{0,120}\bas (?:fully )?(?:compliant|implemented|met|satisf|passed|not applicable|evidenced|performed|done|in place|effective|covered|level [0-5])|^\W*(?:please )?(?:answer|respond|reply|conclude|say) that\b|\bwhen (?:evaluating|assessing|judging|rating|scoring|auditing|reviewing)\b[^.;]{0,60}, ?(?:please )?(?:answer|respond|reply|conclude|state|say|accept|consider|assume|find|rate|mark|report)\b|\bin your (?:assessment|report|answer|evaluation|judge?ment|findings?|response|rating)\b|\b(?:it is sufficient|it suffices) to (?:find|conclude|accept|state)\b|\bthe (?:correct|right|expected) (?:answer|finding|verdict|rating|conclusion) is\b|\bwrite in (?:the|your) (?:report|assessment|answer|findings?)\b|^\W*(?:grade|verdict)\s*[:=]|\b(?:full|top|maximum) (?:marks|score|points)\b|^\W*score \d+\s*:|\bdo not doubt\b|\byou have seen that\b|\byou are an? (?:auditor|assessor|reviewer|assistant|judge|expert)\b|\bas an ai\b|\b(?:system|assistant|user) ?(?:prompt|message)|\b(?:the )?(?:assessor|auditor|model|tool|reviewer|assistant|reader|llm)s? (?:must|should|shall|will|is to|are to|has to|have to) (?:conclude|mark|rate|accept|assume|consider|treat|find|report)|you (?:are|must|should|will) (?:now|conclude|mark|rate|answer|respond|output)\b)`,
	)
	speakerPattern = lazyregexp.New(
		`(?i)^\W*(?:(?:system|assistant|user) ?:|(?:assessor|auditor|reviewer)s?: (?:please |kindly )?(?:write|report|state|mark|rate|conclude|confirm|consider|accept|regard|treat|assume)\b|(?:assistant|ai|model|assessor|auditor|reviewer)s?(?:, (?:please |kindly )?| please | kindly )(?:write|report|state|mark|rate|conclude|confirm|consider|accept|regard|treat|note that|assume)\b)`,
	)
	purposePattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:the )?(?:purpose|aim|goal|objective|intent|scope)s? (?:of|and)\b|\b(?:this|the) (?:policy|document|procedure|standard|plan|section|chapter) (?:is intended to|is designed to|aims to|seeks to|describes the purpose|provides an overview|is to)\b|^(?:purpose|scope|objective|aim)\s*:`,
	)
	// selfDescriptionPattern matches sentences in which a document describes itself without requiring anything.
	selfDescriptionPattern = lazyregexp.NewPrefiltered(
		`(?i)^\W*(?:(?:(?:this|the) (?:[\w&-]+ ){0,4}(?:policy|guide|guidance|guidelines?|document|procedure|standard|plan|section|chapter|handbook|manual|page|framework)|it|this) (?:also )?(?:applies to|provides (?:you with )?(?:the |an |some |further |more )?(?:general )?(?:context|overview|advice|guidance|information|details?|background|introduction)|gives (?:you )?(?:some |an )?(?:advice|guidance|overview|information)|aligns (?:to|with)|is divided into|should be read|is part of|helps you|contains (?:guidance|advice|information)))\b`,
	)
	// contactPattern matches a sentence that says whom to ask.
	contactPattern = lazyregexp.NewPrefiltered(
		`(?i)^\W*(?:(?:if|for|should|where)\b[^.;]{0,100}\b(?:questions?|quer(?:y|ies)|advice|assistance|help|guidance|further (?:information|details?)|more (?:information|details?)|unsure|in doubt|not sure)\b[^.;]{0,60}\b(?:contact|ask|e-?mail|speak (?:to|with)|talk to|consult|call|see|visit|refer to|get in touch)\b|(?:please )?(?:contact|e-?mail|ask|speak (?:to|with)) [^.;]{0,60} (?:for|if you (?:have|need)) (?:[\w,]+ ){0,3}(?:advice|assistance|help|guidance|questions?|further|more|information|details?)\b)`,
	)
	definitionPattern = lazyregexp.NewPrefiltered(
		`(?i)^[“"']?[\w /-]{2,60}[”"']?(?:\s*\([\w ]+\))?\s+(?:means|refers to|is defined as|stands for|is (?:a|an|the) (?:process|method|term|practice|type|kind|technique|mechanism|act) (?:of|that|by|in|where|which))\b`,
	)
	referencePattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:please )?(?:see|refer to|cf\.|consult)\b|\b(?:is|are) (?:described|covered|addressed|detailed|defined|documented) in (?:the|a|our) (?:separate |corresponding )?[\w &-]{3,60}(?:policy|procedure|standard|plan|document)\.?$|\.{5,}\s*\d+$|\b(?:iso|iec|nist|pci|gdpr|hipaa|dora|nis ?2|the (?:standard|regulation|law|act|directive|framework)|(?:clause|article|annex) [A-Z]?\d[\d.]*)\b[^.]{0,40}\b(?:requires?|demands?|asks?|states?|says) (?:us |organi[sz]ations )?(?:that|to)\b`,
	)
	wishPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:would be (?:\w+ )?(?:desirable|nice|great|good|better|useful|helpful|ideal|welcome|expected|sensible|advisable|preferable)|(?:we|i|auditors?|assessors?|consultants?|testers?|reviewers?) (?:would |strongly |also |therefore )*(?:recommend|suggest|advise)\b|it (?:is|was) recommended that)`,
	)
	pastEventPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:was|were|has been|have been) (?:\w+ly )?(?:[a-z]+ed|done|held|made|taken|run|sent|found|given|shut|kept|built|set)\b|\b(?:completed|performed|conducted|executed|reviewed|tested|approved|restored|closed|attended|signed|held)\b[^.]{0,40}\b(?:on|at|in)\b.{0,20}\b20\d\d\b|\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d`,
	)
	isoDatePattern = lazyregexp.NewPrefiltered(`\b(20\d\d)-(\d\d)-(\d\d)\b`)
)

// Each bit represents a pattern that can match a sentence only if it contains one of the pattern's trigger words.
// Checking for the words first saves time, because patterns are slow and most sentences contain no trigger words.
const (
	triggersPlan = 1 << iota
	triggersPlaceholder
	triggersLimit
	triggersInstruction
	triggersPurpose
	triggersDefinition
	triggersReference
	triggersPastEvent
	triggersWish
)

// triggerMasks maps each trigger word to the bits of its patterns.
var triggerMasks = newTriggerMasks(map[int]string{
	triggersPlan: `will shall planned plan plans foreseen envisaged intended intends intend roadmap development construction progress preparation being
		start started considered consideration evaluated evaluating considering exploring looking discussing discussed proposed suggested backlog like hope hopes future pending to want wants explore investigate draft
		fitted built bought roadmap item expects expect aims aim proposes propose scheduled going next target expected due live implemented introduced rolled deployed established
		developed purchased completed done prepared drawn written drafted worked compiled procured hired`,
	triggersPlaceholder: `tbd tbc todo fixme lorem your acme text wording sentence defined determined confirmed decided specified completed added written agreed`,
	triggersLimit: `except excepting exception excluding other scope apply exempt exceptionally only limited apart pilot partially partly part some selected
		most few none outside number subset case ad informal informally inconsistent inconsistently sporadic sporadically occasional occasionally theory`,
	triggersInstruction: `ignore disregard forget override compliant implemented met satisfied satisfactory satisfying passed evidenced level applicable ai prompt message
		assistant assistants assessor assessors auditor auditors model models tool reviewer reviewers reader readers llm you your above performed done place effective covered
		answer respond reply conclude say evaluating assessing judging rating scoring auditing reviewing suffices sufficient correct right expected write grade verdict marks points score doubt`,
	triggersPurpose:    `purpose purposes aim aims goal goals objective objectives intent intents scope scopes policy document procedure standard plan section chapter`,
	triggersDefinition: `means refers defined stands process method term practice type kind technique mechanism act`,
	triggersReference:  `requires require demands demand asks ask states says see refer cf consult described covered addressed detailed defined documented`,
	triggersWish:       `desirable nice great good better useful helpful ideal welcome expected sensible advisable preferable recommend recommended suggest advise`,
	triggersPastEvent:  `was were been completed performed conducted executed reviewed tested approved restored closed attended signed held`,
})

// newTriggerMasks returns the mask of each trigger word. lists maps each bit to its space-separated trigger
// words.
func newTriggerMasks(lists map[int]string) map[string]int {
	m := make(map[string]int)
	for bit, list := range lists {
		for _, w := range strings.Fields(list) {
			m[w] |= bit
		}
	}
	return m
}

// triggeredPatternMask returns the bits of the patterns that may match a sentence.
func triggeredPatternMask(text string, words []word) int {
	mask := 0
	for _, w := range words {
		mask |= triggerMasks[w.text]
		if strings.HasPrefix(w.text, "xxx") {
			mask |= triggersPlaceholder
		}
	}
	if strings.ContainsAny(text, "[<{$☐□❏⬜") || strings.Contains(text, "____") {
		mask |= triggersPlaceholder
	}
	if strings.Contains(text, ".....") {
		mask |= triggersReference
	}
	if strings.Contains(text, "20") && strings.Contains(text, ":") {
		mask |= triggersPastEvent
	}
	if strings.Contains(text, ":") {
		mask |= triggersInstruction
	}
	return mask
}

// readPatterns sets the fields of s that are determined by patterns. Deadlines after currentYear count as plans.
// currentYear is 0 if unknown.
func readPatterns(s *Stance, text string, words []word, currentYear int) {
	possible := triggeredPatternMask(text, words)
	if possible&triggersPlaceholder != 0 {
		readPlaceholder(s, text)
	}
	readPlan(s, text, words, currentYear, possible)
	if s.Limit == "" && possible&triggersLimit != 0 {
		if s.Limit = limitPattern.FindString(text); s.Limit != "" &&
			(noExemptionPattern.MatchString(text) || separationPattern.MatchString(text)) {
			s.Limit = ""
		}
	}
	if s.Limit == "" && possible&triggersLimit != 0 && s.Denied|s.Prohibited == 0 && !noExemptionPattern.MatchString(text) &&
		!restrictionPattern.MatchString(text) {
		s.Limit = exceptPattern.FindString(text)
	}
	if s.Limit == "" {
		s.Limit, s.NoneOfAll = findPartialShare(text)
		s.LimitIsShare = s.Limit != ""
		if s.NoneOfAll = s.NoneOfAll && s.Denied|s.Prohibited == 0 && !namesMishap(words); s.NoneOfAll {
			s.Denied = 1 << words[0].clause // "0 of 12 sample files were restored"
		}
	}
	if strings.ContainsAny(text, ":=|") {
		s.AnswersNo = s.AnswersNo || !s.IsTableRow && negativeStatusPattern.MatchString(text)
		s.AnswersYes = positiveStatusPattern.MatchString(text)
	}
	s.Question = strings.HasSuffix(strings.TrimRight(text, "*_\"'”)"), "?") ||
		strings.Contains(text, "uestion") && unansweredPattern.MatchString(text)
	// "System:" may begin a prompt to a model; in a row it is a column name.
	s.Instruction = possible&triggersInstruction != 0 &&
		(instructPattern.MatchString(text) || !s.IsTableRow && speakerPattern.MatchString(text))
	if possible&triggersWish != 0 && wishPattern.MatchString(text) {
		s.Hypothetical = 1<<s.ClauseCount - 1 // a wish or recommendation
		s.Denied = 0
	}
	s.StatesPurpose = possible&triggersPurpose != 0 && purposePattern.MatchString(text) || selfDescriptionPattern.MatchString(text)
	s.Definition = possible&triggersDefinition != 0 && definitionPattern.MatchString(text)
	s.Reference = possible&triggersReference != 0 && referencePattern.MatchString(text)
	s.NamesContact = contactPattern.MatchString(text)
	s.ReportsPast = possible&triggersPastEvent != 0 && pastEventPattern.MatchString(text) ||
		s.AnswersYes && isoDatePattern.MatchString(text)
	s.StillPresent = stillActivePattern.MatchString(text)
	markReversedMeaning(s, text, words)
	readAttribution(s, text, words, currentYear)
	if s.IsTableRow {
		s.readNegativeCells(text, words)
	}
	if s.AnswersNo {
		s.Denied |= 1<<s.ClauseCount - 1
	}
}

// nonePattern matches a cell that contains only "none", meaning that what the column name refers to doesn't exist.
var nonePattern = lazyregexp.New(`(?i)^\W*none[\s.]*$`)

// namesHolder reports whether the name of a column denotes a role to which somebody must be appointed. A "none" in such
// a column is a denial: "deputy: none".
func namesHolder(name []word) bool {
	return slices.ContainsFunc(name, func(w word) bool { return isOneOf(w.text, "owner", "deputy", "officer", "custodian", "steward") })
}

// isActionColumn reports whether the name of a column denotes an action or a safeguard. A "no" in such a column is a
// denial: "reviewed: no", but not "privileged: no".
func isActionColumn(name []word) bool {
	return slices.ContainsFunc(name, func(w word) bool { return isInflectedVerb(w) || safeguardStems[w.stem] })
}

// readNegativeCells interprets the negative cells of a table row. In a status column, they apply to the whole
// row; in an action column, only to the cell itself.
func (s *Stance) readNegativeCells(text string, words []word) {
	at := 0
	for cell := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '|' }) {
		from := at + strings.Index(text[at:], cell)
		at = from + len(cell)
		label, value, ok := strings.Cut(cell, ": ")
		if !ok || !negativeCellPattern.MatchString(value) {
			continue
		}
		switch {
		case StartsWithUntickedBox(strings.TrimSpace(value)):
			s.Placeholder = strings.TrimSpace(value)
			return
		case noFindingsPattern.MatchString(cell), s.PlanWords != "" && notStartedPattern.MatchString(value):
			continue
		case statusColumnPattern.MatchString(label):
			s.AnswersNo = true
			return
		}
		cellWords := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.start < from || w.end > at })
		if !isActionColumn(cellWords) && !(nonePattern.MatchString(value) && namesHolder(cellWords)) {
			continue
		}
		for _, w := range cellWords {
			s.Denied |= 1 << w.clause
		}
	}
}

// unansweredPattern matches sentences about unanswered questions, which say nothing about what was asked.
var unansweredPattern = lazyregexp.NewPrefiltered(
	`(?i)\bquestions?\b(?: \w+){0,4} (?:(?:could|can|did|were|was|are|is)(?: not|n't)|cannot|unable to|not able to)(?: be| yet)* answer|\b(?:open|unanswered|outstanding|unresolved) questions?\b`,
)

// exceptPattern matches an exception to a rule. In a sentence that matches restrictionPattern, an exception
// doesn't limit the rule: "all ports are closed except the web's".
var (
	exceptPattern      = lazyregexp.NewPrefiltered(`(?i)\bexcept (?:the|our|on|at|by|to|from|two|one|some|those|by) [\w-]+`)
	restrictionPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:only|nobody|no[- ]one|none|closed|clos\w+|block\w*|den(?:y|ied|ies)|refus\w+|reject\w*|restrict\w*|prohibit\w*|forbid\w*|forbidden|drop\w*|disabled|removed|locked|by default)\b`,
	)
)

// noExemptionPattern matches the denial of an exemption, which doesn't limit a rule: "no user is exempt".
var noExemptionPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:no|nobody|none|never)\b[^.;]{0,60}\bexempt`)

// StartsWithUntickedBox reports whether a text begins with an unticked checkbox.
func StartsWithUntickedBox(text string) bool { return untickedBoxPattern.MatchString(text) }

var untickedBoxPattern = lazyregexp.New(`^\W{0,2}?(?:\[ *\]|[☐□❏⬜])`)

// readPlaceholder sets the placeholder of s to an unticked checkbox or, if there is none, to the
// first unfilled blank.
func readPlaceholder(s *Stance, text string) {
	if box := untickedBoxPattern.FindString(text); box != "" {
		s.Placeholder = box
		return
	}
	for _, m := range templatePattern.FindAllStringIndex(text, -1) {
		// Links ("[name](link)"), ticked boxes and obligations ("has to be specified") are not
		// blanks, but an "[x]" in place of a number is one.
		if m[1] < len(text) && text[m[1]] == '(' ||
			strings.EqualFold(text[m[0]:m[1]], "[x]") && !beforeNumberPattern.MatchString(text[:m[0]]) ||
			isObligation(text, m) {
			continue
		}
		s.Placeholder = strings.TrimSpace(text[m[0]:m[1]])
		return
	}
}

// FindPlaceholders returns the byte offsets, in text, of blanks that a template leaves to be filled in.
func FindPlaceholders(text string) [][]int {
	if !strings.ContainsAny(text, "[<{$") {
		return nil
	}
	return templatePattern.FindAllStringIndex(text, -1)
}

// beforeNumberPattern matches text that is usually followed by a number, such as "at least".
var beforeNumberPattern = lazyregexp.New(`(?i)\b(?:least|most|than|within|every|after|maximum|minimum|up to|for)\s*$`)

// readPlan sets the plan words of s, which show that the sentence is about the future.
func readPlan(s *Stance, text string, words []word, currentYear, possible int) {
	if possible&triggersPlan != 0 {
		if m := planPattern.FindStringIndex(text); m != nil && !isObligation(text, m) &&
			!plannedMannerPattern.MatchString(text[m[0]:m[1]]) &&
			!relativeEndPattern.MatchString(text[:m[0]]) &&
			!isDueDateReference(text, m) {
			s.PlanWords = strings.TrimSpace(text[m[0]:m[1]])
		}
	}
	if s.PlanWords == "" && possible&triggersPlan != 0 {
		if m := futureDocumentPattern.FindStringIndex(text); m != nil && !isObligation(text, m) && !recurringRulePattern.MatchString(text) {
			s.PlanWords = strings.TrimSpace(text[m[0]:m[1]])
		}
	}
	if s.PlanWords == "" && strings.ContainsAny(text, ":=|") {
		s.PlanWords = plannedStatusPattern.FindString(text)
		s.RefersBack = s.RefersBack || s.PlanWords != "" && len(words) <= 4 // "Status: not started." follows its subject
	}
	if s.PlanWords == "" && currentYear > 0 && strings.Contains(text, "20") {
		// A past date may be the date from which a rule applies; only a future one is a plan.
		if m := deadlinePattern.FindStringSubmatchIndex(text); m != nil && !reviewYearPattern.MatchString(text) &&
			!validityPattern.MatchString(text[:m[1]]) {
			if y, err := strconv.Atoi(text[m[2]:m[3]]); err == nil &&
				(y > currentYear || y == currentYear && strings.Contains(strings.ToLower(text), "will")) {
				s.PlanWords = text[m[0]:m[1]]
			}
		}
	}
	if s.PlanWords == "" && !s.IsTableRow {
		s.PlanWords = findAssignment(text, words)
	}
	if s.PlanWords != "" && pronouns[wordAt(words, 0)] && len(words) <= 14 {
		s.RefersBack = true
	}
}

// findAssignment returns the words with which meeting minutes assign a task to somebody, such as "Action: purchasing to
// set up", or "" if there are none or the task is marked as done.
func findAssignment(text string, words []word) string {
	m := assignmentPattern.FindStringIndex(text)
	if m == nil || doneMarkPattern.MatchString(text) {
		return ""
	}
	i := slices.IndexFunc(words, func(w word) bool { return w.start >= m[1] })
	for k := i; k > 0 && k < len(words) && k <= i+maxSubjectWords; k++ {
		if next := wordAt(words, k+1); words[k].text == "to" && k > i && !verbs[words[i].text] &&
			(verbs[next] || finiteVerbForms[next] || assignedVerbs[next]) {
			return text[words[0].start:words[k+1].end]
		}
	}
	return ""
}

var (
	// assignmentPattern matches the label of a task.
	assignmentPattern = lazyregexp.NewPrefiltered(`(?i)^\W*(?:actions?(?: items?| points?)?|to-?do|next steps?|tasks?|decisions?)(?: \d+)?\s*[:–—-]\s`)
	doneMarkPattern   = lazyregexp.New(`(?i)\b(?:done|completed?|closed)\b|[✓✔✅]`)
	assignedVerbs     = wordSet(
		"set introduce draft prepare buy purchase order develop roll establish organize organise arrange finish build look find contact draw appoint add",
	)
)

// futureDocumentPattern matches the announcement of a document or purchase. If the sentence also matches
// recurringRulePattern, it is a rule instead: "a report will be written after each incident".
var (
	futureDocumentPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:will (?:\w+ly )?be|(?:is|are) (?:\w+ly )?(?:still )?to be|still (?:has|have|needs?) to be|(?:is|are) being) (?:prepared|drawn up|written|drafted|worked out|compiled|purchased|procured|hired)\b`,
	)
	recurringRulePattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:each|every|any|whenever|when|if|where|upon|after|before|for all|all|always|must|shall|annual\w*|year\w*|quarter\w*|month\w*|week\w*|dai\w*|regular\w*|periodic\w*|within|by the|who|kept|maintained|reviewed|updated)\b`,
	)
)

// validityPattern matches text that says until when something is valid, as in "signed a waiver until 31 August
// 2027".
var validityPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:signed|approved|accepted|granted|valid|extended|agreed|renewed|runs?|lasts?|licen[cs]ed?|waiver|exception|contract)\b[^.;]{0,60}\b(?:until|to|till)\b[^.;]*$`,
)

// relativeEndPattern matches a relative pronoun before plan words. In that case, they don't express a plan:
// "staff who are going to see patients".
var relativeEndPattern = lazyregexp.New(`(?i)\b(?:who|that|which) $`)

// isDueDateReference reports whether a match only mentions a due date without planning anything, as in "did not
// complete it by the due date of 30 June".
func isDueDateReference(text string, match []int) bool {
	return strings.HasSuffix(strings.TrimRight(strings.ToLower(text[match[0]:match[1]]), ": "), "date") &&
		dueDatePrefixPattern.MatchString(text[:match[0]])
}

// dueDatePrefixPattern matches the words before a mention of a due date, such as "by the".
var dueDatePrefixPattern = lazyregexp.New(`(?i)\b(?:by|after|before|past|until|beyond|since|of) (?:(?:the|its|their|that|this) )?$`)

// plannedMannerPattern matches text that says how something is done rather than that it will be done, as in "changes
// are properly planned".
var plannedMannerPattern = lazyregexp.New(
	`(?i)\b(?:properly|carefully|adequately|thoroughly|formally|centrally|jointly|systematically|fully) (?:planned|foreseen|intended)`,
)

var obligationPrefixPattern = lazyregexp.New(`(?i)\b(?:has|have|had|needs?|ought|required|requires?|is|are)\s*$`)

// isObligation reports whether a match is a "to be …" after "has", "needs", "is" or the like. Such a phrase states a
// rule and is neither a blank nor a plan.
func isObligation(text string, match []int) bool {
	return strings.HasPrefix(strings.ToLower(text[match[0]:match[1]]), "to be") && obligationPrefixPattern.MatchString(text[:match[0]])
}
