package assessment

import (
	"testing"

	"github.com/scf-service/service/api"
)

func TestDraftCachesKeepTheMostRecentlyUsed(t *testing.T) {
	m := draftCaches{byAssessment: map[string]*draftCache{}}
	first := m.getOrCreate("a")
	m.getOrCreate("b")
	if m.getOrCreate("a") != first {
		t.Error("the first of two was evicted")
	}
	m.getOrCreate("c") // evicts b
	if m.getOrCreate("a") != first || len(m.byAssessment) != maxDraftCaches {
		t.Errorf("%d caches after a third assessment", len(m.byAssessment))
	}
	m.remove("a")
	if m.getOrCreate("a") == first {
		t.Error("a removed cache is still there")
	}
}

func TestUnusedDraftCachesAreTrimmed(t *testing.T) {
	s := &Service{draftCaches: draftCaches{byAssessment: map[string]*draftCache{}}}
	s.draftCaches.getOrCreate("a")
	for range maxIdleTrims {
		if s.TrimCaches() {
			t.Fatal("trimmed before its time")
		}
	}
	s.draftCaches.getOrCreate("a") // used again
	if s.TrimCaches() {
		t.Error("trimmed just after use")
	}
	for range maxIdleTrims {
		s.TrimCaches()
	}
	if len(s.draftCaches.byAssessment) != 0 || s.TrimCaches() {
		t.Errorf("%d caches left", len(s.draftCaches.byAssessment))
	}
}

func TestVersionCacheEvictsTheOldestOfAGate(t *testing.T) {
	var k versionCache
	for _, id := range []string{"1", "2", "3"} {
		k.put(cachedVersion{gate: api.GateSoA, id: id, lines: id, size: 1})
	}
	k.put(cachedVersion{gate: api.GatePOAM, id: "p", lines: "p", size: 1})
	if k.cachedItems(api.GateSoA, "1") != nil || k.cachedItems(api.GateSoA, "2") != "2" ||
		k.cachedItems(api.GateSoA, "") != "3" {
		t.Error("the oldest version of the gate should be gone, and only that")
	}
	k.put(cachedVersion{gate: api.GateGapAnalysis, id: "big", lines: "big", size: maxVersionCacheBytes})
	if len(k.entries) != 1 || k.size != maxVersionCacheBytes {
		t.Errorf("%d entries of %d bytes", len(k.entries), k.size)
	}
}
