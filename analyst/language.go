package analyst

// Function words that nearly every English sentence of some length holds.
var englishWords = wordSet("the of and to in is are for a an be by with on that or as must shall will not at from this it has have all")

// isEnglish tells whether words read like English. A few words tell nothing and pass.
func isEnglish(words []word) bool {
	n := 0
	for _, w := range words {
		if englishWords[w.text] {
			n++
		}
	}
	if len(words) >= 12 {
		return n*12 >= len(words)
	}
	return len(words) < 5 || n > 0 || plainASCII(words)
}

// plainASCII: short runs of terms ("MFA enabled: yes") carry no function words.
func plainASCII(words []word) bool {
	for _, w := range words {
		for i := range len(w.text) {
			if w.text[i] >= 0x80 && w.text[i:] != "’s" {
				return false
			}
		}
	}
	return true
}
