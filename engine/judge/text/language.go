package text

import "unicode"

// englishWords are function words found in nearly every longer English sentence. foreignWords are those of other
// languages in which policies are written. Words that occur in both are in neither set.
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

// isEnglishOrUnknown reports whether words are English. They are assumed to be, unless foreign function words or
// a non-Latin script indicate another language, so rows of terms and figures count as English.
func isEnglishOrUnknown(words []word) bool {
	english, foreign, nonLatin, letters := 0, 0, 0, 0
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
					nonLatin++
				}
			}
		}
	}
	return nonLatin*3 <= letters && (foreign < 2 || foreign <= english || foreign*12 < len(words))
}
