package analyst

import (
	"slices"
	"strings"

	"github.com/scf-service/service/expression"
)

// safeguards are things that an organization has, keeps or does against a risk: that there is none is a lack,
// where having no visitors, no incidents or no branch abroad is none.
var safeguards = stemSet(`siem inventory register record log logbook list policy procedure process plan playbook runbook rota schedule calendar test exercise drill rehearsal
review recertification audit assessment analysis check scan inspection training course screening vetting firewall antivirus mfa 2fa encryption backup copy monitoring alarm
camera cctv badge turnstile vpn vault segmentation baseline standard guideline hardening dlp mdm edr xdr ids ips waf proxy sandbox gateway escrow generator ups sprinkler extinguisher
questionnaire checklist approval sign-off nda dpa dpia clause agreement hotline channel portal tool tracker dashboard report
budget diagram map program programme concept strategy risk-register classification scheme label watermark pentest signature filter
authentication bitlocker filevault logging patch anti-malware anti-virus honeypot allowlist whitelist blocklist retention pseudonymization minutes lessons retrospective`)

// alsoLacked are such things that say nothing as the names of columns.
var alsoLacked = stemSet("committee board officer owner deputy role rule control safeguard measure metric kpi evidence proof document documentation certificate")

// thing is a word of what a sentence says is lacking.
type thing struct {
	concept, stem uint64
	phrase        uint64 // that it is part of; 0 where of none
}

const maxLacked = 6 // words of a thing; what takes more to say is no plain lack

// lacked are the words of what a sentence plainly says there is none of, or that was not done: "we have no
// SIEM", "a record of processing has not been written yet", "the review of Q1 was not held". None where what
// is denied is no safeguard.
func lacked(text string, words []word, s *stance) (things []thing) {
	if s.row || s.denied == 0 || s.conditional|s.unreal != 0 || s.question || !plainly(text, words, s) {
		return nil
	}
	l := lex()
	guards, part, phrase := false, 0, uint64(0)
	for i, w := range words {
		if part--; part < 0 {
			phrase = 0
		}
		if s.denied&(1<<w.clause) == 0 {
			continue
		}
		if concept, n := l.at(words, i); n > 1 {
			part, phrase = n-1, termID(concept)
		}
		if relative[w.text] || circumstance[w.text] {
			break
		}
		guards = guards || safeguards[w.stem] || alsoLacked[w.stem]
		if stopWords[w.text] || len(w.stem) < 2 || strings.ContainsAny(w.text, "0123456789") || idleDeeds[w.stem] || timesOf[w.stem] {
			continue
		}
		if t := (thing{termID(l.concept(w.stem)), termID(w.stem), phrase}); !emptyWords()[t.concept] {
			things = append(things, t)
		}
	}
	if !guards || len(things) > maxLacked {
		return nil
	}
	return things
}

// plainly: a sentence denies in its first clause, of a thing as a whole: "we have no …", "there is no …", "no … was
// held", "the … has not been written". "Roles that nobody confirms are removed" and "not approved" don't.
func plainly(text string, words []word, s *stance) bool {
	if s.denied&1 == 0 {
		return false
	}
	for i, w := range words {
		next := at(words, i+1)
		switch {
		case w.clause > 0 || relative[w.text]:
			return false
		case w.text == "no":
			prev := at(words, i-1)
			return i == 0 && !strings.HasPrefix(text[w.end:], ".") || having[prev] || auxiliaries[prev]
		case w.text == "not" && i > 0 || strings.HasSuffix(w.text, "n't"):
			if next == "yet" || next == "been" {
				i, next = i+1, at(words, i+2)
			}
			return having[next] || idleDeeds[stemOf(next)] || at(words, i+1) == "been" && idleDeeds[stemOf(at(words, i+2))] || next == "in" && at(words, i+2) == "place"
		case w.text == "never" && i > 0:
			return idleDeeds[stemOf(next)] || next == "been" && idleDeeds[stemOf(at(words, i+2))]
		}
	}
	return false
}

var (
	// circumstance begins where, when or why.
	circumstance = wordSet("in at since because by due during before after until despite although while")
	// idleDeeds say of a thing no more than that it is there.
	idleDeeds = stemSet(`held hold written write carried carry kept keep made make done do performed perform conducted conduct taken take run ran executed execute drawn draw compiled compile
set up established establish created create prepared prepare introduced introduce named name appointed appoint installed install bought buy exist exists existing existed place happened happen
have had available present found find shown show seen see produced produce started start begun begin completed complete finished finish`)
	// timesOf are times.
	timesOf = stemSet(`year month quarter week day half summer autumn winter spring january february march april may june july august september october november december recent recently last`)
)

// lacks: all that a sentence says there is none of is what the statement asks for.
func (d *demand) lacks(s *sentence) bool {
	if len(s.lacked) == 0 || d.negative() {
		return false
	}
	own := false
	for _, t := range s.lacked {
		its := t.among(d.terms) || d.wording.has(t.stem)
		if !its && !t.among(d.topic) {
			return false
		}
		own = own || its
	}
	return own
}

// among tells whether a thing is one of what is asked for, or a part of one.
func (t thing) among(of []asked) bool {
	return slices.ContainsFunc(of, func(a asked) bool {
		return a.id == t.concept || a.id == t.phrase || slices.Contains(a.parts, t.concept)
	})
}

// has tells whether a wording has a word.
func (w wording) has(stem uint64) bool {
	return slices.ContainsFunc(w, func(g wordGroup) bool {
		return slices.ContainsFunc(g.phrases, func(p roots) bool { return p.has(stem) })
	})
}

const (
	ofTitle = 0.6 // share of the control's title that has to stand around a lack that says little itself
	ofAsked = 0.5 // and of the statement
)

// plain: a sentence that says that there is none names what the statement asks for, or, where its words are
// few ("the review was not held"), what stands above and beside it does.
func (m match) plain() bool {
	return !m.off && m.lacks == nil && (m.own >= minOwn || m.topic >= ofTitle && m.cover >= ofAsked)
}

// stillOn is what was found to be where it should have been taken away: "14 accounts of leavers were still active".
var stillOn = expression.Guard(`(?i)\b(?:(?:is|are|was|were|had|has|have|been|remain(?:s|ed)?) )?still (?:\w+ly )?(?:active|enabled|open|valid|working|usable|logged (?:in|on)|in use|on the list|had access|have access|able to|not (?:closed|locked|disabled|removed|revoked|deleted))\b|\bcould still (?:log|sign|get|enter|open|access|use|read|reach)\b|\bcontinued to (?:open|work|be active|be used|have access)\b|\b(?:remain(?:s|ed)?|(?:was|were) found) (?:active|enabled|open|valid)\b`)

// stillThere: a sentence tells of what should have been taken away, as the statement asks.
func (d *demand) stillThere(c *candidate, cur *sentence) bool {
	return cur.conditional|cur.denied|cur.prohibited == 0 && !d.negative() && d.withdraws() && stillOn.MatchString(c.text[cur.start:cur.end])
}

var (
	// events are things whose absence is good, or nothing.
	events = stemSet(`incident breach vulnerability finding exception deviation complaint change violation alert alarm nonconformity non-conformity weakness request loss failure outage issue problem
objection anomaly intrusion attack infection misuse abuse fraud claim dispute discrepancy difference error defect escalation crash leak offence offense misconduct disruption interruption
emergency disaster case death accident fire flood theft event remark observation comment joiner leaver transfer dismissal sign trace damage harm impact effect indication suspicion proceeding downtime gap mistake misstatement malware virus conflict miss`)
	// befell is what is told of events.
	befell = wordSet(`occurred happened arose found detected observed noted identified raised received made requested needed necessary reported seen discovered known filed open outstanding
pending registered recorded logged came arrived took become became confirmed suspected exist exists existed`)
	// objects are things that risks come with: who has none needs nothing against them.
	objects = stemSet(`visitor guest office branch site building network wifi wlan media usb stick supplier vendor provider contractor developer card payment cloud server data information
customer client child minor phone laptop printer tablet device computer tape machine robot model ai website shop forum cookie subsidiary database system application interface api
container warehouse factory laboratory vehicle drone shift outsourcing software code detail subcontractor`)
	// singled out, an object is itself what guards against a risk: a separate network, a second site.
	singled = wordSet("separate dedicated own central second redundant spare formal documented standby alternative alternate secondary isolated secure segregated test")
	having  = wordSet("have has had use uses used using operate operates run runs process processes store stores develop develops employ employs own owns offer offers accept accepts sell sells rent rents handle handles hold holds keep keeps collect collects work works caused causes found finds showed shows revealed reveals saw sees suffered contain contains contained include includes included return returned returns")
	// noticed is told of what nobody would want to find, whatever it is.
	noticed = wordSet("found detected observed noted seen discovered revealed known outstanding pending suspected")
	// unwanted tells of things that should not be there: "shared accounts do not exist".
	unwanted = wordSet("shared generic default unsupported unauthorised unauthorized unmanaged unpatched obsolete orphaned anonymous personal private rogue unknown hard-coded hardcoded unusual suspicious outstanding overdue open critical major late failed missing unexpected unplanned guest near telnet ftp smbv1 ssl md5 sha1 sha-1 des rc4")
	harmed   = wordSet("lost affected exposed stolen disclosed leaked compromised damaged harmed injured hurt misused breached impacted interrupted disrupted delayed impaired transferred exported sold published late overdue")
	// sparing is what a thing had better not do: "it did not come back", "has not delayed the start".
	sparing = stemSet("recur delay affect exceed cause interrupt reveal find show suffer disrupt harm damage uncover succeed concern")
	// ill is a state that nothing should be in.
	ill = wordSet("still failed fail fails overdue late missing outstanding expired lost affected exposed unresolved unpatched delayed damaged compromised stolen left forgotten wrong unaccounted entered clicked transferred exported disclosed sold published reachable accessible exposed stayed remained remain remains leaves impacted interrupted disrupted manipulated missed")
)

// readAbsent finds the denied clauses that lack nothing: "no incidents occurred", "we have no visitors", "no
// test failed", "no right had to be removed", "shared accounts do not exist".
func (s *stance) readAbsent(words []word) {
	if s.row || s.denied == 0 {
		return
	}
	there, lacks := false, uint64(0)
	for i, w := range words {
		bit := uint64(1) << w.clause
		if s.denied&bit == 0 {
			continue
		}
		none := false
		switch {
		case w.text == "no":
			prev := at(words, i-1)
			goesOn := i > 0 && (prev == "and" || prev == "or" || words[i-1].clause != w.clause) // "no visitors, no offices and no shop"
			there = there && goesOn || having[prev] || auxiliaries[prev] && clauseHas(words, w.clause, "there")
			if at(words, i+1) == "longer" {
				// "unsupported systems are no longer in use", "the gap is no longer there"
				none = slices.ContainsFunc(words[:i], func(w word) bool { return unwanted[w.text] || events[w.stem] })
				break
			}
			if next := at(words, i+1); next == "evidence" || next == "proof" {
				none = clauseAfter(words, i+2, harm)
				break
			}
			if at(words, i+1) == "one" {
				none = told(words[min(i+2, len(words)):], ill)
				break
			}
			none = w.clause == words[min(i+1, len(words)-1)].clause && lacksNothing(words, i+1, there)
		case w.text == "none" || w.text == "nobody" || w.text == "nothing":
			rest := pastOf(words[i+1:])
			if w.text == "nothing" && unwanted[at(rest, 0)] {
				rest = rest[1:]
			}
			none = told(rest, ill) || hadTo(rest) || w.text == "nothing" && (told(rest, noticed) || at(rest, 0) == "to" && (at(rest, 1) == "report" || at(rest, 1) == "declare"))
		case w.text == "not" || strings.HasSuffix(w.text, "n't"):
			next := i + 1
			switch verb := at(words, next); {
			case having[verb] && lacksNothing(words, next+1, true), having[verb] && prepositions[at(words, next+1)] && lacksNothing(words, next+2, true):
				none = true
			case verb == "exist" || verb == "in" && at(words, next+1) == "use":
				none = clauseSome(words, w.clause, func(w string) bool { return unwanted[w] })
			case verb == "a" && at(words, next+1) == "single":
				none = unwanted[at(words, next+2)] || lacksNothing(words, next+2, false)
			case harmed[verb]:
				none = true // "customers were not affected"
			default:
				none = (sparing[stemOf(verb)] || (verb == "come" || verb == "hold") && (at(words, next+1) == "back" || at(words, next+1) == "up")) && !safeguarding(words, w.clause, next)
			}
		case w.text == "neither":
			none = clauseAfter(words, i+1, harmed)
		case w.text == "never":
			none = sparing[stemOf(at(words, i+1))] || hadTo(words[i+1:])
		case w.text == "without":
			next := i + 1
			if at(words, next) == "a" && at(words, next+1) == "single" {
				next += 2
			}
			none = lacksNothing(words, next, true) && !clauseSome(words, w.clause, func(w string) bool { return objects[stemOf(w)] })
		default:
			continue
		}
		if none {
			s.absent |= bit
		} else {
			lacks |= bit
		}
	}
	s.absent &^= lacks
}

// safeguarding: what follows in a clause names a safeguard.
func safeguarding(words []word, clause uint8, from int) bool {
	return slices.ContainsFunc(words[min(from, len(words)):], func(w word) bool { return w.clause == clause && (safeguards[w.stem] || alsoLacked[w.stem]) })
}

// endOfThing is where what is named from a word on ends.
func endOfThing(words []word, from int) int {
	end := from
	for end < len(words) && words[end].clause == words[from].clause {
		w := words[end].text
		if auxiliaries[w] || modals[w] || relative[w] || prepositions[w] || w == "and" || w == "or" || w == "so" || w == "yet" || end > from && (befell[w] || ill[w] || w == "regarding" || w == "concerning" || w == "involving" || w == "arising") {
			break
		}
		end++
	}
	return end
}

// lacksNothing: that there is none of the thing that begins at from is no lack. there: it is said of being
// there or being had, "there is no …", "we have no …".
func lacksNothing(words []word, from int, there bool) bool {
	if next := at(words, from); next == "any" || next == "a" || next == "an" {
		from++
	}
	if from >= len(words) {
		return false
	}
	end := endOfThing(words, from)
	if end == from {
		return false
	}
	name, rest := words[from:end], words[end:]
	head := name[len(name)-1]
	if first := at(rest, 0); there && (first == "or" || first == "and") && at(rest, 1) != "no" { // "no critical or major findings"
		if more := endOfThing(words, end+1); more > end+1 {
			name, rest = words[from:more], words[more:]
			head = name[len(name)-1]
		}
	}
	if !there {
		rest = pastOf(rest)
	}
	for _, w := range name {
		if safeguards[w.stem] || alsoLacked[w.stem] || singled[w.text] {
			return !there && told(rest, ill) // "no test failed"
		}
	}
	switch {
	case there && objects[head.stem]:
		next := at(rest, 0)
		return next != "to" && next != "for" && !relative[next]
	case there && (events[head.stem] || unwanted[name[0].text]):
		return true
	case events[head.stem]:
		return !hasAuxiliary(rest) && !hasVerb(rest) || told(rest, befell) || told(rest, ill) || hadTo(rest)
	}
	return !there && (told(rest, ill) || told(rest, noticed) || hadTo(rest))
}

// pastOf is the predicate behind "of the laptops" or "from the baseline".
func pastOf(rest []word) []word {
	if first := at(rest, 0); !prepositions[first] && first != "or" && first != "and" && !strings.HasSuffix(first, "ing") {
		return rest // "complaints regarding …"
	}
	i := slices.IndexFunc(rest, func(w word) bool {
		return w.clause == rest[0].clause && (auxiliaries[w.text] || befell[w.text] || ill[w.text])
	})
	if i < 0 {
		return rest
	}
	return rest[i:]
}

// clauseAfter: the words from one on have one of some.
func clauseAfter(words []word, from int, of map[string]bool) bool {
	return from < len(words) && slices.ContainsFunc(words[from:], func(w word) bool { return of[w.text] })
}

// hadTo: "had to be removed" of what did not.
func hadTo(rest []word) bool { return at(rest, 0) == "had" && at(rest, 1) == "to" }

// told: the predicate that words begin with is one of some.
func told(rest []word, of map[string]bool) bool {
	for i, w := range rest {
		if i > maxTold || w.clause != rest[0].clause {
			return false
		}
		if of[w.text] {
			return true
		}
		if !auxiliaries[w.text] && !strings.HasSuffix(w.text, "ly") {
			return false
		}
	}
	return false
}

const maxTold = 3 // auxiliaries before what is told

// failing tells of a safeguard that was there and did not hold: it went unanswered, was skipped, came too late,
// was past its time. madeGood is what was done about it.
var (
	failing = expression.Guard(`(?i)\b(?:aborted|(?:went|were|was|left|remained|stayed) (?:\w+ )?un(?:answered|noticed|attended|read|escorted|locked|signed|acknowledged|resolved|reviewed|protected|encrypted|monitored|patched|tested|staffed|checked)|(?:was|were|been) (?:\w+ )?(?:skipped|missed|omitted|forgotten|overlooked|bypassed|propped open|left open|wedged open|switched off|ignored|cancelled|canceled)|` +
		`failed (?:on|in|at|again|because|after|for|with|twice|three times)|expired (?:on|in|at|without|last|before|unnoticed|weeks|months|days)|(?:is|are|was|were) (?:\w+ )?(?:overdue|out of date|outdated|expired|unpatched|unescorted)|` +
		`overdue (?:by|since)|skipped|had lapsed|got past|gave out|kept working|although (?:\w+ ){1,3}(?:calls? for|asks? for|requires?|demands?|had flagged|had warned)|missing (?:the|its) (?:\S+ )?(?:limit|deadline|target)|(?:against|instead of|above|beyond|exceeding) (?:an? |the |our |its )?(?:\w+ ){0,3}(?:target|limit|deadline|maximum|service level|objective)|longer than (?:the )?(?:allowed|agreed|permitted|required)|should have (?:been )?\w+|that should be|` +
		`(?:days|weeks|months|hours|years) (?:late|overdue|too late|past (?:the|their|its)|behind (?:plan|schedule)|after (?:\w+ ){0,3}(?:contract|employment|last day|departure|left|leaving|deadline|due date|expiry|release))|` +
		`more than (?:\w+ ){1,2}(?:days|weeks|months|years) old|(?:while|whereas|although) the (?:agreed|permitted|required|allowed|planned|prescribed)\b|exceeding (?:the|its|our)\b|instead of within|let (?:\w+ ){1,4}through|to have bypassed|bypassed|continued to (?:open|work|run|be used)|turned out to be|with(?:out a| no) badge|had (?:already )?\w+ (?:\w+ )?before|before (?:\w+ ){1,4}had\b|still (?:on|in|had|held|working|carried)|could not be (?:located|read|restored|opened|reached|found|produced|traced))\b`)
	madeGood = expression.Guard(`(?i)\b(?:repeated|repaired|corrected|resolved|fixed|remedied|reissued|renewed|closed|made up for|caught up|re-?ran|re-?run|retested|rescheduled|recovered|replaced|removed the same|disabled the same|revoked the same|since then|in the meantime|dropped|improved|shortened|better than|well (?:below|within|under))\b`)
)

// fell: a record tells at a sentence that what it speaks of failed, and not that it was made good.
func (c *candidate) fell(i int) bool {
	cur := &c.sentences[i]
	if cur.row || cur.strong || cur.conditional&1|cur.unreal|cur.denied|cur.prohibited != 0 || cur.plan != "" || cur.hedge != "" || cur.question || !c.isRecord() && len(cur.years) == 0 {
		return false
	}
	text := c.text[cur.start:cur.end]
	if !failing.MatchString(text) || madeGood.MatchString(text) {
		return false
	}
	if n := i + 1; n < len(c.sentences) && !c.sentences[n].row && !c.sentences[n].item {
		next := &c.sentences[n]
		return next.denied != 0 || next.plan != "" || !madeGood.MatchString(c.text[next.start:next.end])
	}
	return true
}
