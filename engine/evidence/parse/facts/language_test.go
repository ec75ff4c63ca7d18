package facts_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestLanguage(t *testing.T) {
	for want, text := range map[string]string{
		"en": "The owner of the asset must review the rights of all users and shall record that this is done.",
		"de": "Der Eigentümer muss die Rechte aller Nutzer prüfen und die Ergebnisse werden mit dem Datum für das Audit notiert.",
		"fr": "Le responsable doit vérifier les droits des utilisateurs et les résultats sont conservés dans le registre pour une année.",
		"es": "El responsable debe revisar los derechos de los usuarios y los resultados se guardan en el registro para la auditoría con fecha.",
		"pt": "O responsável deve rever os direitos dos utilizadores e os resultados são guardados para a auditoria, não ao acaso.",
		"it": "Il responsabile deve verificare i diritti degli utenti e gli esiti sono conservati nel registro per una " +
			"revisione della direzione.",
		"nl":  "De eigenaar moet de rechten van alle gebruikers nakijken en de uitkomsten worden met het register voor een audit bewaard.",
		"pl":  "Właściciel zasobu musi przeglądać uprawnienia oraz zapisuje wyniki w rejestrze, które są przechowywane przez rok dla audytu.",
		"sv":  "Ägaren måste granska behörigheter för alla användare och resultaten ska sparas i registret till nästa revision.",
		"da":  "Ejeren skal gennemgå rettigheder for alle brugere, og resultaterne bliver gemt i registret til næste revision af en anden.",
		"ja":  "アクセス権は四半期ごとに見直し、記録を残す。多要素認証（MFA）をすべての管理者アカウントに適用する。ISO 27001 A.5.15",
		"zh":  "访问权限每季度审查一次，并保留记录。所有管理员账户必须使用多因素认证（MFA）。ISO 27001 A.5.15",
		"ko":  "접근 권한은 분기마다 검토하고 기록을 남긴다. 모든 관리자 계정에 다중 인증(MFA)을 적용한다.",
		"ar":  "تتم مراجعة صلاحيات الوصول كل ثلاثة أشهر من قبل مدير الإدارة. المصادقة (MFA) إلزامية.",
		"ru":  "Права доступа пересматриваются ежеквартально, результаты записываются в журнал.",
		"el":  "Τα δικαιώματα πρόσβασης ελέγχονται κάθε τρίμηνο.",
		"he":  "הרשאות הגישה נבדקות מדי רבעון על ידי מנהל המחלקה.",
		"und": "x1 y2 z3 0x44 foo bar baz qux",
		// A name in another script doesn't make a text foreign.
		"en ": "The owner of the asset, 山田太郎 of 株式会社, must review the rights of all users and shall record that this is done.",
	} {
		if got := parsetest.Read(t, "x.txt", []byte(text)).Language; got != strings.TrimSpace(want) {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
