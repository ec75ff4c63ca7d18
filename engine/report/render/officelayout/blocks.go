package officelayout

import (
	"fmt"
	"slices"
	"strings"
)

// Limits on loops and conditions. They far exceed what real documents need, but are necessary because the time for
// matching tags grows with the square of their number.
const (
	maxBlockTags    = 5000 // maximum number of tags in a part
	maxNestedBlocks = 50
)

// blockNode is a loop or condition together with its content.
type blockNode struct {
	open     *tag
	branches []branch
}

// branch holds the content between two tags of a block, and the tag that begins the content, which is the opening
// tag or an else tag.
type branch struct {
	tag   *tag
	nodes []*node
}

// openBlock is the opening tag of a block whose closing tag hasn't been read yet.
type openBlock struct {
	node  *node
	elses []*node
}

// buildBlocks matches the tags of loops and conditions and replaces everything between them with a block.
func (l *compiler) buildBlocks(root *node) {
	var tags []*node
	root.walk(func(n *node) bool {
		if n.tag != nil && n.tag.isBlock() {
			tags = append(tags, n)
		}
		return true
	})
	if len(tags) > maxBlockTags {
		first := tags[maxBlockTags]
		l.addError(first, first.tag.source, fmt.Sprintf("the layout has more than %d tags for loops and conditions", maxBlockTags), "")
		return
	}
	var open []openBlock
	for _, n := range tags {
		switch t := n.tag; t.kind {
		case tagOpen:
			if len(open) == maxNestedBlocks {
				l.addError(n, t.source, fmt.Sprintf("loops and conditions are nested more than %d levels deep", maxNestedBlocks), "")
				return
			}
			if t.word != "each" && t.word != "if" && t.word != "unless" {
				l.addError(n, t.source, "unknown block: "+t.word, "use {{#each LIST}}, {{#if VALUE}} or {{#unless VALUE}}")
			}
			open = append(open, openBlock{node: n})
		case tagElse:
			if len(open) == 0 {
				l.addError(n, t.source, "the tag is not inside an {{#if}} or {{#each}} block", "")
				continue
			}
			o := &open[len(open)-1]
			o.elses = append(o.elses, n)
		case tagClose:
			if len(open) == 0 {
				l.addError(n, t.source, "the tag doesn't close an open block", "remove the tag, or open its block first")
				continue
			}
			o := open[len(open)-1]
			open = open[:len(open)-1]
			if word := o.node.tag.word; t.word != word {
				l.addError(n, t.source, "it closes {{"+o.node.tag.source+"}}, "+l.locationOf(o.node), "write {{/"+word+"}}")
			}
			l.buildBlock(o, n)
		}
	}
	for _, o := range open {
		l.addError(o.node, o.node.tag.source, "the block is not closed", "add {{/"+o.node.tag.word+"}} at its end")
	}
}

// outermostBlock returns the outermost of the blocks that directly enclose n or, if there are none, n itself.
func outermostBlock(n *node) *node {
	for n.parent != nil && n.parent.block != nil {
		n = n.parent
	}
	return n
}

// commonParent returns the closest element that contains both a and b, together with its child that contains a and
// its child that contains b.
func commonParent(a, b *node) (parent, childA, childB *node) {
	above := map[*node]*node{} // maps ancestors of a to their child that contains a
	for n := outermostBlock(a); n.parent != nil; n = outermostBlock(n.parent) {
		above[n.parent] = n
	}
	for n := outermostBlock(b); n.parent != nil; n = outermostBlock(n.parent) {
		if c := above[n.parent]; c != nil {
			return n.parent, c, n
		}
	}
	return nil, nil, nil
}

// buildBlock replaces everything from an opening tag to its closing tag with a block. The block contains text within
// a paragraph, whole paragraphs, or whole table rows.
func (l *compiler) buildBlock(o openBlock, end *node) {
	parent, from, to := commonParent(o.node, end)
	if parent == nil {
		l.addError(o.node, o.node.tag.source, "the block is not closed", "")
		return
	}
	if parent.hasName("w:tr", "a:tr") {
		from = outermostBlock(parent)
		parent, to = from.parent, from
	}
	rows := false
	for _, limit := range []struct{ tag, child *node }{{o.node, from}, {end, to}} {
		at := innermostWithTag(limit.tag, limit.child)
		rows = at.hasName("w:tr", "a:tr")
		if message := describeMisplacedBlock(limit.tag, at); message != "" {
			l.addError(limit.tag, limit.tag.tag.source, message,
				"put both ends in the same paragraph, the same table, or paragraphs of the same text")
			return
		}
	}
	first, last := from.index(), to.index()
	siblings := parent.children
	b := &node{block: &blockNode{open: o.node.tag}, place: placeOf(o.node)}
	current := branch{tag: o.node.tag}
	at := first
	for _, e := range o.elses {
		child := e
		for child.parent != nil && child.parent != parent {
			child = child.parent
		}
		i := -1
		if child.parent == parent {
			i = child.index()
		}
		if i < at || i > last || child != e && (i == first || i == last || !containsOnlyBlockTags(child)) {
			l.addError(e, e.tag.source, "{{else}} must be on its own between the two ends of its block",
				"put {{else}} in a separate paragraph or row")
			return
		}
		current.nodes = append(current.nodes, siblings[at:i]...)
		b.block.branches = append(b.block.branches, current)
		current, at = branch{tag: e.tag}, i+1
	}
	current.nodes = append(current.nodes, siblings[at:last+1]...)
	b.block.branches = append(b.block.branches, current)
	for i := range b.block.branches {
		kept := b.block.branches[i].nodes[:0:0]
		for _, n := range b.block.branches[i].nodes {
			if n == o.node || n == end {
				continue
			}
			n.parent = b
			kept = append(kept, n)
		}
		b.block.branches[i].nodes = kept
		b.children = append(b.children, kept...)
	}
	b.parent = parent
	parent.children = slices.Replace(siblings, first, last+1, b)
	holders := []string{"w:p", "a:p"}
	if rows {
		holders = []string{"w:tr", "a:tr"}
	}
	for _, t := range append([]*node{o.node, end}, o.elses...) {
		if holder := t.ancestor(holders...); holder != nil {
			holder.hadBlockTag = true
		}
	}
}

// innermostWithTag returns the node in child that contains the tag if child is a block that has already been built.
// Otherwise, it returns child.
func innermostWithTag(tagNode, child *node) *node {
	for child != tagNode && child.block != nil {
		inner := tagNode
		for inner.parent != child {
			inner = inner.parent
		}
		child = inner
	}
	return child
}

// describeMisplacedBlock returns the reason why a block can't begin or end in n, the node that contains the tag, or
// "" if a block can.
func describeMisplacedBlock(tagNode, n *node) string {
	if n == tagNode {
		return ""
	}
	switch {
	case n.hasName("w:p", "a:p", "w:tr", "a:tr"):
		return ""
	case n.hasName("w:tbl", "p:graphicFrame"):
		return "one end of the block is inside a table and the other is outside"
	case n.hasName("p:sp"):
		return "the two ends of the block are in different text boxes"
	case n.hasName("w:hyperlink", "w:fldSimple"):
		return "one end of the block is inside a link or field and the other is outside"
	}
	return "one end of the block is inside a content control, tracked change or frame and the other is outside"
}

// containsOnlyBlockTags reports whether a paragraph or row contains nothing but block tags.
func containsOnlyBlockTags(n *node) bool {
	alone := n.hasName("w:p", "a:p", "w:tr", "a:tr")
	n.walk(func(c *node) bool {
		if c.isText() && strings.TrimSpace(c.text) != "" || c.tag != nil && !c.tag.isBlock() ||
			c.hasName("w:drawing", "w:pict", "w:object", "w:sectPr", "w:br", "a:br") {
			alone = false
		}
		return alone
	})
	return alone
}
