package office

import (
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
)

const (
	maxRTFProperty = 1 << 12 // bytes of the value of a property
	maxRTFPage     = 22 * 1440
)

// rtfUnreadWords are the destinations whose content is counted as unread.
var rtfUnreadWords = map[string]string{"objdata": api.UnreadEmbeddedFile, "annotation": api.UnreadComment}

// startMedia begins a picture, or a property of a picture or shape, and counts unread content. It
// returns false for other control words.
func (r *rtfReader) startMedia(word string, value int) (isMediaWord bool) {
	g := r.currentGroup()
	switch {
	case word == "pict" && g.dest != rtfIgnored:
		g.dest, r.picture, r.halfByte = rtfPicture, nil, -1
	case word == "shpright" || word == "shpbottom" || word == "shpleft" || word == "shptop":
		// The value is in twips relative to something on the page; a page has at most 22 inches.
		isEnd := word == "shpright" || word == "shpbottom"
		if isEnd && value <= -maxRTFPage/2 || !isEnd && value >= maxRTFPage {
			r.hiddenShapeAt = len(r.stack)
		}
		return true
	case word == "sn" || word == "sv":
		r.property.Reset()
		g.dest = rtfProperty
	default:
		if kind := rtfUnreadWords[word]; kind != "" && g.dest != rtfIgnored {
			r.b.Doc.AddNotRead(kind, 1, api.Locator{})
		}
		return false
	}
	g.starred = false
	return true
}

// putPictureDigits adds hexadecimal digits to the open picture, unless the picture will only be counted.
func (r *rtfReader) putPictureDigits(digits string) {
	if !r.b.HasOCR() {
		return
	}
	for _, c := range []byte(digits) {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		switch {
		case digit < 0 || len(r.picture) >= maxPicture:
		case r.halfByte < 0:
			r.halfByte = digit
		default:
			r.picture = append(r.picture, byte(r.halfByte<<4|digit))
			r.halfByte = -1
		}
	}
}

// endMedia adds the text of the picture or property whose group is closed.
func (r *rtfReader) endMedia(closed rtfGroup) {
	if len(r.stack) < r.hiddenShapeAt {
		r.hiddenShapeAt = 0
	}
	if closed.dest == r.currentGroup().dest {
		return
	}
	switch {
	case closed.dest == rtfPicture:
		if r.hiddenShapeAt == 0 {
			r.notes = append(r.notes, text.ReadPicture(r.b, r.picture, api.Locator{})...)
		}
		r.picture = nil
	case closed.dest != rtfProperty:
	case r.propertyName == "wzDescription" && r.hiddenShapeAt == 0:
		if value := document.AlternativeText(r.property.String()); value != "" {
			r.notes = append(r.notes, value)
		}
		r.propertyName = ""
	case r.propertyName == "fHidden":
		if strings.TrimSpace(r.property.String()) == "1" {
			r.hiddenShapeAt = max(len(r.stack)-1, 1) // at this point, sv is closed and sp is still open within the shape
		}
		r.propertyName = ""
	default:
		r.propertyName = strings.TrimSpace(r.property.String())
	}
}
