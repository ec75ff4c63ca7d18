package words

import (
	"slices"
	"testing"
)

func TestForeignStems(t *testing.T) {
	for _, c := range []struct {
		code, text string
		want       []string
	}{
		{"de", "Die Zugriffsrechte der Mitarbeiter", []string{"de:zugriffsrecht", "de:mitarbeit"}},
		{"fr", "les sauvegardes chiffrées", []string{"fr:sauvegard", "fr:chiffr"}},
		{"pl", "Uprawnienia są przeglądane", []string{"pl:uprawnienia", "pl:przeglądane"}}, // no stemmer
		{"ja", "多要素認証 MFA", []string{"ja:多要", "ja:要素", "ja:素認", "ja:認証", "ja:mfa"}},
		{"de", "", nil},
	} {
		if got := ForeignStems(c.code, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.code, c.text, got, c.want)
		}
	}
}
