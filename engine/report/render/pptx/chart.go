package pptx

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/workbook"
)

const nsChart = "http://schemas.openxmlformats.org/drawingml/2006/chart"

// patterns maps the patterns of fills to the corresponding PowerPoint patterns, which distinguish fills in
// grayscale.
var patterns = map[drawing.Hatch]string{
	drawing.Diagonal: "wdUpDiag", drawing.Crossed: "diagCross", drawing.Dotted: "pct20", drawing.Horizontal: "ltHorz",
	drawing.Vertical: "ltVert", drawing.SparseDotted: "pct5",
}

// addChart adds a chart, together with a workbook of the chart's numbers, which PowerPoint opens for editing.
func (x *slideWriter) addChart(s *content.Slide, in box) error {
	c := s.Chart
	x.charts++
	n := x.charts
	frame := &x.doc.Frame
	properties := workbook.Properties{Title: c.Title, Creator: frame.Tool, AsOf: frame.Time, Theme: frame.Theme}
	chart, book, err := ChartParts(c, s.Columns, properties)
	if err != nil {
		return err
	}
	id := fmt.Sprintf("rId%d", len(x.relations)+1)
	x.relations = append(x.relations, [3]string{id, "chart", fmt.Sprintf("../charts/chart%d.xml", n)})
	x.add(fmt.Sprintf("ppt/embeddings/chart%d.xlsx", n), "", book)
	x.add(fmt.Sprintf("ppt/charts/chart%d.xml", n), ChartType, chart)
	x.addXML(
		fmt.Sprintf("ppt/charts/_rels/chart%d.xml.rels", n), "",
		relationsXML([3]string{"rId1", "package", fmt.Sprintf("../embeddings/chart%d.xlsx", n)}),
	)
	fmt.Fprintf(&x.shapes, `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="%d" name="Chart" descr="%s"/><p:cNvGraphicFramePr/>`+
		`<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/></p:xfrm>%s</p:graphicFrame>`,
		x.nextID(), escapeXML(c.Title+". "+s.ChartText), in.x, in.y, in.w, in.h, ChartGraphic(id))
	return nil
}

// Media types of the parts of a chart.
const (
	ChartType    = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
	WorkbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)

// ChartGraphic returns the content of a graphic frame that shows the chart with the given relationship. The
// prefixes a and r must be declared.
func ChartGraphic(relationID string) string {
	return fmt.Sprintf(`<a:graphic><a:graphicData uri="%[1]s"><c:chart xmlns:c="%[1]s" r:id="%[2]s"/></a:graphicData></a:graphic>`,
		nsChart, relationID)
}

// ChartParts returns the parts of a native chart: the chart's XML and a workbook that contains its numbers. The
// relationship rId1 of the XML must point to the workbook. If columns is set, the bars are vertical.
func ChartParts(c *workbook.Chart, columns bool, p workbook.Properties) (chart, numbers []byte, err error) {
	if numbers, err = chartWorkbook(c, p); err != nil {
		return nil, nil, fmt.Errorf("write the chart's data: %w", err)
	}
	return []byte(xmlHead + p.Theme.ReplaceColorPlaceholders(chartXML(p.Theme, c, columns))), numbers, nil
}

// chartSheet is the name of the sheet with a chart's numbers, which has a row of names, followed by a row for each
// category.
const chartSheet = "Chart"

func chartWorkbook(c *workbook.Chart, p workbook.Properties) ([]byte, error) {
	b, err := workbook.NewWriter(p)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	head := []workbook.Cell{{Text: c.CategoryHeader, Style: workbook.StyleHead}}
	for _, s := range c.Series {
		head = append(head, workbook.Cell{Text: s.Name, Style: workbook.StyleHead})
	}
	lines := []workbook.Line{{Cells: head}}
	widths := []float64{34}
	for range c.Series {
		widths = append(widths, 14)
	}
	for _, r := range c.Rows {
		row := []workbook.Cell{{Text: r.Name}}
		for _, v := range r.Values {
			row = append(row, workbook.Cell{Number: v})
		}
		lines = append(lines, workbook.Line{Cells: row})
	}
	if err := b.AddLinesSheet(chartSheet, widths, lines); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = b.WriteTo(&out)
	return out.Bytes(), err
}

// fillXML returns the fill of a series: a color and the pattern that belongs to it.
func fillXML(theme drawing.Theme, n drawing.ColorName) string {
	color := theme.Color(n).HexDigits()
	if pattern := patterns[drawing.HatchOf(n)]; pattern != "" {
		return `<a:pattFill prst="` + pattern + `"><a:fgClr><a:srgbClr val="{soft}"/></a:fgClr><a:bgClr><a:srgbClr val="` + color +
			`"/></a:bgClr></a:pattFill>`
	}
	return `<a:solidFill><a:srgbClr val="` + color + `"/></a:solidFill>`
}

func chartTextXML(size int, color string) string {
	return fmt.Sprintf(`<c:txPr><a:bodyPr/><a:lstStyle/><a:p><a:pPr><a:defRPr sz="%d"><a:solidFill><a:srgbClr val="%s"/></a:solidFill>`+
		`</a:defRPr></a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr>`, size, color)
}

// chartXML returns the XML of a chart, which is either a stacked bar chart (horizontal or vertical) or a radar
// chart.
func chartXML(theme drawing.Theme, c *workbook.Chart, columns bool) string {
	radar := c.Type == workbook.ChartRadar
	var series strings.Builder
	for i, s := range c.Series {
		column, _ := excelize.ColumnNumberToName(i + 2)
		fmt.Fprintf(&series, `<c:ser><c:idx val="%d"/><c:order val="%d"/><c:tx><c:strRef><c:f>%s!$%s$1</c:f><c:strCache>`+
			`<c:ptCount val="1"/><c:pt idx="0"><c:v>%s</c:v></c:pt></c:strCache></c:strRef></c:tx>`, i, i, chartSheet, column, escapeXML(s.Name))
		if radar {
			dash := ""
			if i > 0 {
				dash = `<a:prstDash val="dash"/>`
			}
			fmt.Fprintf(&series, `<c:spPr><a:ln w="31750"><a:solidFill><a:srgbClr val="%s"/></a:solidFill>%s</a:ln></c:spPr><c:marker>`+
				`<c:symbol val="%s"/></c:marker>`,
				theme.Color(s.Color).HexDigits(), dash, map[bool]string{true: "circle", false: "none"}[i == 0])
		} else {
			fmt.Fprintf(&series, `<c:spPr>%s<a:ln w="6350"><a:solidFill><a:srgbClr val="{paper}"/></a:solidFill></a:ln></c:spPr>`+
				`<c:invertIfNegative val="0"/>`, fillXML(theme, s.Color))
			// A number on a patterned fill needs its own background.
			fmt.Fprintf(&series, `<c:dLbls><c:numFmt formatCode="0;;;" sourceLinked="0"/><c:spPr><a:solidFill><a:srgbClr val="{paper}">`+
				`<a:alpha val="75000"/></a:srgbClr></a:solidFill></c:spPr>%s<c:showLegendKey val="0"/><c:showVal val="1"/>`+
				`<c:showCatName val="0"/><c:showSerName val="0"/><c:showPercent val="0"/><c:showBubbleSize val="0"/></c:dLbls>`,
				chartTextXML(900, "{ink}"))
		}
		fmt.Fprintf(&series, `<c:cat><c:strRef><c:f>%s!$A$2:$A$%d</c:f><c:strCache><c:ptCount val="%d"/>`,
			chartSheet, len(c.Rows)+1, len(c.Rows))
		for j, r := range c.Rows {
			fmt.Fprintf(&series, `<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, j, escapeXML(r.Name))
		}
		fmt.Fprintf(&series, `</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>%s!$%s$2:$%s$%d</c:f><c:numCache>`+
			`<c:formatCode>General</c:formatCode><c:ptCount val="%d"/>`, chartSheet, column, column, len(c.Rows)+1, len(c.Rows))
		for j, r := range c.Rows {
			if v := r.Values[i]; v != nil {
				fmt.Fprintf(&series, `<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, j, strconv.FormatFloat(*v, 'f', -1, 64))
			}
		}
		series.WriteString(`</c:numCache></c:numRef></c:val></c:ser>`)
	}
	plot := `<c:radarChart><c:radarStyle val="marker"/><c:varyColors val="0"/>` + series.String() +
		`<c:axId val="1001"/><c:axId val="1002"/></c:radarChart>`
	category, value, order := "b", "l", "minMax"
	if !radar {
		direction := "col"
		if !columns {
			direction, category, value, order = "bar", "l", "b", "maxMin"
		}
		plot = `<c:barChart><c:barDir val="` + direction + `"/><c:grouping val="stacked"/><c:varyColors val="0"/>` + series.String() +
			`<c:gapWidth val="45"/><c:overlap val="100"/><c:axId val="1001"/><c:axId val="1002"/></c:barChart>`
	}
	limit := ""
	if c.ScaleMax > 0 {
		limit = fmt.Sprintf(`<c:max val="%g"/><c:min val="0"/>`, c.ScaleMax)
	}
	grid := `<c:majorGridlines><c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="{rule}"/></a:solidFill></a:ln></c:spPr></c:majorGridlines>`
	crosses := "autoZero"
	if order == "maxMin" {
		crosses = "max" // the numbers stay below the bars
	}
	return `<c:chartSpace xmlns:c="` + nsChart + `" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"` +
		` xmlns:r="` + nsRelations + `"><c:roundedCorners val="0"/>` +
		`<c:chart><c:autoTitleDeleted val="1"/><c:plotArea><c:layout/>` + plot +
		`<c:catAx><c:axId val="1001"/><c:scaling><c:orientation val="` + order + `"/></c:scaling><c:delete val="0"/>` +
		`<c:axPos val="` + category + `"/>` +
		map[bool]string{true: grid}[radar] + `<c:numFmt formatCode="General" sourceLinked="0"/><c:majorTickMark val="none"/>` +
		`<c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>` +
		chartTextXML(1100, "{ink}") + `<c:crossAx val="1002"/><c:crosses val="autoZero"/><c:auto val="1"/><c:lblAlgn val="ctr"/>` +
		`<c:lblOffset val="100"/><c:noMultiLvlLbl val="0"/></c:catAx>` +
		`<c:valAx><c:axId val="1002"/><c:scaling><c:orientation val="minMax"/>` + limit + `</c:scaling><c:delete val="0"/>` +
		`<c:axPos val="` + value + `"/>` + grid +
		`<c:numFmt formatCode="0" sourceLinked="0"/><c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>` +
		`<c:spPr><a:ln><a:noFill/></a:ln></c:spPr>` +
		chartTextXML(1000, "{soft}") + `<c:crossAx val="1001"/><c:crosses val="` + crosses + `"/>` +
		map[bool]string{true: `<c:majorUnit val="1"/>`}[radar] + `</c:valAx></c:plotArea>` +
		`<c:legend><c:legendPos val="b"/><c:overlay val="0"/>` + chartTextXML(1100, "{ink}") + `</c:legend><c:plotVisOnly val="1"/>` +
		`<c:dispBlanksAs val="gap"/></c:chart>` +
		`<c:externalData r:id="rId1"><c:autoUpdate val="0"/></c:externalData></c:chartSpace>`
}
