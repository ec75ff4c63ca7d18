package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/internal/regularfile"
)

// trainOrLoadCached trains a model on a catalog. The starter catalog is the same in every data folder, so its
// model is also cached outside of them; models of other catalogs are stored only in their data folder.
func (s *Service) trainOrLoadCached(
	ctx context.Context, snap *scf.Snapshot, progress func(done, total int),
) (trained *embed.Model, encoded []byte, _ error) {
	corpus := trainingCorpus(snap.Source())
	file := ""
	if snap.Version().IsStarter && s.modelCacheDir != "" {
		text, err := json.Marshal(corpus)
		if err != nil {
			return nil, nil, err
		}
		sum := sha256.Sum256(append([]byte(s.build+"\x00"), text...))
		file = filepath.Join(s.modelCacheDir, hex.EncodeToString(sum[:])+modelExt)
	}
	if data := readCachedModel(file); data != nil {
		if model, err := embed.UnmarshalModel(data); err == nil {
			return model, data, nil
		}
	}
	model, err := embed.Train(ctx, corpus, embed.Options{Progress: progress})
	if err != nil {
		return nil, nil, err
	}
	data, err := model.MarshalBinary()
	if err == nil && file != "" {
		writeCachedModel(file, data)
	}
	return model, data, err
}

const (
	modelExt = ".model"
	// maxCachedModels is the maximum number of cached models; those of the most recently used builds are kept.
	maxCachedModels = 3
)

func readCachedModel(file string) []byte {
	if file == "" {
		return nil
	}
	data, err := regularfile.Read(file, maxModelSize)
	if err != nil {
		return nil
	}
	return data
}

// writeCachedModel writes a model to the cache atomically. Errors are ignored, because the next
// data folder can train the model again.
func writeCachedModel(file string, data []byte) {
	dir := filepath.Dir(file)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if errors.Join(err, f.Close()) != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name())
		return
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type aged struct {
		name string
		age  int64
	}
	var models []aged
	for _, e := range all {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), modelExt) {
			models = append(models, aged{e.Name(), -info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(models, func(a, b aged) int {
		if a.age != b.age {
			return int(max(-1, min(1, a.age-b.age)))
		}
		return strings.Compare(a.name, b.name)
	})
	for _, old := range models[min(maxCachedModels, len(models)):] {
		_ = os.Remove(filepath.Join(dir, old.name))
	}
}
