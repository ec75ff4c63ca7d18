package judge

import "testing"

// Statements about another company are no evidence, provided that the documents show whose they are.
func TestOtherOrganization(t *testing.T) {
	mfa := control("Multi-factor authentication", "Multi-factor authentication is required for remote access.")
	const rule = "Multi-factor authentication is required for remote access."
	about := func(text string) Passage {
		p := passage("other", text)
		p.DocumentTitle = "About us"
		return p
	}
	own := []Passage{about("Marlow Optics Ltd was founded in 1974."), about("The canteen of Marlow Optics Ltd is open at noon.")}
	titled := func(title, category string, headings ...string) Passage {
		p := passage(category, rule)
		p.DocumentTitle, p.HeadingPath = title, headings
		return p
	}
	for _, tc := range []struct {
		name    string
		passage Passage
		want    string
	}{
		{"own policy", titled("Marlow Optics Ltd: Access Policy", "policy"), VerdictCovered},
		{"another's policy", titled("Quill & Sons Inc Access Policy", "policy"), VerdictMissing},
		{"a report by another", titled("Access test report by Quill & Sons Inc", "report"), VerdictCovered},
		{"a section on another", titled("Overview", "policy", "Practice at Quill & Sons Inc"), VerdictMissing},
		{"said of itself", policy("At Marlow Optics Ltd, multi-factor authentication is required for remote access."), VerdictCovered},
		{"said of another", policy("At Quill & Sons Inc, multi-factor authentication is required for remote access."), VerdictMissing},
	} {
		if got := judge(t, mfa, append([]Passage{tc.passage}, own...)...).Statements[0]; got.Verdict != tc.want {
			t.Errorf("%s: %s (%s), want %s", tc.name, got.Verdict, got.Reason, tc.want)
		}
	}
	if got := judge(t, mfa, titled("Quill & Sons Inc Access Policy", "policy")).Statements[0]; got.Verdict != VerdictCovered {
		t.Errorf("a policy of the only company that is named: %s", got.Verdict)
	}
}
