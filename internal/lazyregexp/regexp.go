// Package lazyregexp provides regular expressions that are compiled on first use.
//
// A command needs only a few of the program's hundreds of expressions, and compiling all of them would slow down its
// start.
package lazyregexp

import "regexp"

// Regexp is a regular expression that is compiled on first use. Its methods are those of
// regexp.Regexp; they panic if the expression is invalid.
type Regexp struct {
	text    string
	compile func() *regexp.Regexp
}

// New returns a Regexp with the given source text.
func New(text string) *Regexp {
	return &Regexp{text, lazyCompile(text)}
}

func (l *Regexp) String() string { return l.text }

func (l *Regexp) MatchString(s string) bool { return l.compile().MatchString(s) }

func (l *Regexp) FindString(s string) string { return l.compile().FindString(s) }

func (l *Regexp) FindStringIndex(s string) []int { return l.compile().FindStringIndex(s) }

func (l *Regexp) FindStringSubmatch(s string) []string { return l.compile().FindStringSubmatch(s) }

func (l *Regexp) FindStringSubmatchIndex(s string) []int {
	return l.compile().FindStringSubmatchIndex(s)
}

func (l *Regexp) FindAllString(s string, n int) []string { return l.compile().FindAllString(s, n) }

func (l *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return l.compile().FindAllStringIndex(s, n)
}

func (l *Regexp) ReplaceAllString(s, with string) string {
	return l.compile().ReplaceAllString(s, with)
}

func (l *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return l.compile().ReplaceAllStringFunc(s, with)
}

func (l *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return l.compile().FindAllStringSubmatch(s, n)
}

func (l *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return l.compile().FindAllStringSubmatchIndex(s, n)
}

func (l *Regexp) FindAllIndex(b []byte, n int) [][]int { return l.compile().FindAllIndex(b, n) }

func (l *Regexp) Split(s string, n int) []string { return l.compile().Split(s, n) }

func (l *Regexp) ReplaceAllFunc(b []byte, with func([]byte) []byte) []byte {
	return l.compile().ReplaceAllFunc(b, with)
}

func (l *Regexp) ReplaceAll(b, with []byte) []byte { return l.compile().ReplaceAll(b, with) }
