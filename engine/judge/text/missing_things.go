package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safeguardStems are the stems of things that an organization has or does to counter a risk. Their
// absence is a gap, unlike the absence of visitors, incidents or foreign branches.
var safeguardStems = stemSet(
	`siem inventory register record log logbook list policy procedure process plan playbook runbook rota schedule calendar test exercise drill rehearsal
review recertification audit assessment analysis check scan inspection training course screening vetting firewall antivirus mfa 2fa encryption backup copy monitoring alarm
camera cctv badge turnstile vpn vault segmentation baseline standard guideline hardening dlp mdm edr xdr ids ips waf proxy sandbox gateway escrow generator ups sprinkler extinguisher
questionnaire checklist approval sign-off nda dpa dpia clause agreement hotline channel portal tool tracker dashboard report
budget diagram map program programme concept strategy risk-register classification scheme label watermark pentest signature filter
authentication bitlocker filevault logging patch anti-malware anti-virus honeypot allowlist whitelist blocklist retention pseudonymization minutes lessons retrospective`,
)

// otherSafeguardStems lists further nouns that name a safeguard: a sentence that says there is none describes a gap. Unlike
// safeguardStems, they have no meaning as column names.
var otherSafeguardStems = stemSet(
	"committee board officer owner deputy role rule control safeguard measure metric kpi evidence proof document documentation certificate",
)

// MissingThing is a word for something that is missing according to a sentence.
type MissingThing struct {
	Concept, Stem uint64 // hashes of the word's concept and stem
	phrase        uint64 // hash of the phrase it is part of, or 0
	IsGeneric     bool   // the word applies to many things
}

// NamesSafeguard reports whether a text names something that an organization has or does to counter a risk, such as a
// register or a policy.
func NamesSafeguard(text string) bool {
	return slices.ContainsFunc(splitWords(text), func(w word) bool { return safeguardStems[w.stem] || otherSafeguardStems[w.stem] })
}

const maxMissingThings = 6 // maximum number of words that describe the thing; longer descriptions aren't plain absences

// findMissingSafeguards returns the words for a safeguard if a sentence plainly says that it is missing or was
// not carried out: "we have no SIEM", "a record of processing has not been written yet", "the review of Q1 was
// not held". It returns nil if something other than a safeguard is missing.
func findMissingSafeguards(text string, words []word, s *Stance) (things []MissingThing) {
	if s.IsTableRow || s.Denied == 0 || s.Conditional|s.Hypothetical != 0 || s.Question || !deniesWholeThing(text, words, s) {
		return nil
	}
	l := sharedLexicon()
	isSafeguard, phraseLeft, phrase := false, 0, uint64(0)
	for i, w := range words {
		if phraseLeft--; phraseLeft < 0 {
			phrase = 0
		}
		if s.Denied&(1<<w.clause) == 0 {
			continue
		}
		if concept, n := l.longestPhrase(words, i); n > 1 {
			phraseLeft, phrase = n-1, hashTerm(concept)
		}
		if relativePronouns[w.text] || circumstanceWords[w.text] {
			break
		}
		isSafeguard = isSafeguard || safeguardStems[w.stem] || otherSafeguardStems[w.stem]
		if stopWords[w.text] || phrase == 0 && (len(w.stem) < 2 || strings.ContainsAny(w.text, "0123456789")) ||
			genericActionStems[w.stem] ||
			timeStems[w.stem] {
			continue
		}
		if t := (MissingThing{
			Concept:   hashTerm(l.concept(w.stem)),
			Stem:      hashTerm(w.stem),
			phrase:    phrase,
			IsGeneric: l.weightOf(l.concept(w.stem)) < WeightFull,
		}); !emptyConcepts()[t.Concept] {
			things = append(things, t)
		}
	}
	if !isSafeguard || len(things) > maxMissingThings {
		return nil
	}
	return things
}

// deniesWholeThing reports whether the first clause of a sentence denies a thing altogether, as in "we have no …",
// "there is no …", "no … was held" and "the … has not been written", but not in "Roles that nobody confirms are
// removed" or "not approved".
func deniesWholeThing(text string, words []word, s *Stance) bool {
	if s.Denied&1 == 0 {
		return false
	}
	for i, w := range words {
		next := wordAt(words, i+1)
		switch {
		case w.clause > 0 || relativePronouns[w.text]:
			return false
		case w.text == "no":
			prev := wordAt(words, i-1)
			return i == 0 && !strings.HasPrefix(text[w.end:], ".") || possessionVerbs[prev] || auxiliaryVerbs[prev]
		case w.text == "not" && i > 0 || strings.HasSuffix(w.text, "n't"):
			if next == "yet" || next == "been" {
				i, next = i+1, wordAt(words, i+2)
			}
			return possessionVerbs[next] || genericActionStems[stemOf(next)] ||
				wordAt(words, i+1) == "been" && genericActionStems[stemOf(wordAt(words, i+2))] ||
				next == "in" && wordAt(words, i+2) == "place"
		case w.text == "never" && i > 0:
			return genericActionStems[stemOf(next)] || next == "been" && genericActionStems[stemOf(wordAt(words, i+2))]
		}
	}
	return false
}

var (
	// circumstanceWords are words that introduce a place, time or reason.
	circumstanceWords = wordSet("in at since because by due during before after until despite although while")
	// genericActionStems are the stems of verbs that say only that a thing exists or was done.
	genericActionStems = stemSet(
		`held hold written write carried carry kept keep made make done do performed perform conducted conduct taken take run ran executed execute drawn draw compiled compile
set up established establish created create prepared prepare introduced introduce named name appointed appoint installed install bought buy exist exists existing existed place happened happen
have had available present found find shown show seen see produced produce started start begun begin completed complete finished finish`,
	)
	// timeStems are the stems of expressions of time.
	timeStems = stemSet(
		`year month quarter week day half summer autumn winter spring january february march april may june july august september october november december recent recently last`,
	)
)

// IsAmong reports whether the missing thing is one of the concepts or part of one.
func (t MissingThing) IsAmong(concepts []Concept) bool {
	return slices.ContainsFunc(concepts, func(a Concept) bool {
		return a.ID == t.Concept || a.ID == t.phrase || slices.Contains(a.Parts, t.Concept)
	})
}

// DeniedThings returns the words for what a sentence denies: those of its negated clauses, without the circumstances that
// follow ("since May") and without names. What somebody is said to have noted begins after "that". If any of the given
// clauses are negated, it only reads those.
func (s *Sentence) DeniedThings(clauses uint64) (things []MissingThing) {
	l := sharedLexicon()
	words := splitWords(s.Text)
	assignClauses(s.Text, words)
	denied := s.Denied &^ s.harmless
	if denied&clauses != 0 {
		denied &= clauses
	}
	clause, negated, ended := -1, false, false
	first := 0 // index in things of the first thing of the clause
	for i, w := range words {
		if int(w.clause) != clause {
			clause, negated, ended, first = int(w.clause), false, false, len(things)
		}
		if denied&(1<<w.clause) == 0 || ended {
			continue
		}
		isNegation := negationWords[w.text] || lackWords[w.text] || strings.HasSuffix(w.text, "n't")
		negated = negated || isNegation || negatedForms[w.text] != ""
		switch {
		case w.text == "that" && !negated && reportingVerbs[stemOf(wordAt(words, i-1))]:
			things = things[:first]
			continue
		case negated && i > 0 && (relativePronouns[w.text] || circumstanceWords[w.text] && !isOneOf(w.text, "in", "at", "by")):
			ended = true
			continue
		}
		name := w.stem
		if positive := negatedForms[w.text]; positive != "" {
			name = positive
		}
		if isNegation || namesNothingDenied(w) || i > 0 && isName(s.Text[w.start:w.end]) {
			continue
		}
		t := MissingThing{Concept: hashTerm(l.concept(name)), Stem: hashTerm(w.stem), IsGeneric: l.weightOf(l.concept(name)) < WeightFull}
		for from := max(0, i-maxPhraseWords+1); from <= i && t.phrase == 0; from++ {
			if concept, n := l.longestPhrase(words, from); n > 1 && from+n > i {
				t.phrase = hashTerm(concept)
			}
		}
		if !emptyConcepts()[t.Concept] {
			things = append(things, t)
		}
	}
	return things
}

// namesNothingDenied reports whether a word of a negated clause doesn't name a thing that could be denied: a function
// word, an adverb, a time, a number, or a verb such as "have" or "do".
func namesNothingDenied(w word) bool {
	return stopWords[w.text] || len(w.stem) < 2 || genericActionStems[w.stem] || genericDenialObjects[w.text] || possessionVerbs[w.text] ||
		timeStems[w.stem] || isOneOf(w.text, "covered", "included", "anywhere", "longer", "anymore") ||
		strings.ContainsAny(w.text, "0123456789") || strings.HasSuffix(w.text, "ly")
}

const maxPhraseWords = 4 // words of a phrase in the lexicon, as a rule

// isName reports whether a word within a sentence is a name: "Leeds", but not "VPN".
func isName(w string) bool {
	first, size := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(first) && strings.ContainsFunc(w[size:], unicode.IsLower)
}
