package judge

import (
	"slices"
	"strings"
)

var (
	// events are things whose absence is good, or nothing.
	events = stemSet(`incident breach vulnerability finding exception deviation complaint change violation alert alarm nonconformity non-conformity weakness request loss failure outage issue
problem objection anomaly intrusion attack infection misuse abuse fraud claim dispute discrepancy difference error defect escalation crash leak offence offense misconduct
disruption interruption emergency disaster case death accident fire flood theft event remark observation comment joiner leaver transfer dismissal sign trace damage harm
impact effect indication suspicion proceeding downtime gap mistake misstatement malware virus conflict miss`)
	// befell is what is told of events.
	befell = wordSet(`occurred happened arose found detected observed noted identified raised received made requested needed necessary reported seen discovered known filed open outstanding
pending registered recorded logged came arrived took become became confirmed suspected exist exists existed`)
	// objects are things that risks come with: who has none needs nothing against them.
	objects = stemSet(`visitor guest office branch site building network wifi wlan media usb stick supplier vendor provider contractor developer card payment cloud server data information
customer client child minor phone laptop printer tablet device computer tape machine robot model ai website shop forum cookie subsidiary database system application
interface api container warehouse factory laboratory vehicle drone shift outsourcing software code detail subcontractor`)
	// singled out, an object is itself what guards against a risk: a separate network, a second site.
	singled = wordSet(`separate dedicated own central second redundant spare formal documented standby alternative alternate secondary isolated secure segregated test`)
	// having is said of what one has, does or meets with.
	having = wordSet(`have has had use uses used using operate operates run runs process processes store stores develop develops employ employs own owns offer offers accept accepts sell sells
rent rents handle handles hold holds keep keeps collect collects work works caused causes found finds showed shows revealed reveals saw sees suffered contain contains
contained include includes included return returned returns`)
	// noticed is told of what nobody would want to find, whatever it is.
	noticed = wordSet(`found detected observed noted seen discovered revealed known outstanding pending suspected`)
	// unwanted tells of things that should not be there: "shared accounts do not exist".
	unwanted = wordSet(`shared generic default unsupported unauthorised unauthorized unmanaged unpatched obsolete orphaned anonymous rogue unknown hard-coded hardcoded unusual
suspicious outstanding overdue open critical major late failed missing unexpected unplanned guest near telnet ftp smbv1 ssl md5 sha1 sha-1 des rc4`)
	// mishap is what things do that go wrong.
	mishap = wordSet(`ran went crashed drifted dropped fell tipped overflowed`)
	// harmed is what was not, "customers were not affected".
	harmed = wordSet(`lost affected exposed stolen disclosed leaked compromised damaged harmed injured hurt misused breached impacted interrupted disrupted delayed impaired transferred
exported sold published late overdue`)
	// sparing is what a thing had better not do: "it did not come back", "has not delayed the start".
	sparing = stemSet(`recur delay affect exceed cause interrupt reveal find show suffer disrupt harm damage uncover succeed concern`)
	// ill is a state that nothing should be in.
	ill = wordSet(`still failed fail fails overdue late missing outstanding expired lost affected unresolved unpatched delayed damaged compromised stolen left forgotten wrong
unaccounted entered clicked transferred exported disclosed sold published reachable accessible exposed stayed remained remain remains leaves impacted interrupted
disrupted manipulated missed`)
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
				none = anyFrom(words, i+2, harm)
				break
			}
			if prev == "lost" || prev == "missed" {
				none = true
				break
			}
			if at(words, i+1) == "one" {
				none = told(words[min(i+2, len(words)):], ill)
				break
			}
			none = w.clause == words[min(i+1, len(words)-1)].clause && spares(words, i+1, there)
		case w.text == "none" || w.text == "nobody" || w.text == "nothing":
			rest := pastOf(words[i+1:])
			if w.text == "nothing" && unwanted[at(rest, 0)] {
				rest = rest[1:]
			}
			none = told(rest, ill) || told(rest, mishap) || hadTo(rest) || w.text == "nothing" && (told(rest, noticed) || at(rest, 0) == "to" && (at(rest, 1) == "report" || at(rest, 1) == "declare"))
		case w.text == "not" || strings.HasSuffix(w.text, "n't"):
			next := i + 1
			switch verb := at(words, next); {
			case having[verb] && spares(words, next+1, true), having[verb] && prepositions[at(words, next+1)] && spares(words, next+2, true):
				none = true
			case verb == "exist" || verb == "in" && at(words, next+1) == "use":
				none = clauseSome(words, w.clause, func(w string) bool { return unwanted[w] })
			case verb == "a" && at(words, next+1) == "single":
				none = unwanted[at(words, next+2)] || spares(words, next+2, false)
			case harmed[verb]:
				none = true // "customers were not affected"
			default:
				none = (sparing[stemOf(verb)] || (verb == "come" || verb == "hold") && (at(words, next+1) == "back" || at(words, next+1) == "up")) && !safeguarding(words, w.clause, next)
			}
		case w.text == "neither":
			none = anyFrom(words, i+1, harmed)
		case w.text == "never":
			none = sparing[stemOf(at(words, i+1))] || hadTo(words[i+1:])
		case w.text == "without":
			next := i + 1
			if at(words, next) == "a" && at(words, next+1) == "single" {
				next += 2
			}
			none = spares(words, next, true) && !clauseSome(words, w.clause, func(w string) bool { return objects[stemOf(w)] })
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

// lacksNothing: nothing that the sentence denies is a lack.
func (s *stance) lacksNothing() bool { return s.absent != 0 && s.denied&^s.absent == 0 }

// safeguarding: what follows in a clause names a safeguard.
func safeguarding(words []word, clause uint8, from int) bool {
	return slices.ContainsFunc(words[min(from, len(words)):], func(w word) bool { return w.clause == clause && (safeguards[w.stem] || alsoLacked[w.stem]) })
}

// endOfThing is where what is named from a word on ends.
func endOfThing(words []word, from int) int {
	end := from
	for end < len(words) && words[end].clause == words[from].clause {
		w := words[end].text
		if auxiliaries[w] || modals[w] || relative[w] || prepositions[w] || w == "and" || w == "or" || w == "so" || w == "yet" || end > from && (befell[w] || ill[w] || mishap[w] || w == "regarding" || w == "concerning" || w == "involving" || w == "arising") {
			break
		}
		end++
	}
	return end
}

// spares: that there is none of the thing that begins at from is no lack. there: it is said of being
// there or being had, "there is no …", "we have no …".
func spares(words []word, from int, there bool) bool {
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
	return !there && (told(rest, ill) || told(rest, noticed) || told(rest, mishap) || hadTo(rest) || clauseHas(rest, head.clause, "outside"))
}

// pastOf is the predicate behind "of the laptops" or "from the baseline".
func pastOf(rest []word) []word {
	if first := at(rest, 0); !prepositions[first] && first != "or" && first != "and" && !strings.HasSuffix(first, "ing") {
		return rest // "complaints regarding …"
	}
	i := slices.IndexFunc(rest, func(w word) bool {
		return w.clause == rest[0].clause && (auxiliaries[w.text] || befell[w.text] || ill[w.text] || mishap[w.text])
	})
	if i < 0 {
		return rest
	}
	return rest[i:]
}

// anyFrom: the words from one on have one of some.
func anyFrom(words []word, from int, of map[string]bool) bool {
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
