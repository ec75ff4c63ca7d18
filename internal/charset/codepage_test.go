package charset_test

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/scf-service/service/internal/charset"
)

// Spreadsheet programs write the code page of the country; text is read in it even if nothing declares it.
func TestDecodeCodePages(t *testing.T) {
	for text, page := range map[string]encoding.Encoding{
		"Система,Владелец\nСклад,Петров Игорь: доступ пересмотрен в мае\n": charmap.Windows1251,
		"Владелец;Анна\nSystem;CRM\n":                                                                         charmap.Windows1251,
		"Бухгалтерия: доступ пересматривается каждый квартал\n":                                               charmap.KOI8R,
		"Τα δικαιώματα πρόσβασης ελέγχονται κάθε τρίμηνο\n":                                                   charmap.Windows1253,
		"זכויות הגישה נבדקות בכל רבעון על ידי בעל המערכת\n":                                                   charmap.Windows1255,
		"تتم مراجعة حقوق الوصول كل ربع سنة من قبل مالك النظام\n":                                              charmap.Windows1256,
		"アクセス権は四半期ごとにシステム所有者が確認する。\n":                                                                         japanese.ShiftJIS,
		"访问权限每季度由系统所有者审查。\n":                                                                                  simplifiedchinese.GBK,
		"系统\t负责人\t状态\n客户管理\t王伟\t已审查\n财务\t李娜\t未审查\n":                                                           simplifiedchinese.GBK,
		"存取權限每季由系統擁有者審查。管理員使用多因素驗證。\n":                                                                        traditionalchinese.Big5,
		"접근 권한은 분기마다 시스템 소유자가 검토한다.\n":                                                                        korean.EUCKR,
		"Prawa dostępu są przeglądane co kwartał przez właściciela systemu.\n":                                charmap.Windows1250,
		"Přístupová práva každé čtvrtletí kontroluje vlastník systému. Vícefaktorové ověřování je zapnuto.\n": charmap.Windows1250,
		"Erişim hakları her üç ayda bir sistem sahibi tarafından gözden geçirilir.\n":                         charmap.Windows1254,
		"Zugriffsrechte werden vierteljährlich geprüft – der Eigentümer bestätigt sie.\n":                     charmap.Windows1252,
		"System,Owner\nBuchhaltung,Jörg Müller\nLager,Änne Größe\n":                                           charmap.Windows1252,
		"Les droits d’accès sont vérifiés chaque trimestre par le propriétaire du système.\n":                 charmap.Windows1252,
		"Käyttöoikeudet tarkistetaan neljännesvuosittain. Monivaiheinen tunnistus on käytössä.\n":             charmap.Windows1252,
		"The policy – “Access” – applies to all. It’s reviewed each year… Price £5.\n":                        charmap.Windows1252,
		"System;Owner;Temperature\nCRM;José;20°C\n":                                                           charmap.Windows1252,
		"<?xml version='1.0' encoding='windows-1251'?><p>Анна</p>":                                            charmap.Windows1251,
		"<html><head><meta http-equiv=Content-Type content='text/html; charset=iso-8859-5'></head>Ася</html>": charmap.ISO8859_5,
		"<html><head><meta charset=windows-1252></head><p>Prüfung der Zugriffe</html>":                        charmap.Windows1252,
	} {
		raw, err := page.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, warning := charset.Decode([]byte(raw)); got != text {
			t.Errorf("%v: %q (%s), want %q", page, got, warning, text)
		}
	}
}
