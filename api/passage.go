package api

// Locator is the location of a passage in its document. Only the fields that apply to the document's format are set.
// Pages, slides and lines are counted from 1, line ranges are inclusive, and CellRange is in A1 notation ("B4:F4").
type Locator struct {
	Page      int    `json:"page,omitempty"`
	Sheet     string `json:"sheet,omitempty"`
	CellRange string `json:"cell_range,omitempty"`
	Slide     int    `json:"slide,omitempty"`
	LineStart int    `json:"line_start,omitempty"`
	LineEnd   int    `json:"line_end,omitempty"`
}
