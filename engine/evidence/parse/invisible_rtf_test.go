package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestInvisibleRTF(t *testing.T) {
	const head = `{\rtf1\ansi{\colortbl;\red255\green255\blue255;\red16\green16\blue16;}` +
		`{\stylesheet{\s0 Normal;}{\s1\strike Old;}{\s2\sbasedon1 Older;}{\s3\v Gone;}{\*\cs10\strike Struck;}{\*\cs11\sbasedon10 Too;}{\*\cs12\v Hid;}{\s4\cf1 Light;}}`
	m := matrix{
		file: "a.rtf", containers: []string{"body", "table", "shaped table", "header", "footer", "footnote", "text box", "list"},
		ways: map[string]string{
			"v":                   `{\v quagga} seen`,
			"strike":              `{\strike quagga} seen`,
			"striked":             `\striked1 quagga\striked0  seen`,
			"deleted":             `{\deleted quagga} seen`,
			"deleted, plain":      `{\deleted\plain quagga} seen`,
			"nested group":        `{\strike {\b quagga}} seen`,
			"until plain":         `\strike quagga\plain  seen`,
			"paragraph style":     `\s1 quagga{\strike0 seen}`,
			"based on style":      `\s2 quagga{\strike0 seen}`,
			"hidden style":        `\s3 quagga{\v0 seen}`,
			"light style":         `\s4 quagga{\cf2 seen}`,
			"character style":     `{\cs10 quagga} seen`,
			"based on struck":     `{\cs11 quagga} seen`,
			"hidden character":    `{\cs12 quagga} seen`,
			"white":               `{\cf1 quagga} seen`,
			"in its highlight":    `{\cf2\highlight2 quagga} seen`,
			"in its shading":      `{\cf2\chcbpat2 quagga} seen`,
			"tiny":                `{\fs2 quagga}{\fs20  seen}`,
			"escaped":             `{\strike \'71\u117?agga} seen`,
			"paragraph's shading": `\cbpat2{\cf2 quagga} seen`,
		}, absent: []string{"white in shaped table", "light style in shaped table"},
	}
	m.build = func(_ *testing.T, container, _, text string) []byte {
		return []byte(head + `\pard\plain Before\par ` + map[string]string{
			"body":         `\pard\plain ` + text + `\par `,
			"table":        `\trowd\cellx1\cellx2\pard\plain\intbl ` + text + `\cell\pard\plain\intbl other\cell\row `,
			"shaped table": `\trowd\clcbpat2\cellx1\cellx2\pard\plain\intbl ` + text + `\cell\pard\plain\intbl other\cell\row `,
			"header":       `{\header\pard\plain ` + text + `\par}`,
			"footer":       `{\footerf\pard\plain ` + text + `\par}`,
			"footnote":     `x{\footnote\pard\plain ` + text + `}\par `,
			"text box":     `{\shp{\*\shpinst{\shptxt\pard\plain ` + text + `\par}}}`,
			"list":         `\pard\plain{\listtext 1.\tab}\ls1 ` + text + `\par `,
		}[container] + `\pard\plain After\par}`)
	}
	m.check(t)
	shown(t, "a.rtf", map[string][]byte{
		"light on a dark cell": []byte(head + `\trowd\clcbpat2\cellx1\cellx2\pard\intbl{\cf1 zebra}\cell\pard\intbl x\cell\row}`),
		"turned off":           []byte(head + `\strike x\strike0 zebra\par}`),
		"style turned off":     []byte(head + `\pard\s1\strike0 zebra\par}`),
		"after the group":      []byte(head + `{\v\strike\deleted x}zebra\par}`),
		"automatic color":      []byte(head + `\cf0 zebra\par}`),
		"name of a style":      []byte(head + `\pard\s4\cf2 zebra\par}`),
	})
	doc := parsetest.Read(t, "a.rtf", []byte(head+`Text{\*\shppict{\pict 00}}{\nonshppict{\pict 00}}{\pict 00}{\object{\*\objdata 00}{\result x}}{\*\annotation c}\par}`))
	if got := api.DescribeNotRead(doc.NotRead); got != "2 pictures, 1 embedded file, 1 comment" || !strings.HasPrefix(allText(doc), "Text") {
		t.Errorf("not read: %s; read %s", got, allText(doc))
	}
}
