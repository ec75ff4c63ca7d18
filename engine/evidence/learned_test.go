package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/internal/testutil/longtest"
)

func starterSnapshot(t *testing.T) *scf.Snapshot {
	t.Helper()
	src, err := starter.Load()
	if err != nil {
		t.Fatal(err)
	}
	if !longtest.Enabled() { // training on a part is much faster
		src.Controls, src.Frameworks, src.Mappings = src.Controls[:20], nil, nil
	}
	snap, err := scf.NewSnapshot(src, scf.Version{ID: "0190a000-0000-7000-8000-000000000001", Status: "active"})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// A model trained on the starter catalog is reused in the next data folder, but only by the same build; a
// damaged cached model is trained again.
func TestLearnedIsKept(t *testing.T) {
	dir := t.TempDir()
	snap := starterSnapshot(t)
	trained := 0
	learn := func(build string) []byte {
		s := &Service{modelCacheDir: dir, build: build}
		_, data, err := s.trainOrLoadCached(t.Context(), snap, func(done, _ int) {
			if done > 0 {
				trained = 1
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := learn("a")
	if trained == 0 || len(files()) != 1 {
		t.Fatalf("trained %d, kept %v", trained, files())
	}
	trained = 0
	if again := learn("a"); trained != 0 || !bytes.Equal(again, first) {
		t.Error("it was learned twice, or other than before")
	}
	if err := os.WriteFile(files()[0], first[:len(first)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if again := learn("a"); trained == 0 || !bytes.Equal(again, first) {
		t.Error("what is broken was taken")
	}
	for _, build := range []string{"b", "c", "d"} {
		trained = 0
		if other := learn(build); trained == 0 || !bytes.Equal(other, first) {
			t.Errorf("%s took what another program learned, or learned other things", build)
		}
	}
	if n := len(files()); n != maxCachedModels {
		t.Errorf("%d are kept", n)
	}
	trained = 0
	s := &Service{}
	if _, _, err := s.trainOrLoadCached(t.Context(), snap, func(done, _ int) { trained = 1 }); err != nil || trained == 0 {
		t.Errorf("without a folder: %v", err)
	}
}
