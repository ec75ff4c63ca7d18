package mail

import "encoding/binary"

// rtfDictionary is the initial content of the dictionary for compressed RTF, defined so that short
// texts can be compressed, too.
const rtfDictionary = "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArial" +
	"Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"

const (
	rtfHead       = 16 // bytes: compressed and raw size, kind and checksum
	rtfCompressed = 0x75465A4C
	rtfWindow     = 4096
)

// addRTF adds the text of a message that is only available as compressed RTF.
func (l *mailMessage) addRTF(raw []byte) {
	if text := decompressRTF(raw); len(text) > 0 {
		l.attachments = append([]attachment{{"text of the email", text}}, l.attachments...)
	}
}

// decompressRTF decompresses RTF that Outlook compressed according to MS-OXRTFCP. If the data is
// cut off, it returns the text up to there; if the format is unknown, it returns nil.
func decompressRTF(raw []byte) []byte {
	if len(raw) < rtfHead {
		return nil
	}
	size, kind := int(binary.LittleEndian.Uint32(raw[4:])), binary.LittleEndian.Uint32(raw[8:])
	if raw = raw[rtfHead:]; kind != rtfCompressed {
		if string(raw[:min(5, len(raw))]) == `{\rtf` {
			return raw
		}
		return nil
	}
	var window [rtfWindow]byte
	at := copy(window[:], rtfDictionary)
	out := make([]byte, 0, min(size, 9*len(raw))) // two bytes encode at most 17
	add := func(c byte) {
		window[at%rtfWindow] = c
		out, at = append(out, c), at+1
	}
	for len(raw) > 0 && len(out) < size {
		flags := raw[0]
		raw = raw[1:]
		for bit := 0; bit < 8 && len(raw) > 0; bit++ {
			if flags>>bit&1 == 0 {
				add(raw[0])
				raw = raw[1:]
				continue
			}
			if len(raw) < 2 {
				return out
			}
			from, length := int(raw[0])<<4|int(raw[1]>>4), int(raw[1]&15)+2
			if raw = raw[2:]; from == at%rtfWindow {
				return out
			}
			for i := range length {
				add(window[(from+i)%rtfWindow])
			}
		}
	}
	return out
}
