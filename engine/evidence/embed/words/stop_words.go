package words

import "strings"

// stopWords lists words that don't indicate the subject of a text. It includes modal verbs, because
// every requirement contains one.
var stopWords = wordSet(`
a about above after again against all also am an and any are aren't as at be because been before being
below between both but by can cannot can't could did do does doesn't doing don't down during each either etc
few for from further had has have having he her here hers herself him himself his how however i if in into is
isn't it its itself just let's may me might more most must my myself neither no nor not of off on once only or
other our ours ourselves out over own per same shall she should so some such than that the their theirs them
themselves then there therefore these they this those through thus to too under until up upon us use used
using very via was we were what when where whether which while who whom whose why will with within without
would you your yours yourself yourselves
`)

func wordSet(s string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		m[strings.ReplaceAll(w, "'", "")] = true
	}
	return m
}
