package drawing

import (
	"math"
)

// Text sizes in drawing units.
const (
	LabelSize      = 13.0
	SmallLabelSize = 11.5
)

// RoundTo2 rounds a number to two decimals, so that the output is the same on every machine.
func RoundTo2(f float64) float64 { return math.Round(f*100) / 100 }

// LegendKey is an entry of a legend: a fill and its meaning.
type LegendKey struct {
	Fill ColorName
	Name string
}

// AddLegend adds a legend between the positions left and right, using as many lines as it needs. It returns the y
// position below the legend.
func (d *Drawing) AddLegend(keys []LegendKey, left, y, right float64) (bottomY float64) {
	if len(keys) == 0 {
		return y
	}
	x := left
	for _, k := range keys {
		w := 18 + TextWidth(k.Name, SmallLabelSize, false)*1.1 + 14
		if x+w > right && x > left {
			x, y = left, y+18
		}
		d.Add(
			Box{X: x, Y: y, W: 12, H: 12, Fill: k.Fill, Edge: Soft},
			Label{X: x + 18, Y: y + 10.5, Size: SmallLabelSize, Text: k.Name, Color: Ink},
		)
		x += w
	}
	return y + 20
}
