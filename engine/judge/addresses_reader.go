package judge

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// modelAddressPattern matches text that the rules consider ordinary, but that may be meant for a
// language model: names of labels, parts of its prompt, roles of a conversation, and commands in
// several languages.
var modelAddressPattern = lazyregexp.New(
	`(?i)<\|?/?(?:im_start|im_end|system|assistant|user|inst|instructions?|think)\b|\[/?inst\]` +
		`|\bend of (?:the )?(?:passages?|data|documents?|prompt|context)\b` +
		`|\bpassages? [0-9a-f]{16} (?:begin|end)\b|"(?:statements|findings|label|passage)"\s*:|\blabel (?:it|this|them|everything|all|each` +
		`|every)\b` +
		`|\blabel(?:s|ed|led)?\b[^.\n]{0,60}\b(?:states|contradicts|silent)\b|\banswer (?:with|for|only|every|all|each|in) (?:"?states` +
		`|every|all|each|json)` +
		`|\b(?:as|to|dear|hey|hello|attention|note to|for) (?:an? |the |any |all |our |you,? )?(?:ai|llms?|language models?|chatbots?|gpt` +
		`|claude|(?:ai )?assistants?|models?)\b` +
		`[^.\n]{0,40}(?:[:,!]|\b(?:reading|processing|reviewing|evaluating|assessing|analy[sz]ing|parsing|summari[sz]ing))` +
		`|\bif you (?:are|were) (?:an? |the )?(?:ai|llm|language model|model|assistant|automated|machine|bot|chatbot|gpt)` +
		`|\b(?:your|the) (?:new |real |actual |true |only |next |updated |revised )?(?:instructions?|task|role|goal|job|objective` +
		`|system prompt)s? (?:is|are|now|has|have)\b` +
		`|\b(?:ignore|disregard|forget|skip|discard|bypass|override|stop following)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?` +
		`|guidelines?|directions?|passages?|told|said|labels?)\b` +
		`|\b(?:ignorier(?:e|t|en)?|vergiss|missachte|ignorez|oubliez|ignora|ignore|olvida|dimentica|negeer|vergeet|ignorer|zignoruj` +
		`|ignoruj)\b[^.\n]{0,60}` +
		`\b(?:anweisung(?:en)?|regeln|instructions?|consignes|instrucciones|istruzioni|instruc[oõ]es|instruç[oõ]es|instructies|instrukser` +
		`|instrukcje|polecenia)\b` +
		`|\b(?:bewerte|markiere|stufe|marquez|marca|contrassegna|markeer|oznacz)\b[^.\n]{0,60}\b(?:als|comme|como|come|jako)\b` +
		`|\bfrom now on,? (?:you|treat|answer|consider)|\bpretend (?:that|to|you)\b|\bdeveloper mode\b|\bjailbreak` +
		`|\byou are (?:now|no longer)\b` +
		`|\b(?:repeat|output|print|return|reply with|respond with)\b[^.\n]{0,40}\b(?:states|compliant|json|verdict|findings?|label)\b` +
		`|\bfor (?:all|every|each|any) (?:statements?|requirements?|controls?|questions?),? (?:answer|say|give|use|choose|return|select` +
		`|quote)\b` +
		`|\b(?:every|each|all) (?:the )?(?:statements?|requirements?) (?:is|are) (?:fully |all )?(?:met|stated|satisfied|true|covered` +
		`|in force)\b` +
		`|\b(?:system|assistant|developer)\s*:\s*(?:return|this|the|you|set|mark|report|all|answer|respond|say|ignore|please|treat)\b` +
		`|\bis_[a-z_]+\W+(?:true|false)\b|\b(?:confidence_score|missing_elements)\b|\bend of evidence\b|\bnew task\s*:` +
		`|\b(?:you|auditors?|readers?|assessors?|reviewers?),? must accept\b|\banswer (?:every|each|all) (?:the )?(?:statement|requirement` +
		`|question)` +
		`|[a-z0-9+/]{32,}={1,2}` + // text that a model may decode
		`|\bquote (?:this|the following) (?:line|sentence|text|passage)\b`)

// disguisedPattern matches words of Latin letters with letters of another script that look like them.
var disguisedPattern = lazyregexp.New(
	`[A-Za-z][\p{Cyrillic}αεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ][A-Za-z]|[\p{Cyrillic}αεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ][A-Za-z]{2}|[A-Za-z]{2}\p{Cyrillic}`,
)

// AddressesReader reports whether a passage, its headings or its title tell the reader what to
// conclude or may be meant for a language model. Such a passage is not given to a model.
func AddressesReader(p Passage) bool {
	above := p.DocumentTitle + ".\n" + strings.Join(p.HeadingPath, ".\n")
	return addressesReader(p.Text) || addressesReader(above)
}

func addressesReader(s string) bool {
	plain := toPlainLetters(s)
	return modelAddressPattern.MatchString(plain) || disguisedPattern.MatchString(plain) ||
		slices.ContainsFunc(text.Analyze(plain, 0).Sentences, func(s text.Sentence) bool { return s.Instruction })
}

// toPlainLetters returns a text in plain letters: without invisible characters, and with compatibility forms, such as
// full-width and mathematical letters, replaced.
func toPlainLetters(s string) string {
	return norm.NFKC.String(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
}
