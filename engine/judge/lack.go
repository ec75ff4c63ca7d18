package judge

import (
	"slices"
	"strings"
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
	general       bool   // it is done to many a thing
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
		if stopWords[w.text] || phrase == 0 && (len(w.stem) < 2 || strings.ContainsAny(w.text, "0123456789")) || idleDeeds[w.stem] || timesOf[w.stem] {
			continue
		}
		if t := (thing{termID(l.concept(w.stem)), termID(w.stem), phrase, l.weightOf(l.concept(w.stem)) < weightPlain}); !emptyWords()[t.concept] {
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

// lacksLittle: what is lacking is told in words alone that are said of many a thing ("the review was not held"), or
// that the statement has for what is done to its own ("no monitoring", of clocks that are monitored).
func (d *demand) lacksLittle(s *sentence) bool {
	return !slices.ContainsFunc(s.lacked, func(t thing) bool {
		return !t.general && !slices.ContainsFunc(d.terms, func(a asked) bool { return a.action && a.id == t.concept })
	})
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

// plain: a sentence that says that there is none, or that it failed, names what the statement asks for; or,
// where it says little ("the review was not held"), what stands above and beside it does.
func (m match) plain(little bool) bool {
	return !m.off && m.lacks == nil && (!little && m.own >= minOwn || m.topic >= ofTitle && m.cover >= ofAsked)
}
