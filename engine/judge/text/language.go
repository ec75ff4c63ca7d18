package text

import "unicode"

// Function words that nearly every English sentence of some length holds, and those
// of the languages that policies are also written in. Words that are both are in neither.
var (
	englishWords = wordSet("the of and to is are for by with on that or as must shall will not at from this it has have all be no any")
	foreignWords = wordSet(`der die das und ist nicht mit für von werden wird sind eine einer dem den zu auf bei nach
		le les des et est pour dans que une sont par sur avec aux du qui
		el los las con para del por se una como debe son y
		il che di per della dei sono gli nel
		het een van en zijn niet voor worden wordt aan
		o os da do dos não uma em são
		och att som är inte av på til og ikke er på
		w z nie się jest oraz są dla`)
)

// isEnglish tells whether words read like English, or tell nothing of a language, as
// rows of terms and figures do. It needs a sign of another one to say no.
func isEnglish(words []word) bool {
	english, foreign, strange, letters := 0, 0, 0, 0
	for _, w := range words {
		if englishWords[w.text] {
			english++
		}
		if foreignWords[w.text] {
			foreign++
		}
		for _, r := range w.text {
			if unicode.IsLetter(r) {
				letters++
				if r > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, r) {
					strange++
				}
			}
		}
	}
	return strange*3 <= letters && (foreign < 2 || foreign <= english || foreign*12 < len(words))
}
