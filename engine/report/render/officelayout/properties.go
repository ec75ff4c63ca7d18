package officelayout

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/internal/opc"
)

const (
	nsCustomProperties   = "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"
	relCustomProperties  = relationsTypes + "custom-properties"
	typeCustomProperties = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
	packageRelations     = "_rels/.rels"
)

// addProperties records in the document's properties which program wrote it and whether it is a draft, regardless of
// what the layout shows. The evidence reader recognizes reports by these properties. It returns the name of the part
// that it added, or "" if it changed an existing one.
func (l *Layout) addProperties(data *content.LayoutData, put func(string, []byte)) (added string, err error) {
	relations, err := l.readRelationsPart(packageRelations)
	if err != nil {
		return "", err
	}
	type property struct{ name, value string }
	ours := []property{{"Written by", data.Report.Tool}, {"Report status", data.Report.Status}}
	name, exists := l.customPropertiesPart(relations)
	root, err := l.readTree(name)
	if err != nil {
		return "", err
	}
	list := root
	if root != nil {
		list = root.find("custom:Properties")
	}
	if list == nil {
		list = &node{name: "custom:Properties", start: `<Properties xmlns="` + nsCustomProperties + `">`, end: `</Properties>`}
		root = list
	}
	highest := 1
	list.setChildren(slices.DeleteFunc(slices.Clone(list.children), func(n *node) bool {
		if !n.hasName("custom:property") {
			return n.isText()
		}
		if slices.ContainsFunc(ours, func(p property) bool { return n.attr("name") == p.name }) {
			return true
		}
		id, _ := strconv.Atoi(n.attr("pid"))
		highest = max(highest, id)
		return false
	}))
	var b strings.Builder
	for i, p := range ours {
		fmt.Fprintf(
			&b, `<property xmlns="`+nsCustomProperties+`" fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="%d" name="%s">`+
				`<lpwstr xmlns="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">%s</lpwstr></property>`,
			highest+1+i, escaped(p.name), escaped(p.value),
		)
	}
	file, err := beforeEnd([]byte(originalXML(root)), []byte(b.String()))
	if err != nil {
		return "", err
	}
	put(name, file)
	if exists {
		return "", nil
	}
	raw, err := l.read(packageRelations)
	if err != nil {
		return "", err
	}
	id := "rIdProperties"
	for n := 1; slices.ContainsFunc(relations, func(r relation) bool { return r.id == id }); n++ {
		id = fmt.Sprintf("rIdProperties%d", n)
	}
	if raw, err = withRelations(raw, []relation{{id: id, kind: relCustomProperties, target: name}}); err != nil {
		return "", err
	}
	put(packageRelations, raw)
	return name, nil
}

// customPropertiesPart returns the name of the part that contains the user-defined properties, and whether the
// layout has it.
func (l *Layout) customPropertiesPart(relations []relation) (name string, exists bool) {
	for _, r := range relations {
		target := opc.ResolveTarget("", r.target)
		if path.Base(r.kind) == "custom-properties" && l.byName[strings.ToLower(target)] != nil {
			return l.byName[strings.ToLower(target)].Name, true
		}
	}
	name = "docProps/custom.xml"
	for n := 2; l.byName[strings.ToLower(name)] != nil; n++ {
		name = fmt.Sprintf("docProps/custom%d.xml", n)
	}
	return name, false
}
