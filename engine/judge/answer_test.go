package judge

import (
	"strings"
	"testing"
)

// A question is no evidence by itself, nor is one that is answered "No", "not applicable" or "planned".
func TestAnswerDecidesOnQuestion(t *testing.T) {
	const (
		question  = "Is multi-factor authentication required for all remote access?"
		statement = "Multi-factor authentication is required for all remote access"
	)
	choices := func(before bool, options ...string) string {
		var sb strings.Builder
		for _, o := range options {
			box := "☐ "
			if label, ok := strings.CutSuffix(o, "!"); ok {
				box, o = "☒ ", label
			}
			if before {
				sb.WriteString(box + o + " ")
			} else {
				sb.WriteString(o + " " + box)
			}
		}
		return strings.TrimSpace(sb.String())
	}
	words := []string{
		"<q>\n<a>", "<q> <a>", "Q: <q>\nA: <a>", "Question 4: <q>\nAnswer: <a>", "1. <q>\n   <a>", "- <q>\n- <a>",
		"<q>\nResponse: <a>\nComment: see the policy.", "<s>\n<a>", "<s>: <a>", "<s>.\nAnswer: <a>", "4.2 <s>\nA: <a>", "<s> – <a>",
		"Question: <q>; Answer: <a>", "No.: 1; Question: <q>; Answer: <a>; Comment: see the policy",
		"Ref: IAC-06; Control question: <q>; Supplier response: <a>", "Requirement: <s>; Yes/No: <a>; Remarks: –", "<q> | <a>",
		"1 | <q> | <a> | see the policy", "Topic: Access; Question: <q>; In place: <a>", "<q>: <a>", "Requirement: <s>; Compliant?: <a>",
		"Section: A; Statement: <s>; Response: <a>",
	}
	boxed := []string{
		"<q> <a>", "<q>\n<a>", "- <q> <a>", "<s>: <a>", "<s> <a>", "<s>\n<a>", "<s>.\n<a>", "Question: <q>; Answer: <a>",
		"Requirement: <s>; Answer: <a>; Comment: see the policy", "<q> | <a>", "No.: 3; Topic: Access; Question: <q>; Answer: <a>",
	}
	c := control("Multi-factor authentication", statement+".")
	check := func(layout, answer string, supports bool) {
		t.Helper()
		content := strings.NewReplacer("<q>", question, "<s>", statement, "<a>", answer).Replace(layout)
		v := judge(t, c, policy(content)).Statements[0]
		if is := v.Verdict == VerdictCovered || v.Verdict == VerdictPartial; is != supports {
			t.Errorf("%q: %s (%s)", content, v.Verdict, v.Reason)
		}
	}
	for _, layout := range words {
		for _, no := range []string{"No", "No.", "N", "N/A", "Not applicable", "Not yet", "no", "Planned", "Planned for Q3 2027"} {
			if layout == "<s> – <a>" && (no == "N" || strings.Contains(no, "Q3")) ||
				layout == "<s>: <a>" && (no == "N" || strings.Contains(no, "Q3")) ||
				strings.HasPrefix(layout, "<s>\n") && strings.HasPrefix(no, "Planned") {
				continue // no answer that can be told from a sentence
			}
			check(layout, no, false)
		}
		check(layout, "Yes", true)
	}
	for _, layout := range boxed {
		for _, before := range []bool{true, false} {
			check(layout, choices(before, "Yes", "No!"), false)
			check(layout, choices(before, "Yes", "No"), false)
			check(layout, choices(before, "Yes", "No", "N/A!"), false)
			check(layout, choices(before, "Yes", "Planned!", "No"), false)
			check(layout, choices(before, "Yes!", "No"), true)
		}
		check(layout, "[ ] Yes [x] No", false)
		check(layout, "( ) Yes ( ) No", false)
		check(layout, "[x] Yes [ ] No [ ] N/A", true)
	}
	for _, answer := range []string{"☐ Yes ☒ No", "Yes ☒ No ☐", "No"} { // the quote has the answer of its own question only
		v := judge(t, c, policy("Are tokens handed out? ☒ Yes ☐ No\n"+question+" "+answer+"\nIs it tested? No"))
		if len(v.Evidence) != 1 || v.Evidence[0].Quote != question+" "+answer {
			t.Errorf("%s: %+v", answer, v.Evidence)
		}
	}
	for content, supports := range map[string]bool{
		question: false,
		question + "\n☐ Yes\n☒ No\n☐ Not applicable":                       false,
		question + "\n- [ ] Yes\n- [ ] No":                                 false,
		question + "\n☒ Yes\n☐ No\n☐ Not applicable":                       true,
		"Question: " + question + "; Yes:; No: x":                          false,
		"Question: " + question + "; Yes:; No:":                            false,
		"Requirement: " + statement + "; Yes: ☐; No: ☒; N/A: ☐":            false,
		"Requirement: " + statement + "; Answer:":                          false,
		"Question: " + question + "; Yes: x; No:":                          true,
		"No.: 4; Question: " + question + "; Owner: CISO":                  false,
		"Question: " + question + "; Answer: We do not require it":         false,
		"Question: " + question + "; Answer: It is required for all of it": true,
		"Question: " + question + "; Mandatory: Yes; Answer: No":           false,
		statement + " ☐": false,
		statement + " ☒": true,
		"Requirement: " + statement + ". Tokens are used.; Answer: No; Comment: –": false,
		"| " + statement + ". Tokens are used. | N/A | see comment |":              false,
		"4 | " + question + " Describe it. | Tokens are not used. | CISO":          false,
		"No.: 1; Requirement: " + statement + "; Owner: CISO":                      true,
	} {
		check(content, "", supports)
	}
}
