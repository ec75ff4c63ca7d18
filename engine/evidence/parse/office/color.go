package office

import "strconv"

// similarColor is the difference of channel values (0 to 255) below which two colors look the same.
const similarColor = 10

// isSameColor reports whether two colors, in hex without "#", are indistinguishable. It returns
// false if one is unknown.
func isSameColor(a, b string) bool {
	v, errA := strconv.ParseUint(a, 16, 32)
	w, errB := strconv.ParseUint(b, 16, 32)
	if errA != nil || errB != nil || len(a) != 6 || len(b) != 6 {
		return false
	}
	for shift := 0; shift < 24; shift += 8 {
		x, y := v>>shift&255, w>>shift&255
		if max(x, y)-min(x, y) >= similarColor {
			return false
		}
	}
	return true
}
