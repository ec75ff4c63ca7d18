package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// A policy sentence is evidence only if the organization asserts it about itself, in the present. The words around it
// (its frame) can show that it is somebody else's claim ("the vendor claims that …"), doubtful ("it is a myth that …"),
// past ("until 2019, …"), wished for, imagined or conditional. What frames say differs, but they take only a few forms:
//
//	<matrix clause> that | whether | : | " <sentence>     unassertedClauseStart
//	<adverbial>, <sentence>                               isUnassertingAdverbial
//	<sentence> <retraction>                               retractionPattern
//
// The same kinds of words in headings, introductions and neighboring sentences apply to whole sections
// (disclaimer.go).
var (
	// falseWords say that a statement isn't true or isn't certain.
	falseWords = wordSet(`false untrue wrong myth myths lie lies fiction misconception misconceptions misunderstanding error mistake mistaken
		nonsense rumor rumour rumors rumours doubt doubts doubtful doubted deny denies denied dispute disputes disputed disbelieve unclear
		unknown uncertain questionable unlikely hearsay illusion legend exaggeration unproven unconfirmed invented debatable improbable incorrect
		refuted disproved debunked open`)
	// opinionVerbs express opinions and wishes rather than facts. Unlike with reportVerbs, what follows is never
	// asserted as fact, regardless of the subject.
	opinionVerbs = wordSet(`claim claims claimed allege alleges alleged believe believes believed think thinks thought guess guesses assume assumes
		assumed suppose supposed speculate speculates suspect suspects imagine imagined pretend pretends dream dreams dreamt wish wishes wished
		hope hopes hoped desire desires want wants wanted propose proposes proposed recommend recommends recommended suggest suggests suggested
		insinuate insinuates boast boasts boasted brag brags fantasize urge urges urged heard hear hears wonder wonders wondered doubt doubts
		advise advises advised feel feels felt`)
	// opinionNouns introduce a statement without asserting it: "the claim that …".
	opinionNouns = wordSet(`claim claims allegation allegations idea notion assumption belief impression theory hypothesis thesis rumor rumour
		suggestion myth wish dream hope proposal promise story view opinion speculation fantasy expectation recommendation`)
	// reportVerbs assert what follows only if the subject speaks for the organization: "this policy states that".
	reportVerbs = wordSet(`say says said tell tells told state states stated announce announces announced report reports reported write writes wrote
		written mention mentions mentioned explain explains explained ask asks asked demand demands demanded require requires required expect expects
		expected promise promises promised advertise advertises advertised assert asserts asserted argue argues argued describe describes described
		stipulate stipulates prescribe prescribes maintain maintains insist insists answer answers answered declare declares declared read reads
		provides quoted quotes posted posts tweeted commented replied whispered murmured shouted`)
	// factVerbs assert what follows, regardless of the subject: "the auditor confirmed that".
	factVerbs = wordSet(`confirm confirms confirmed verify verifies verified show shows showed shown prove proves proved demonstrate demonstrates
		demonstrated ensure ensures ensured find finds found note noted know knows known guarantee guarantees guaranteed evidence proof sure true case
		reality practice fact conclude concludes concluded exist exists assured observe observed`)
	// speculativeAdverbs begin a sentence that doesn't state a fact, or states one that no longer holds.
	speculativeAdverbs = wordSet(`supposedly allegedly reportedly purportedly ostensibly presumably apparently hypothetically theoretically ideally
		hopefully perhaps maybe possibly formerly previously originally historically rumor rumour`)
	// resourceNouns name resources on which a plan depends: "if we get the budget, …".
	resourceNouns = wordSet(`money budget budgets fund funds funding funded investment grant grants merger acquisition takeover deal bid tender resources
		headcount sponsor`)
	// imaginedNouns are nouns for settings that aren't real.
	imaginedNouns = wordSet(`film films movie novel story tale fable saga comic episode scenario option variant alternative simulation game dream fantasy
		utopia theory paper ideal perfect thought book play series`)
	// rivalNouns are nouns for people and organizations that are never part of the organization. outsiderNouns refer to
	// outsiders if they occur in a frame that reports a statement.
	rivalNouns = wordSet(`competitor competitors rival rivals bidder bidders tenderer tenderers tenderers proposer proposers offeror offerors
		applicant applicants researchers scientists authors analysts journalists politicians airline students learners pupils players`)
	outsiderNouns = wordSet(`vendor vendors supplier suppliers customer customers client clients salesman salesperson seller brochure consultant
		consultants expert experts people guest speaker author blog blogger press newspaper magazine user someone somebody everybody many some friend
		colleague employee candidate study survey report article website advertisement ad regulator government ministry manufacturer`)
	// partnerPlurals are plural nouns for partners from whom an organization may require declarations.
	partnerPlurals = wordSet(`suppliers vendors providers contractors subcontractors processors partners visitors`)
	lawNouns       = wordSet(`law laws act regulation regulations directive statute statutes legislation legislator gdpr hipaa iso nist pci ordinance
		parliament treaty article`)
	organizationPlurals = wordSet(`organizations organisations companies firms enterprises businesses operators municipalities cities countries
		banks hospitals universities agencies institutions employers corporations industries`)
	organizationNouns = wordSet(`organization organisation company firm enterprise business municipality city town county country state bank hospital
		university school agency institution employer corporation industry sector job workplace place operator neighbor neighbour village`)
	otherWords = wordSet(`sister parent partner other another neighboring neighbouring typical average foreign former previous old last different fictional imaginary invented
		hypothetical certain some`)
	selfWords = wordSet(`we our ours us ourselves i`)
	// internalNouns are subjects that speak for the organization.
	internalNouns = wordSet(`policy policies procedure procedures standard standards handbook manual guideline guidelines rule rules plan management
		board company organization organisation director directors ciso officer cio ceo department team contract contracts agreement agreements sla
		dpa charter directive document section chapter process staff employees personnel users managers manager owner owners administrators everyone auditor auditors audit assessor assessment review log logs record records register
		minutes ticket tickets test tests result results certificate schedule it this bank hospital university council group administrator`)
	stateNouns = wordSet(`state world company situation future place environment organization organisation society day time culture`)
)

const (
	maxMatrixWords    = 14 // maximum number of words before the framed sentence
	maxLabelWords     = 9  // maximum number of words before a colon
	maxAdverbialWords = 12 // maximum number of words before the comma
)

// readAttribution marks clauses as hypothetical if the organization doesn't assert them about
// itself. Denials in them don't count for the organization, either.
func readAttribution(s *Stance, text string, words []word, currentYear int) {
	if s.IsTableRow || len(words) < 4 {
		return
	}
	from, to := 0, len(words)
	if !isUnassertingAdverbial(text, words, currentYear) {
		from = unassertedClauseStart(text, words)
	}
	if from < 0 {
		if isWordSalad(text, words) || retractionPattern.MatchString(text) || isMostlyQuotedSpeech(text) {
			s.unassert(words)
		}
		return
	}
	if name := findLegalName(text[:words[min(max(from, maxNamedWords), len(words)-1)].start]); name != "" {
		s.Organization = name // which may be the organization itself
		return
	}
	switch {
	case isOneOf(words[0].text, "no", "nobody", "none", "nothing") && s.Denied&1 != 0,
		lacksProof(words[:from]) && !containsFrom(words, from, harmParticiples) &&
			!slices.ContainsFunc(words[from:], func(w word) bool { return eventStems[w.stem] }):
		s.Denied = 1<<s.ClauseCount - 1 // "no record shows that …" and "we found no evidence that …" deny it
		return
	case saysNotTold(words[:from]):
		return // "callers are not told that …" denies that they are
	}
	if i := strings.LastIndexByte(text, ';'); i > 0 { // "We reject the claim that …; MFA is mandatory."
		after := slices.IndexFunc(words, func(w word) bool { return w.start > i })
		if after > from && len(words)-after >= 4 && hasVerb(words[after:]) && !pronouns[words[after].text] &&
			unassertedClauseStart(text, words[after:]) < 0 && selfWords[words[0].text] {
			to = after
		}
	}
	s.unassert(words[:to])
}

// unassert marks the clauses of words as hypothetical.
func (s *Stance) unassert(words []word) {
	for _, w := range words {
		s.Hypothetical |= 1 << w.clause
		s.Denied &^= 1 << w.clause
	}
	if s.Hypothetical == 1<<s.ClauseCount-1 {
		s.PlanWords, s.RefersBack = "", false
	}
}

// IsUnasserted reports whether a sentence states nothing that the organization asserts about itself.
func (s *Sentence) IsUnasserted() bool {
	return s.Hypothetical != 0 && s.Hypothetical == 1<<s.ClauseCount-1
}

// unassertedClauseStart returns the index of the word that follows a frame such as "X claims that", which reports a
// statement without asserting it. It returns -1 if there is no such frame.
func unassertedClauseStart(text string, words []word) int {
	for i := 1; i < len(words) && i <= maxMatrixWords; i++ {
		gap := text[words[i-1].end:words[i].start]
		that, colon := words[i].text == "that", strings.ContainsAny(gap, ":") || strings.Contains(gap, `"`)
		loose := isOneOf(words[i].text, "whether", "if", "why", "how", "where", "which", "to")
		if !that && !colon && !loose {
			if strings.ContainsAny(gap, ";") {
				return -1
			}
			continue
		}
		if len(words)-i < 3 {
			return -1
		}
		if that && words[i+1].text == "they" && partnerPlurals[words[0].text] {
			return -1 // "Suppliers declare in writing that they …": the declaration is the organization's practice
		}
		if matrix := words[:i]; isUnassertingMatrix(text, matrix, words[i].text, that, colon) {
			return i
		}
	}
	return -1
}

// isUnassertingMatrix reports whether the words before a complement ("that …", ": …", "whether …") introduce it without
// asserting it.
func isUnassertingMatrix(text string, matrix []word, complementizer string, that, colon bool) bool {
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(matrix, func(w word) bool { return set[w.text] })
	}
	near := func(set map[string]bool, n int) bool {
		return slices.ContainsFunc(matrix[max(0, len(matrix)-n):], func(w word) bool { return set[w.text] })
	}
	first := matrix[0].text
	if has(subordinateWords) || has(obligationModals) && !has(rivalNouns) && !has(organizationPlurals) && !has(lawNouns) {
		return false
	}
	negated := has(negationWords) || slices.ContainsFunc(matrix, func(w word) bool { return strings.HasSuffix(w.text, "n't") }) ||
		has(farWords)
	self := selfWords[first] && first != "our" || first == "this" || isInternalSubject(matrix)
	predicate := near(factVerbs, 4) || near(reportVerbs, 4) || near(opinionVerbs, 5) || near(falseWords, 4) || near(opinionNouns, 2)
	switch {
	case colon && len(matrix) > maxLabelWords:
		return false
	case colon:
		if colonLabelPattern.MatchString(text[matrix[0].start:matrix[len(matrix)-1].end]) {
			return true
		}
		return !self && near(reportVerbs, 3) && (has(outsiderNouns) || has(rivalNouns) || has(lawNouns) || isNamedOrganization(text, matrix))
	case complementizer == "whether", complementizer == "if":
		return near(falseWords, 4) || near(questionVerbs, 4) || near(opinionVerbs, 3) || near(wouldWords, 5) && near(niceWords, 3)
	case complementizer == "where", complementizer == "which":
		return near(stateNouns, 3) && (has(opinionVerbs) || has(opinionNouns) || has(farWords) || negated)
	case complementizer == "why", complementizer == "how":
		return has(rivalNouns)
	case complementizer == "to":
		return first == "we" && near(helpVerbs, 5) && has(helpedNouns)
	}
	switch {
	case negated && near(truthWords, 2):
		return false // "it is not the case that" denies what follows
	case negated && predicate:
		return !slices.ContainsFunc(matrix, func(w word) bool { return isOneOf(w.text, "doubt", "accept", "exception", "exceptions") }) ||
			first == "we" && has(falseWords) && !hasWord(matrix, "no")
	case near(toldWords, 3) && near(listenerWords, 1):
		return true // "they told us that"
	case near(opinionNouns, 1) && !hasWord(matrix, "promise"):
		return true
	case first == "it" && matrix[len(matrix)-1].text == "recommended":
		return false // a rule, although a weak one
	case near(opinionVerbs, 5) && !hasWord(matrix[max(0, len(matrix)-2):], "required"):
		return true
	case near(falseWords, 2): // not "deny all traffic that"
		return true
	case (predicate || near(meanWords, 2)) && near(wouldWords, 6):
		return true // "option 3 would mean that"
	case has(rivalNouns) && predicate, has(organizationPlurals) && predicate && !self:
		return true
	case near(reportVerbs, 6) && !self &&
		(has(outsiderNouns) || has(lawNouns) || isNamedOrganization(text, matrix) || namesOtherOrganization(matrix)):
		return true
	case usedToBePattern.MatchString(text[:matrix[len(matrix)-1].end]):
		return true
	case near(reportVerbs, 3) && !self && isProperName(text, matrix):
		return true
	}
	return false
}

// hasWord reports whether text is one of the words.
func hasWord(words []word, text string) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.text == text })
}

var (
	obligationModals = wordSet("must shall")
	truthWords       = wordSet("true case so")
	toldWords        = wordSet("told tells")
	listenerWords    = wordSet("us me him her them")
	industryNouns    = wordSet("industry sector market world profession trade")
	farWords         = wordSet("far hardly scarcely barely")
	wouldWords       = wordSet("would could might")
	meanWords        = wordSet("mean imply require")
	niceWords        = wordSet("nice good great better helpful useful ideal wonderful fine welcome")
	questionVerbs    = wordSet("ask asks asked wonder wonders wondered know knows discuss discussed unclear open question debated")
	// subordinateWords begin clauses that can't be frames: "if we suspect that …", "until its owner
	// has said that …".
	subordinateWords = wordSet("if when whenever until unless before after while who which because as where")
	helpVerbs        = wordSet("help helps support supports assist enable advise")
	helpedNouns      = wordSet("client clients customer customers you companies organizations organisations businesses")
)

// isInternalSubject reports whether the subject of a matrix clause speaks for the organization: "the policy states".
func isInternalSubject(matrix []word) bool {
	our := false
	for _, w := range matrix {
		our = our || w.text == "our"
		if rivalNouns[w.text] || outsiderNouns[w.text] && w.text != "report" || otherWords[w.text] && w.text != "some" && w.text != "last" ||
			lawNouns[w.text] && w.text != "directive" {
			return false
		}
		if internalNouns[w.text] || w.text == "report" {
			return true
		}
		if reportVerbs[w.text] {
			return our || w.text == "required" || w.text == "expected"
		}
	}
	return our
}

// namesOtherOrganization reports whether words name an organization other than the documents' own: "a previous employer".
func namesOtherOrganization(words []word) bool {
	for i, w := range words {
		if organizationPlurals[w.text] && !slices.ContainsFunc(words, func(w word) bool { return w.text == "our" || w.text == "group" }) {
			return true
		}
		if organizationNouns[w.text] {
			for k := max(0, i-3); k < i; k++ {
				if otherWords[words[k].text] || words[k].text == "my" {
					return true
				}
			}
		}
	}
	return false
}

// legalFormPattern matches a company name with its legal form.
var legalFormPattern = lazyregexp.New(
	`\b[A-Z][\w&'’-]*(?: (?:[A-Z&][\w&'’-]*)){0,4},? (?:Ltd|Limited|Inc|LLC|GmbH|AG|plc|PLC|Corp|Corporation|Incorporated|AB|BV|NV|SA|SAS|SpA|Oy|Oyj|KG|Pty|Co|ASA|SE|Kft|ApS)\b`,
)

// maxNamedWords is the maximum number of words at the beginning of a frame that are searched for a company name.
const maxNamedWords = 6

func findLegalName(text string) string {
	if !legalFormEndPattern.MatchString(text) {
		return ""
	}
	return legalFormPattern.FindString(text)
}

var legalFormEndPattern = lazyregexp.NewPrefiltered(
	`\b(?:Ltd|Limited|Inc|LLC|GmbH|AG|plc|PLC|Corp|Corporation|Incorporated|AB|BV|NV|SA|SAS|SpA|Oy|Oyj|KG|Pty|ASA|SE|Kft|ApS)\b`,
)

// LegalName is a regular expression for the name of a company with a common legal form.
const LegalName = `[A-Z][\w&'’-]*(?: [A-Z&][\w&'’-]*){0,4},? (?:Ltd|Limited|Inc|LLC|GmbH|AG|plc|PLC|Corp|Corporation|AB|BV|NV|SA|SAS|SpA|Oy|KG)`

// framedNamePattern matches the name of a company in a frame. Such a name doesn't show whom the
// document belongs to.
var framedNamePattern = lazyregexp.New(
	`(?m)(?:^|[.!?] )\W*(?:At|In|Within|With|Like|Company:|Organi[sz]ation:|Competitor:) ` + LegalName + `\b|` +
		LegalName + `\.? (?:requires|says|claims|states|demands|expects|promises|announced|answered)\b`,
)

// Organizations returns the names of the companies, without their legal forms, that occur in a text in a role other
// than the place or source of a statement.
func Organizations(text string) (names []string) {
	if !legalFormEndPattern.MatchString(text) {
		return nil
	}
	for _, name := range legalFormPattern.FindAllString(framedNamePattern.ReplaceAllString(text, " . "), -1) {
		if name = OrganizationName(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// OrganizationName returns the name of a company in lower case, without its legal form and without
// a leading article or preposition.
func OrganizationName(legalName string) string {
	fields := strings.Fields(strings.ToLower(strings.NewReplacer(",", " ", ".", " ").Replace(legalName)))
	fields = fields[:len(fields)-1]
	for len(fields) > 1 && isOneOf(fields[0], "the", "at", "in", "by", "of", "for", "with", "security", "about", "and", "between") {
		fields = fields[1:]
	}
	return strings.Join(fields, " ")
}

// isNamedOrganization reports whether the words of a frame name a company and include its legal form.
func isNamedOrganization(text string, words []word) bool {
	return legalFormPattern.MatchString(text[words[0].start:words[len(words)-1].end])
}

// isProperName reports whether the subject of a matrix clause consists only of names or unknown words: "Reuters reports
// that".
func isProperName(text string, matrix []word) bool {
	w := matrix[0]
	return len(matrix) <= 4 && !stopWords[w.text] && len(matrix) > 1 && reportVerbs[matrix[1].text] && !internalNouns[w.text] &&
		!strings.HasSuffix(w.text, "s") && text[w.start] >= 'A' && text[w.start] <= 'Z'
}

// colonLabelPattern matches the label before a sentence that isn't asserted: "Myth:", "Example of a profile:".
var colonLabelPattern = lazyregexp.NewPrefiltered(
	`(?i)^(?:myth|misconception|fiction|false|wrong|untrue|rumou?r|claim|allegation|question|quiz|wish|idea|dream|vision|hypothesis|bad example|counter-?example|` +
		`example of (?:an? )?[\w -]{1,40}|(?:invented|fictional|imaginary|hypothetical) [\w -]{1,40}|old (?:rule|policy|wording)|former(?:ly)?|previously|` +
		`previous (?:rule|policy|wording)|before|in the past|competitors?|elsewhere|others?|the law|law|proposal|option [\w]+|variant [\w]+|scenario [\w]+|` +
		`term|true or false|(?:expected|correct|sample|model|suggested) answer|guest|caller|listener|reader|user ?\d+(?: wrote)?|anonymous|explanation on the back|` +
		`[^:]*\b(?:explanation on the back|\(invented\)|invented|fictional|made up))$`,
)

// isMostlyQuotedSpeech reports whether most of a sentence is somebody's speech in quotation marks.
func isMostlyQuotedSpeech(text string) bool {
	if strings.Count(text, `"`)+strings.Count(text, "“")+strings.Count(text, "”") < 2 {
		return false
	}
	normalized := strings.NewReplacer("“", `"`, "”", `"`).Replace(text)
	first, last := strings.IndexByte(normalized, '"'), strings.LastIndexByte(normalized, '"')
	outside := normalized[:first] + " " + normalized[last+1:]
	for { // a quotation may have interruptions: "…," she said, "…"
		i := strings.Index(normalized[first+1:last+1], `"`)
		if i < 0 || first+1+i == last {
			break
		}
		end := first + 1 + i
		next := strings.IndexByte(normalized[end+1:], '"')
		if next < 0 || end+1+next >= last {
			break
		}
		outside += " " + normalized[end+1:end+1+next]
		first = end + 1 + next
	}
	if len(outside) > len(text)*3/5 {
		return false
	}
	words := splitWords(outside)
	if len(words) == 0 || isInternalSubject(words) {
		return false
	}
	return slices.ContainsFunc(words, func(w word) bool { return speechVerbs[w.text] || falseWords[w.text] })
}

var speechVerbs = wordSet(`said says whispered murmured shouted asked replied answered explained added wrote read claimed thought announced laughed
	cried muttered continued told insisted quoted posted`)

// usedToBePattern matches a matrix clause about the past.
var usedToBePattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:it|there|we|they|staff|everybody|everyone|things?) used to\b|\b(?:was|were) once\b|\bhad (?:a|the) (?:rule|policy|habit|custom)\b|\b(?:predecessors?|ancestors|forerunner)\b`,
)

// isUnassertingAdverbial reports whether the adverbial before the first comma places the sentence
// somewhere else, in another time or in an imagined world: "at our competitor, …", "until 2019, …",
// "in theory, …".
func isUnassertingAdverbial(text string, words []word, currentYear int) bool {
	first := words[0].text
	if speculativeAdverbs[first] {
		return true
	}
	comma := -1
	for i := 1; i < len(words) && i <= maxAdverbialWords; i++ {
		if gap := text[words[i-1].end:words[i].start]; strings.Contains(gap, ",") && !isInsideName(text, words, i) {
			comma = i
			break
		} else if strings.ContainsAny(gap, ":;") {
			break
		}
	}
	if comma < 0 {
		return openingPattern.MatchString(text)
	}
	prefix := words[:comma]
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(prefix, func(w word) bool { return set[w.text] })
	}
	switch first {
	case "in", "at", "within", "inside", "throughout", "for", "with", "among", "across", "by", "where", "on", "over", "like":
		self := slices.ContainsFunc(words[comma:], func(w word) bool { return isOneOf(w.text, "we", "our") })
		return isOneOf(first, "in", "across", "within", "throughout") && industryNouns[prefix[len(prefix)-1].text] && !self ||
			has(imaginedNouns) && !hasWord(prefix, "this") || has(rivalNouns) || namesOtherOrganization(prefix) ||
			isNamedOrganization(text, prefix) && first != "with" && first != "by" && first != "for" && !self ||
			first == "where" && slices.ContainsFunc(prefix, func(w word) bool { return w.text == "i" }) ||
			first != "with" && first != "by" && pastTimePattern.MatchString(text[:words[comma-1].end])
	case "according":
		return !isInternalSubject(prefix)
	case "until", "till", "before", "prior", "up", "from", "during", "back", "years", "decades", "long", "once":
		return isPastPeriod(text[:words[comma-1].end], prefix, currentYear) || first == "once" && has(resourceNouns)
	case "if", "when", "provided", "assuming", "as", "should", "after":
		return has(resourceNouns) && !hasWord(prefix, "incident")
	case "were", "had":
		return isOneOf(wordAt(words, 1), "we", "they", "it", "there", "i")
	}
	return openingPattern.MatchString(text) || futureTimePattern.MatchString(text[:words[comma-1].end])
}

// futureTimePattern matches adverbials that refer to the future.
var futureTimePattern = lazyregexp.NewPrefiltered(
	`(?i)^\W*(?:one (?:fine )?day|some ?day|eventually|sooner or later|in due course|in the (?:long run|future|years to come)|tomorrow|soon)$`,
)

// isInsideName reports whether the comma before word i belongs to a company's name ("Contoso, Inc.").
func isInsideName(text string, words []word, i int) bool {
	return isOneOf(words[i].text, "inc", "ltd", "llc", "gmbh", "plc", "corp") || i > 1 && words[i].start == words[i-1].end
}

// openingPattern matches the beginning of a sentence about an imagined or past state if no comma follows the adverbial.
var openingPattern = lazyregexp.NewPrefiltered(
	`(?i)^\W*(?:once upon a time|if only\b|would that\b|there was a time|in the old days|(?:were|had) (?:we|it|they)\b|picture an?\b|what if\b|say,? for example|let us say\b|` +
		`(?:true or false|right or wrong|agree or disagree)\b|in \d+ ?(?:%|percent) of (?:the |all )?(?:compan|organi|firm|business|respond|participant|case))`,
)

// pastTimePattern matches adverbials that refer to the past.
var pastTimePattern = lazyregexp.NewPrefiltered(
	`(?i)^\W*(?:in the past|in (?:former|earlier|olden|bygone) (?:times|days|years)|in (?:those|the old|the early) days|at (?:that|the) time|in the (?:last century|nineties|eighties))\b`,
)

// isPastPeriod reports whether an adverbial names a period that is over: "until 2019", "years ago".
func isPastPeriod(adverbial string, words []word, currentYear int) bool {
	lower := strings.ToLower(adverbial)
	if pastPeriodPattern.MatchString(lower) {
		return true
	}
	if !isOneOf(words[0].text, "until", "till", "prior", "up", "from", "before", "during") {
		return false
	}
	for _, w := range words[1:] {
		if len(w.text) == 4 && w.text > "1899" && w.text < "2100" && currentYear > 0 && w.text < strconv.Itoa(currentYear) {
			return words[0].text != "from" || strings.Contains(lower, " to ") || strings.Contains(lower, " until ")
		}
	}
	return false
}

var pastPeriodPattern = lazyregexp.NewPrefiltered(
	`^\W*(?:until (?:recently|last (?:year|month|spring|summer|autumn|winter|week)|a few)|years ago|decades ago|long ago|back (?:then|in)|once,|before (?:19|20)\d\d|once upon)`,
)

// retractionPattern matches the end of a sentence that retracts what comes before it.
var retractionPattern = lazyregexp.NewPrefiltered(
	`(?i)(?:[–—;,(:-]|\bbut\b)\W*(?:` +
		`(?:at least |or )?(?:so|that is what|that's what|this is what) (?:they|he|she|it|the \w+|some|people|everybody) (?:say|claim|think|believe|hope)s?\b[^.]*|` +
		`at least (?:that is what|so|on paper|in theory)\b.*|(?:in|on) (?:reality|practice|fact|truth|paper)\b[^.]*\b(?:not|n't|nobody|never|none|no one|nothing|only)\b.*|` +
		`(?:we|they|some|people|i) (?:hope|think|believe|guess|assume|suppose)|supposedly|allegedly|reportedly|hopefully|not really|or not|not!|` +
		`(?:since|but|after|from) (?:then|that|that time)\b[^.]*\b(?:no longer|not|stopped|ceased|abandoned|nobody)\b.*|` +
		`(?:it|this|that|which|the rule|the practice) (?:is|was|has been|were) (?:since |now |then |later )?(?:not (?:so|the case|true)|false|untrue|wrong|a lie|no longer (?:done|the case|so|true|followed|in force)|abolished|dropped|given up|repealed)|` +
		`(?:the )?opposite is (?:true|the case)|nobody (?:does|did|ever does)(?: it| so| this| that)?|none of (?:this|it|that) (?:is|was) (?:so|true|done|the case))\W*$`,
)

// lacksProof reports whether words that introduce a statement say that there is no proof of it: "we found no
// evidence that", "they could not show that".
func lacksProof(matrix []word) bool {
	for i, w := range matrix {
		switch {
		case w.text == "no":
			if isOneOf(wordAt(matrix, i+1), "evidence", "proof", "record", "records", "documentation") ||
				isOneOf(wordAt(matrix, i+2), "evidence", "proof", "record", "records", "documentation") {
				return true
			}
		case w.text == "not" || w.text == "unable" || w.text == "failed" || w.text == "couldn't":
			next := wordAt(matrix, i+1)
			if next == "to" || next == "be" {
				next = wordAt(matrix, i+2)
			}
			if isOneOf(next, "demonstrate", "demonstrated", "show", "shown", "prove", "proven", "proved", "evidence", "evidenced") {
				return true
			}
		}
	}
	return false
}

// saysNotTold reports whether words that introduce a statement say that somebody isn't told about it.
func saysNotTold(matrix []word) bool {
	for i, w := range matrix {
		if (w.text == "not" && auxiliaryVerbs[wordAt(matrix, i-1)] || w.text == "never" || strings.HasSuffix(w.text, "n't")) &&
			isOneOf(wordAt(matrix, i+1), "told", "informed", "notified", "instructed", "reminded", "warned", "advised") {
			return true
		}
	}
	return false
}
