package text

import (
	"slices"
	"strings"
)

var (
	// eventStems are the stems of events whose absence is good or neutral.
	eventStems = stemSet(
		`incident breach vulnerability finding exception deviation complaint change violation alert alarm nonconformity non-conformity weakness request loss failure outage issue
problem objection anomaly intrusion attack infection misuse abuse fraud claim dispute discrepancy difference error defect escalation crash leak offence offense misconduct
disruption interruption emergency disaster case death accident fire flood theft event remark observation comment joiner leaver transfer dismissal sign trace damage harm
impact effect indication suspicion proceeding downtime gap mistake misstatement malware virus conflict miss`,
	)
	// eventParticiples are verb forms used to say that an event occurred.
	eventParticiples = wordSet(
		`occurred happened arose found detected observed noted identified raised received made requested needed necessary reported seen discovered known filed open outstanding
pending registered recorded logged came arrived took become became confirmed suspected exist exists existed`,
	)
	// objectStems are the stems of things that carry risks. An organization without such things needs no safeguards
	// for them.
	objectStems = stemSet(
		`visitor guest office branch site building network wifi wlan media usb stick supplier vendor provider contractor developer card payment cloud server data information
customer client child minor phone laptop printer tablet device computer tape machine robot model ai website shop forum cookie subsidiary database system application
interface api container warehouse factory laboratory vehicle drone shift outsourcing software code detail subcontractor`,
	)
	// safeguardAdjectives turn an object into a safeguard: a separate network, a second site.
	safeguardAdjectives = wordSet(
		`separate dedicated own central second redundant spare formal documented standby alternative alternate secondary isolated secure segregated test`,
	)
	// possessionVerbs are verbs that say that somebody has, does or encounters something.
	possessionVerbs = wordSet(
		`have has had use uses used using operate operates run runs process processes store stores develop develops employ employs own owns offer offers accept accepts sell sells
rent rents handle handles hold holds keep keeps collect collects work works caused causes found finds showed shows revealed reveals saw sees suffered contain contains
contained include includes included return returned returns`,
	)
	// detectionParticiples are verb forms for findings, whose absence is always good: "nothing was found".
	detectionParticiples = wordSet(`found detected observed noted seen discovered revealed known outstanding pending suspected`)
	// unwantedAdjectives describe things that should not exist, as in "shared accounts do not exist".
	unwantedAdjectives = wordSet(
		`shared generic default unsupported unauthorised unauthorized unmanaged unpatched obsolete orphaned anonymous rogue unknown hard-coded hardcoded unusual
suspicious outstanding overdue open critical major late failed missing unexpected unplanned guest near telnet ftp smbv1 ssl md5 sha1 sha-1 des rc4`,
	)
	// unneededStates say, after a "no" in the past tense, that there was no occasion for something.
	unneededStates = wordSet(`due necessary needed required requested called`)
	// mishapVerbs are verbs for things that go wrong.
	mishapVerbs = wordSet(`ran went crashed drifted dropped fell tipped overflowed`)
	// unharmedParticiples are verb forms for harm. Denying them is good, as in "customers were not affected".
	unharmedParticiples = wordSet(
		`lost affected exposed stolen disclosed leaked compromised damaged harmed injured hurt misused breached impacted interrupted disrupted delayed impaired transferred
exported sold published late overdue`,
	)
	// harmVerbStems are the stems of verbs for harm, as in "it did not come back" or "has not delayed the start".
	harmVerbStems = stemSet(`recur delay affect exceed cause interrupt reveal find show suffer disrupt harm damage uncover succeed concern`)
	// badStates are words for undesirable states.
	badStates = wordSet(
		`still failed fail fails overdue late missing outstanding expired lost affected unresolved unpatched delayed damaged compromised stolen left forgotten wrong
unaccounted entered clicked transferred exported disclosed sold published reachable accessible exposed stayed remained remain remains leaves impacted interrupted
disrupted manipulated missed`,
	)
)

// IsPossessionVerb reports whether w is a verb that says that somebody has, does or encounters something.
func IsPossessionVerb(w string) bool { return possessionVerbs[w] }

// markHarmlessDenials marks negated clauses that don't indicate a gap: "no incidents occurred", "we have no
// visitors", "no test failed", "no right had to be removed", "shared accounts do not exist".
func (s *Stance) markHarmlessDenials(words []word) {
	if s.IsTableRow || s.Denied == 0 {
		return
	}
	isExistence, gaps := false, uint64(0)
	for i, w := range words {
		bit := uint64(1) << w.clause
		if s.Denied&bit == 0 {
			continue
		}
		harmless := false
		switch {
		case w.text == "no":
			prev := wordAt(words, i-1)
			continues := i > 0 && (prev == "and" || prev == "or" || words[i-1].clause != w.clause) // "no visitors, no offices and no shop"
			isExistence = isExistence && continues || possessionVerbs[prev] || auxiliaryVerbs[prev] && clauseHas(words, w.clause, "there")
			if wordAt(words, i+1) == "longer" {
				// "unsupported systems are no longer in use", "the gap is no longer there"
				harmless = slices.ContainsFunc(words[:i], func(w word) bool { return unwantedAdjectives[w.text] || eventStems[w.stem] })
				break
			}
			if next := wordAt(words, i+1); next == "evidence" || next == "proof" {
				harmless = containsFrom(words, i+2, harmParticiples)
				break
			}
			if prev == "lost" || prev == "missed" {
				harmless = true
				break
			}
			if wordAt(words, i+1) == "one" {
				harmless = predicateStartsWith(words[min(i+2, len(words)):], badStates)
				break
			}
			harmless = w.clause == words[min(i+1, len(words)-1)].clause && isHarmlessAbsence(words, i+1, isExistence)
		case isOneOf(w.text, "none", "nobody", "nothing"):
			rest := skipToPredicate(words[i+1:])
			if w.text == "nothing" && unwantedAdjectives[wordAt(rest, 0)] {
				rest = rest[1:]
			}
			harmless = predicateStartsWith(rest, badStates) || predicateStartsWith(rest, mishapVerbs) || startsWithHadTo(rest) ||
				w.text == "nothing" &&
					(predicateStartsWith(
						rest,
						detectionParticiples,
					) || wordAt(rest, 0) == "to" && (wordAt(rest, 1) == "report" || wordAt(rest, 1) == "declare"))
		case w.text == "not" || strings.HasSuffix(w.text, "n't"):
			next := i + 1
			switch verb := wordAt(words, next); {
			case possessionVerbs[verb] && isHarmlessAbsence(words, next+1, true),
				possessionVerbs[verb] && prepositions[wordAt(words, next+1)] && isHarmlessAbsence(words, next+2, true):
				harmless = true
			case verb == "exist" || verb == "in" && wordAt(words, next+1) == "use":
				harmless = clauseHasAny(words, w.clause, unwantedAdjectives)
			case verb == "a" && wordAt(words, next+1) == "single":
				harmless = unwantedAdjectives[wordAt(words, next+2)] || isHarmlessAbsence(words, next+2, false)
			case unharmedParticiples[verb]:
				harmless = true // "customers were not affected"
			default:
				harmless = (harmVerbStems[stemOf(verb)] || (verb == "come" || verb == "hold") &&
					(wordAt(words, next+1) == "back" || wordAt(words, next+1) == "up")) &&
					!namesSafeguard(words, w.clause, next)
			}
		case w.text == "neither":
			harmless = containsFrom(words, i+1, unharmedParticiples)
		case w.text == "never":
			harmless = harmVerbStems[stemOf(wordAt(words, i+1))] || startsWithHadTo(words[i+1:])
		case w.text == "without":
			next := i + 1
			if wordAt(words, next) == "a" && wordAt(words, next+1) == "single" {
				next += 2
			}
			harmless = isHarmlessAbsence(words, next, true) &&
				!clauseHasMatch(words, w.clause, func(w string) bool { return objectStems[stemOf(w)] })
		default:
			continue
		}
		if harmless {
			s.harmless |= bit
		} else {
			gaps |= bit
		}
	}
	s.harmless &^= gaps
}

// namesMishap reports whether words name something bad, whose absence is good: "0 of 12 tests failed".
func namesMishap(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		return eventStems[w.stem] || badStates[w.text] || mishapVerbs[w.text] || unharmedParticiples[w.text] || unwantedAdjectives[w.text]
	})
}

// IsHarmlessDenial reports whether the sentence contains denials, but only of things whose absence is not a gap.
func (s *Stance) IsHarmlessDenial() bool { return s.harmless != 0 && s.Denied&^s.harmless == 0 }

// namesSafeguard reports whether a clause names a safeguard in the words starting at the given index.
func namesSafeguard(words []word, clause uint8, from int) bool {
	return slices.ContainsFunc(words[min(from, len(words)):], func(w word) bool {
		return w.clause == clause && (safeguardStems[w.stem] || otherSafeguardStems[w.stem])
	})
}

// nounPhraseEnd returns the end of the noun phrase that begins at from.
func nounPhraseEnd(words []word, from int) int {
	end := from
	for end < len(words) && words[end].clause == words[from].clause {
		w := words[end].text
		if auxiliaryVerbs[w] || modalVerbs[w] || relativePronouns[w] || prepositions[w] || isOneOf(w, "and", "or", "so", "yet") ||
			end > from &&
				(eventParticiples[w] || badStates[w] || mishapVerbs[w] || isOneOf(w, "regarding", "concerning", "involving", "arising")) {
			break
		}
		end++
	}
	return end
}

// isHarmlessAbsence reports whether the absence of the thing that is named at from is not a gap.
// isExistence is set if the sentence only denies that the thing exists ("there is no …", "we have
// no …"), without another predicate ("no … was found").
func isHarmlessAbsence(words []word, from int, isExistence bool) bool {
	if next := wordAt(words, from); isOneOf(next, "any", "a", "an") {
		from++
	}
	if from >= len(words) {
		return false
	}
	end := nounPhraseEnd(words, from)
	if end == from {
		return false
	}
	name, rest := words[from:end], words[end:]
	head := name[len(name)-1]
	if first := wordAt(rest, 0); isExistence && (first == "or" || first == "and") &&
		wordAt(rest, 1) != "no" { // "no critical or major findings"
		if more := nounPhraseEnd(words, end+1); more > end+1 {
			name, rest = words[from:more], words[more:]
			head = name[len(name)-1]
		}
	}
	if !isExistence {
		rest = skipToPredicate(rest)
	}
	for _, w := range name {
		if safeguardStems[w.stem] || otherSafeguardStems[w.stem] || safeguardAdjectives[w.text] {
			// "no test failed", "no review was due"
			return !isExistence && (predicateStartsWith(rest, badStates) ||
				pastAuxiliaries[wordAt(rest, 0)] && predicateStartsWith(rest, unneededStates))
		}
	}
	switch {
	case isExistence && objectStems[head.stem]:
		next := wordAt(rest, 0)
		return next != "to" && next != "for" && !relativePronouns[next]
	case isExistence && (eventStems[head.stem] || unwantedAdjectives[name[0].text]):
		return true
	case eventStems[head.stem]:
		return !hasAuxiliaryOrModal(rest) && !hasVerb(rest) || predicateStartsWith(rest, eventParticiples) ||
			predicateStartsWith(rest, badStates) ||
			startsWithHadTo(rest)
	}
	return !isExistence &&
		(predicateStartsWith(rest, badStates) || predicateStartsWith(rest, detectionParticiples) || predicateStartsWith(rest, mishapVerbs) ||
			startsWithHadTo(rest) || clauseHas(rest, head.clause, "outside"))
}

// skipToPredicate skips modifiers of a noun, such as "of the laptops" or "from the baseline", and returns the words
// starting at the predicate.
func skipToPredicate(rest []word) []word {
	if first := wordAt(rest, 0); !prepositions[first] && first != "or" && first != "and" && !strings.HasSuffix(first, "ing") {
		return rest // "complaints regarding …"
	}
	i := slices.IndexFunc(rest, func(w word) bool {
		return w.clause == rest[0].clause &&
			(auxiliaryVerbs[w.text] || eventParticiples[w.text] || badStates[w.text] || mishapVerbs[w.text])
	})
	if i < 0 {
		return rest
	}
	return rest[i:]
}

// containsFrom reports whether any word at or after from is in set.
func containsFrom(words []word, from int, set map[string]bool) bool {
	return from < len(words) && slices.ContainsFunc(words[from:], func(w word) bool { return set[w.text] })
}

// startsWithHadTo reports whether words begin with "had to", as in "no right had to be removed".
func startsWithHadTo(rest []word) bool { return wordAt(rest, 0) == "had" && wordAt(rest, 1) == "to" }

// predicateStartsWith reports whether a word in set begins the predicate, possibly after auxiliary verbs.
func predicateStartsWith(predicate []word, set map[string]bool) bool {
	for i, w := range predicate {
		if i > maxAuxiliaries || w.clause != predicate[0].clause {
			return false
		}
		if set[w.text] {
			return true
		}
		if !auxiliaryVerbs[w.text] && !strings.HasSuffix(w.text, "ly") {
			return false
		}
	}
	return false
}

const maxAuxiliaries = 3 // auxiliaries before the predicate
