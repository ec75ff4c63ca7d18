package judge

import "testing"

// A document's kind is recognized by its wording, whatever its file is called, but rules that resemble another kind
// remain rules.
func TestGuessKind(t *testing.T) {
	for _, tc := range []struct{ title, text, want string }{
		{
			"Nurse (f/m/d)",
			"Our clinic is looking for a nurse. Your tasks: patient records are encrypted. We offer a pension plan. Apply online.",
			"job advert",
		},
		{
			"Request for quotations",
			"Bids must be submitted by May. Bidders ensure that backups are tested. The award criteria are price and quality.",
			"tender",
		},
		{
			"Unit 4",
			"Learning outcomes: students know that backups are tested. Homework: read unit 5. The lecturer answers questions.",
			"course",
		},
		{
			"Data Act",
			"This Act enters into force on Monday. Section 3. A controller shall test backups. A person who contravenes it is liable to a fine.",
			"law",
		},
		{"Recruitment policy", "Vacancies are published for a month. We offer interviews to all. Candidates are screened before they start.", "policy"},
		{
			"Awareness training policy",
			"All participants attend lesson 1 in their first week. This policy requires that the trainer keeps a list of participants.",
			"policy",
		},
		{"Procurement procedure", "Bidders are assessed before a contract is signed. 1. Ask for three bids. 2. Score them.", "procedure"},
		{"Compliance register", "This Act applies to us: NIS2. Owner: legal counsel. Penalties are listed.", "register"},
	} {
		if got := GuessCategory("document.md", tc.title, tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.title, got, tc.want)
		}
	}
}

// What passages of a kind can show, until a person corrects the category.
func TestKindLimitsEvidence(t *testing.T) {
	mfa := control("Multi-factor authentication", "Multi-factor authentication is required for remote access.")
	aware := control("Awareness training", "Awareness training covers phishing.")
	for _, tc := range []struct {
		category, text, want string
		control              int
	}{
		{"policy", "Multi-factor authentication is required for remote access.", VerdictCovered, 0},
		{"job advert", "Multi-factor authentication is required for remote access.", VerdictMissing, 0},
		{"Job Advert", "We have no multi-factor authentication for remote access.", VerdictMissing, 0},
		{"product manual", "Multi-factor authentication is required for remote access.", VerdictPartial, 0},
		{"course", "Multi-factor authentication is required for remote access.", VerdictMissing, 0},
		{"course", "Awareness training covers phishing.", VerdictPartial, 1},
	} {
		p := policy(tc.text)
		p.Category = tc.category
		c := mfa
		if tc.control == 1 {
			c = aware
		}
		if got := judge(t, c, p).Statements[0]; got.Verdict != tc.want {
			t.Errorf("%s, %q: %s (%s), want %s", tc.category, tc.text, got.Verdict, got.Reason, tc.want)
		}
	}
}
