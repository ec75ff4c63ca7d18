package mail_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// compressedRTF is the example of MS-OXRTFCP.
const compressedRTF = "2d0000002b0000004c5a4675f1c5c7a703000a0072637067313235423 20af32068656c09002062770 5b06c647d0a800fa0"

func exampleRTF(t testing.TB) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(compressedRTF, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func tnefNumber(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }

func tnefAttribute(id uint32, data string) string {
	return "\x01" + tnefNumber(id) + tnefNumber(uint32(len(data))) + data + "\x00\x00"
}

// tnefProperty is a property of variable length.
func tnefProperty(tag uint32, data string) string {
	return tnefNumber(tag) + tnefNumber(1) + tnefNumber(uint32(len(data))) + data + strings.Repeat("\x00", (4-len(data)%4)%4)
}

func tnefMessage(attributes ...string) string {
	return "\x78\x9f\x3e\x22\x01\x00" + strings.Join(attributes, "")
}

func tnefExample(t testing.TB) string {
	properties := tnefNumber(4) + "\x03\x00\xf1\x3f" + tnefNumber(1033) + // a number
		"\x1f\x00\x01\x80" + strings.Repeat("g", 16) + tnefNumber(1) + tnefNumber(6) + wide("abc") + "\x00\x00" + // one with a name
		tnefNumber(1) + tnefNumber(4) + wide("x\x00") + tnefProperty(0x0C1A001F, wide("Ann Roe\x00")) + tnefProperty(0x10090102, exampleRTF(t))
	inner := tnefMessage(tnefAttribute(0x00018004, "Inner\x00"), tnefAttribute(0x0002800C, "Doors are locked.\x00"))
	return tnefMessage(
		tnefAttribute(0x00069007, tnefNumber(1251)), tnefAttribute(0x00018004, "\xc4\xee\xea\x00"), tnefAttribute(0x00069003, properties),
		tnefAttribute(0x00069002, "render"), tnefAttribute(0x00018010, "LIST~1.CSV\x00"),
		tnefAttribute(0x0006800F, "System,Owner\nCRM,Bo Lind\n"),
		tnefAttribute(0x00069005, tnefNumber(1)+tnefProperty(0x3707001F, wide("list of systems.csv\x00"))),
		tnefAttribute(0x00069002, "render"), tnefAttribute(0x00069005, tnefNumber(1)+tnefProperty(0x3701000D, strings.Repeat("i", 16)+inner)),
	)
}

func TestTNEF(t *testing.T) {
	raw := tnefExample(t)
	doc := parsetest.Read(t, "winmail.dat", []byte(raw))
	want := `# Док
| From: Ann Roe  {Док}
## text of the email  {Док}
¶ hello world  {Док > text of the email}
## list of systems.csv  {Док}
| System: CRM; Owner: Bo Lind  {Док > list of systems.csv}
## attachment 3  {Док}
### Inner  {Док > attachment 3}
¶ Doors are locked.  {Док > attachment 3 > Inner}
`
	if got := documenttest.Outline(doc.Blocks); got != want || len(doc.Warnings) > 0 {
		t.Errorf("read\n%s\nwant\n%s\nwarnings %q", got, want, doc.Warnings)
	}
	if err := parsetest.ReadError(t, parse.Options{}, "winmail.dat", []byte(raw[:len(raw)-5])); !errors.Is(err, document.ErrDamaged) {
		t.Errorf("cut off: %v", err)
	}
}

func FuzzTNEF(f *testing.F) {
	f.Add([]byte(tnefExample(f)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsetest.CheckReadInvariants(t, "winmail.dat", append([]byte(tnefMessage()), raw[min(len(raw), 6):]...))
	})
}
