package prose

import "testing"

func TestInitialsInRecord(t *testing.T) {
	for row, want := range map[string]string{
		"staff_id: 1004; name: Maren Tollefsby; department: Management": "staff_id: 1004; name: M. T.; department: Management",
		"system: Quayside; account: c.ashdowne; person: Colm Ashdowne":  "system: Quayside; account: C. A.; person: C. A.",
		"Work: Scans; Owner: Tobias de Venter, IT; State: open":         "Work: Scans; Owner: T. V., IT; State: open",
		"Role: DPO; Held by: Ada Byron; Email: ada@acme.example":        "Role: DPO; Held by: A. B.; Email: …",
		"Name: Ines Vogt; Last working day: 2026-04-30; Badge: yes":     "Name: I. V.; Last working day: 2026-04-30; Badge: yes",
		"Name: Ines Vogt; Laptop returned: yes":                         "Name: I. V.; Laptop returned: yes",
		"Name: Quayside Server; Place: Cork":                            "Name: Quayside Server; Place: Cork",
		"system: file server; checked by: Maria Lopes; via: Jo Bo":      "system: file server; checked by: M. L.; via: Jo Bo",
		"ID: SUP-005; Contract owner: Linnea Hart; Hosted by: Web Co":   "ID: SUP-005; Contract owner: L. H.; Hosted by: Web Co",
		"No.: 4; Owner: Managing Director":                              "No.: 4; Owner: Managing Director",
		"No.: 4; Owner: Head of Platform Operations":                    "No.: 4; Owner: Head of Platform Operations",
		"No.: 4; Owner: to be agreed":                                   "No.: 4; Owner: to be agreed",
		"The owner: Ada Byron approves it.":                             "The owner: Ada Byron approves it.",
		"RT-7 Date: 2026-06-11 By: Ada Byron, Jo Pry-Bo Result: FAILED": "RT-7 Date: 2026-06-11 By: A. B., J. P. Result: FAILED",
		"Note: Run by: Ada Byron. Result: good":                         "Note: Run by: Ada Byron. Result: good",
	} {
		if got := InitialsInRecord(row); got != want {
			t.Errorf("%q: %q, want %q", row, got, want)
		}
	}
}

func TestInitialsFor(t *testing.T) {
	people := InitialsFor([]string{
		"No.: 4; Owner: Ada Byron; State: open",
		"Scanning begins in Q2 (owner Tobias Venter).",
		"The review was chaired by Steering Committee members.",
		"system: Quayside; reviewer: Northpier Cloud",
		"From: Jorrit Slot; Comment: none",
	})
	for text, want := range map[string]string{
		"Replace it; Ada Byron Area: O-2":      "Replace it; A. B. Area: O-2",
		"Tobias Venter scans Northpier Cloud.": "T. V. scans Northpier Cloud.",
		"Jorrit Slot is not known as a person": "Jorrit Slot is not known as a person",
		"The Steering Committee decides.":      "The Steering Committee decides.",
	} {
		if got := people.Replace(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
