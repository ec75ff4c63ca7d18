package opc

import "testing"

func TestNames(t *testing.T) {
	if got := RelationshipsPart("ppt/slides/slide1.xml"); got != "ppt/slides/_rels/slide1.xml.rels" {
		t.Error(got)
	}
	for target, want := range map[string]string{
		"../media/logo.png":    "ppt/media/logo.png",
		"/docProps/./core.xml": "docProps/core.xml",
		"../../../../x.xml":    "x.xml", // never leads out of the archive
	} {
		if got := ResolveTarget("ppt/slides/slide1.xml", target); got != want {
			t.Errorf("%s leads to %s, not %s", target, got, want)
		}
	}
}
