package api

// Locator is the place of a passage in its document. Only the parts that the
// format has are set: pages and slides count from 1, lines from 1 and inclusive,
// CellRange is in A1 notation ("B4:F4").
type Locator struct {
	Page      int    `json:"page,omitempty"`
	Sheet     string `json:"sheet,omitempty"`
	CellRange string `json:"cell_range,omitempty"`
	Slide     int    `json:"slide,omitempty"`
	LineStart int    `json:"line_start,omitempty"`
	LineEnd   int    `json:"line_end,omitempty"`
}
