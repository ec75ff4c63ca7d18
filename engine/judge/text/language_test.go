package text

import (
	"testing"
)

func TestIsEnglish(t *testing.T) {
	for text, want := range map[string]bool{
		"ID: R-03; Asset: Laptops; Owner: Linnea Hart; Gross: 16; Net: 12; Option: treat; Due: 2027-06-30; Accepted: Maren Toll": true,
		"Keyhaven Gangway Quayside Pilotlink Lookout Barnacle Northpier Drydock Crewlist Moorline Mailmast Coldlocker":           true,
		"Alle tragbaren Rechner werden vor der Ausgabe an die Mitarbeiter vollständig verschlüsselt und zentral verwaltet":       false,
		"Les ordinateurs portables sont chiffrés et les clés sont conservées par le service informatique":                        false,
		"Все ноутбуки шифруются":                              false,
		"Staff in Den Haag and at La Défense sign the policy": true,
	} {
		if got := isEnglishOrUnknown(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
