package officelayout

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/opc"
)

// slide is a slide of a presentation.
type slide struct {
	part *part
	// relationID is the ID of the presentation's relationship to the slide, and number is the slide's position.
	relationID string
	number     int
	notes      *part
	// each repeats the slide and when omits it; at most one is set.
	each *eachItem
	when expression
}

// readSlides reads the order of the slides.
func (l *Layout) readSlides() error {
	relations, err := l.readRelations(l.main)
	if err != nil {
		return err
	}
	root, err := l.readTree(l.main)
	if err != nil {
		return err
	}
	find := func(name string) *part {
		for _, p := range l.parts {
			if strings.EqualFold(p.name, name) {
				return p
			}
		}
		return nil
	}
	var broken error
	root.walk(func(n *node) bool {
		if !n.hasName("p:sldId") {
			return true
		}
		id := relationshipID(n)
		at := slices.IndexFunc(relations, func(r relation) bool { return r.id == id })
		var found *part
		if at >= 0 {
			found = find(opc.ResolveTarget(l.main, relations[at].target))
		}
		if found == nil {
			broken = refusalError("the presentation refers to a slide (%s) that the file does not contain; save the presentation again", id)
			return false
		}
		s := &slide{part: found, relationID: id, number: len(l.slides) + 1}
		for _, r := range s.part.relations {
			if r.kind == relNotes {
				s.notes = find(opc.ResolveTarget(s.part.name, r.target))
			}
		}
		l.slides = append(l.slides, s)
		return true
	})
	return broken
}

// slideOf returns the slide to which a part belongs, either as the slide itself or as its notes. For other parts, it
// returns nil.
func (l *Layout) slideOf(p *part) *slide {
	for _, s := range l.slides {
		if s.part == p || s.notes == p {
			return s
		}
	}
	return nil
}

// enterSlide prepares the compilation of a slide or its notes. A {{#slide …}} tag anywhere in the text of the slide
// repeats or omits both. Notes are compiled after their slide, because readTypes sorts the parts.
func (l *compiler) enterSlide(s *slide, root *node) {
	switch {
	case l.part != s.notes:
		l.extractSlideTag(s, root)
	case s.each != nil:
		l.scopes = append(l.scopes, scopeType{typ: dereferenceType(s.each.list.typ()).Elem(), loop: true})
	}
}

// extractSlideTag finds {{#slide each LIST}} or {{#slide if VALUE}} and removes it from the slide.
func (l *compiler) extractSlideTag(s *slide, root *node) {
	var found []*node
	root.walk(func(n *node) bool {
		if n.tag != nil && n.tag.kind == tagSlide {
			found = append(found, n)
		}
		return true
	})
	if len(found) != 1 {
		return // the compiler reports a second one
	}
	n := found[0]
	l.slide = n
	l.tags++
	word, rest, _ := strings.Cut(n.tag.rest, " ")
	switch word {
	case "each":
		t := *n.tag
		t.rest = rest
		e, item := l.parseLoop(n, &t)
		if e == nil {
			return
		}
		for _, r := range s.part.relations {
			if kind := path.Base(r.kind); !slices.Contains([]string{"slideLayout", "notesSlide", "image", "hyperlink", "tags"}, kind) {
				l.addError(
					n, n.tag.source, "repeated slides can't contain a "+kind,
					"use {{image charts.…}}, or move it to a separate slide",
				)
				return
			}
		}
		s.each = e
		l.scopes = append(l.scopes, item)
	case "if":
		s.when = l.parseOrReport(n, n.tag.source, rest)
	default:
		l.addError(n, n.tag.source, "the tag is neither {{#slide each LIST}} nor {{#slide if VALUE}}", "")
	}
	if p := n.ancestor("a:p"); p != nil {
		if shape := n.ancestor("p:sp"); shape != nil && strings.TrimSpace(shape.allText()) == "" && len(tagsIn(shape)) == 1 {
			shape.parent.setChildren(slices.Delete(shape.parent.children, shape.index(), shape.index()+1))
			return
		}
		p.hadBlockTag = true
	}
}

func tagsIn(n *node) (out []*node) {
	n.walk(func(c *node) bool {
		if c.tag != nil {
			out = append(out, c)
		}
		return true
	})
	return out
}

// deckChange describes how the slides of a document differ from the slides of its layout.
type deckChange struct {
	// order lists the relationship of each slide of the document; a copy has a new one.
	order []string
	// removed holds the parts of omitted slides; added holds those of copies.
	removed map[string]bool
	added   []addedPart
}

type addedPart struct {
	name, kind, relationID string
	relations              []relation
}

// fillSlides fills in the slides. Repeated slides are filled in once for each item, and omitted slides not at all.
func (l *Layout) fillSlides(x *executor) (filled []*part, change *deckChange) {
	var out []*part
	d := &deckChange{removed: map[string]bool{}}
	changed := false
	highest := 0
	for _, p := range l.parts {
		_, number := splitPartName(p.name)
		n, _ := strconv.Atoi(number)
		highest = max(highest, n)
	}
	for _, s := range l.slides {
		items := []scopeValue{{}}
		if s.each != nil {
			items = s.each.items(x)
		} else if s.when != nil && !isTrue(s.when.eval(x)) {
			items = nil
		}
		if len(items) == 0 {
			changed = true
			d.removed[s.part.name] = true
			if s.notes != nil {
				d.removed[s.notes.name] = true
			}
		}
		for i, item := range items {
			if !x.countSteps(100) {
				return nil, nil
			}
			if s.each != nil {
				x.scopes = append(x.scopes, item)
			}
			one, id := s.part.copyUnfilled(), s.relationID
			var notes *part
			if s.notes != nil {
				notes = s.notes.copyUnfilled()
			}
			if i > 0 {
				changed = true
				highest++
				id = fmt.Sprintf("rIdReport%d", highest)
				one.name = path.Join(path.Dir(s.part.name), fmt.Sprintf("slide%d.xml", highest))
				added := addedPart{one.name, "slide", id, slices.Clone(one.relations)}
				if notes != nil {
					notes.name = path.Join(path.Dir(s.notes.name), fmt.Sprintf("notesSlide%d.xml", highest))
					setRelationTarget(added.relations, relNotes, "../notesSlides/"+path.Base(notes.name))
					ofNotes := addedPart{notes.name, "notesSlide", "", slices.Clone(notes.relations)}
					setRelationTarget(ofNotes.relations, relSlide, "../slides/"+path.Base(one.name))
					d.added = append(d.added, ofNotes)
				}
				d.added = append(d.added, added)
			}
			d.order = append(d.order, id)
			out = append(out, x.fill(one))
			if notes != nil {
				out = append(out, x.fill(notes))
			}
			if s.each != nil {
				x.scopes = x.scopes[:len(x.scopes)-1]
			}
		}
	}
	if !changed || x.err != nil {
		return out, nil
	}
	for _, s := range l.slides {
		for _, r := range s.part.relations {
			if r.kind == relSlide && !d.removed[s.part.name] && d.removed[opc.ResolveTarget(s.part.name, r.target)] {
				x.err = refusalError("slide %d links to a slide that this report omits; remove the link", s.number)
			}
		}
	}
	return out, d
}

func setRelationTarget(all []relation, kind, to string) {
	for i := range all {
		if all[i].kind == kind {
			all[i].target = to
		}
	}
}

// apply updates the presentation's list of slides and adds the relationships of copies.
func (d *deckChange) apply(l *Layout, put func(string, []byte)) error {
	root, err := l.readTree(l.main)
	if err != nil {
		return err
	}
	for name := range d.removed {
		put(name, nil)
		put(opc.RelationshipsPart(name), nil)
	}
	var more []relation
	highest := 256
	var first *node
	root.walk(func(n *node) bool {
		if n.hasName("p:sldId") {
			if id, err := strconv.Atoi(idOf(n)); err == nil {
				highest = max(highest, id)
			}
		}
		if n.hasName("p:sldIdLst") {
			first = n
		}
		return true
	})
	for _, a := range d.added {
		if a.kind == "slide" {
			more = append(more, relation{a.relationID, relSlide, "slides/" + path.Base(a.name), false})
		}
		b, err := withRelations(nil, a.relations)
		if err != nil {
			return err
		}
		put(opc.RelationshipsPart(a.name), b)
	}
	if first != nil {
		byRelation := map[string]*node{}
		for _, c := range first.children {
			if c.hasName("p:sldId") {
				byRelation[relationshipID(c)] = c
			}
		}
		var list []*node
		for _, id := range d.order {
			if n := byRelation[id]; n != nil {
				list = append(list, n)
				continue
			}
			highest++
			list = append(list, &node{raw: true, text: fmt.Sprintf(
				`<%ssldId id="%d" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="%s"/>`, first.prefix, highest, id,
			)})
		}
		first.children = list
	}
	// Sections and custom shows list slides by number; PowerPoint reports a file as damaged if they are wrong.
	root.walk(func(n *node) bool {
		n.children = slices.DeleteFunc(n.children, func(c *node) bool {
			return c.hasName("p:custShowLst") || c.hasName("p:ext") && strings.EqualFold(c.attr("uri"), "{521415D9-36F7-43E2-AB2F-B90AF26B5E84}")
		})
		return true
	})
	put(l.main, []byte(originalXML(root)))
	relations, err := l.readTree(opc.RelationshipsPart(l.main))
	if relations == nil || err != nil {
		return err
	}
	relations.walk(func(n *node) bool {
		n.children = slices.DeleteFunc(n.children, func(c *node) bool {
			return c.hasName("rel:Relationship") && d.removed[opc.ResolveTarget(l.main, c.attr("Target"))]
		})
		return true
	})
	b, err := withRelations([]byte(originalXML(relations)), more)
	if err != nil {
		return err
	}
	put(opc.RelationshipsPart(l.main), b)
	return nil
}

// idOf returns the ID of a slide in the presentation's list of slides.
func idOf(n *node) string {
	for _, a := range n.attrs {
		if a.Name.Local == "id" && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// relationshipID returns the ID of the relationship that a node refers to, or "".
func relationshipID(n *node) string {
	for _, a := range n.attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}
