package text

import "strings"

// verbs are the base forms of verbs that are common in policies and records.
var verbs = wordSet(
	`approve review test encrypt monitor train log revoke communicate notify inform assign restrict scan patch dispose restore
classify retain detect escalate contain audit assess treat record authenticate authorize sign protect update provision return lock report
investigate evaluate verify rotate delete destroy wipe isolate define document maintain keep store use run enforce require apply cover include
contain list name own grant receive send perform conduct carry follow ensure create submit remove disable enable block limit collect check
compare change install configure publish acknowledge complete track manage decide agree state describe work hold lead meet undergo attend back
segregate separate segment filter identify prevent respond recover exist support allow deny need take make give provide obtain request terminate`,
)

// finiteVerbForms are verb forms that are rarely used as nouns.
var finiteVerbForms = wordSet(
	`goes go went get gets got gives gave takes took sees saw tells told asks asked shows shown begins began keeps stands stood pays meets
opens closes brings brought comes came writes wrote says said knows means meant sits lies holds belongs speaks reads fills stops happens helps runs ran
passes looks looked puts explains confirms counts decides chooses enters includes involves joins learns lets moves needs operates owns picks reaches
refuses relies remains reminds replaces returns sends sent serves sets ships signs stays suspends tries uses waits walks warns watches wears wipes
lose loses remain stay expire expires
agrees attacks drops become becomes begin bring come ensure exist happen hear know keep let lie say see send tell want wear write`,
)

// hasVerb reports whether words contain an auxiliary or a known verb. Sentences usually do, and headings don't.
func hasVerb(words []word) bool {
	for i, w := range words {
		if auxiliaryVerbs[w.text] || modalVerbs[w.text] || strings.HasSuffix(w.text, "n't") {
			return true
		}
		if i > 0 && i < len(words)-1 && w.stem != w.text && (strings.HasSuffix(w.text, "s") || strings.HasSuffix(w.text, "ed")) &&
			isInflectedVerb(w) {
			return true
		}
		if i > 0 && i < len(words)-1 && finiteVerbForms[w.text] {
			return true
		}
		// A base form is a verb at the beginning, in an imperative, or within the sentence.
		if (i == 0 && len(words) > 2 || i > 0 && i < len(words)-1) && verbs[w.text] && len(words) > 3 {
			return true
		}
	}
	return false
}

// isInflectedVerb reports whether w is an inflected form of a known verb, such as "tests" or "reviewed".
func isInflectedVerb(w word) bool {
	for _, end := range [...]string{"s", "es", "ed", "d", "ied", "ies"} {
		if head, ok := strings.CutSuffix(w.text, end); ok && (verbs[head] || verbs[head+"e"] || verbs[head+"y"]) {
			return true
		}
	}
	return false
}
