package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence/chunk"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/search"
	"github.com/scf-service/service/store"
)

// Library is a folder of documents that are processed like those of an assessment, but kept only in memory. It
// is used for benchmarks.
type Library struct {
	embedder  *embed.Model
	documents []api.Document
	chunks    map[string]api.Chunk
	passages  []search.Passage // in document order
}

// maxLibraryFile is the maximum file size in bytes, far above any benchmark document.
const maxLibraryFile = 32 << 20

// ReadLibrary reads every file in a folder, in name order. If a file can't be read, the error contains its name.
func ReadLibrary(
	ctx context.Context,
	folder fs.FS,
	embedder *embed.Model,
	categorize func(filename, title, text string) string,
) (*Library, error) {
	reader, err := parse.New(parse.Options{})
	if err != nil {
		return nil, err
	}
	l := &Library{embedder: embedder, chunks: map[string]api.Chunk{}}
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasPrefix(path.Base(name), ".") { // a symlink may lead out of the folder
			return err
		}
		if err := l.addFile(ctx, reader, folder, name, categorize); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	return l, errors.Join(err, reader.Close())
}

func (l *Library) addFile(
	ctx context.Context,
	reader *parse.Reader,
	folder fs.FS,
	name string,
	categorize func(filename, title, text string) string,
) error {
	if info, err := fs.Stat(folder, name); err != nil {
		return err
	} else if info.Size() > maxLibraryFile {
		return fmt.Errorf("the file has %d bytes; benchmark documents can have at most %d", info.Size(), maxLibraryFile)
	}
	data, err := fs.ReadFile(folder, name)
	if err != nil {
		return err
	}
	parsed, err := reader.Read(ctx, name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	doc := store.Document{}
	doc.ID, doc.Filename, doc.Title, doc.Status = name, name, name, api.DocumentIngested
	copyParsedMetadata(&doc, parsed, categorize)
	parts := chunk.Split(parsed, chunk.Options{})
	texts := make([]string, len(parts))
	for i, c := range parts {
		texts[i] = c.Text
	}
	vectors, err := l.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i, c := range parts {
		id := fmt.Sprintf("%s#%04d", name, i)
		l.chunks[id] = api.Chunk{
			ID: id, DocumentID: doc.ID, Index: c.Index, Text: c.Text, HeadingPath: c.HeadingPath,
			Locator: c.Locator, Kind: string(c.Kind), TokenEstimate: c.TokenEstimate, SHA256: c.SHA256,
		}
		l.passages = append(
			l.passages,
			search.Passage{
				ID:          id,
				DocumentID:  doc.ID,
				Category:    doc.Category,
				Text:        c.Text,
				HeadingPath: c.HeadingPath,
				Vector:      vectors[i],
			},
		)
	}
	doc.ChunkCount = len(parts)
	l.documents = append(l.documents, doc.Document)
	return nil
}

// Documents returns the library's documents, sorted by name.
func (l *Library) Documents() []api.Document { return l.documents }

// NewSession returns a session for searching the library. If excludedDocumentID isn't empty, the session leaves
// that document out.
func (l *Library) NewSession(excludedDocumentID string) (*Session, error) {
	x := &Session{
		embedder: l.embedder, background: l.embedder.Background(), index: search.New(search.Options{Weight: l.embedder.StemImportance}),
		chunks: map[string]api.Chunk{}, Documents: map[string]api.Document{}, passages: map[string][]search.Passage{},
	}
	var kept []search.Passage
	for _, p := range l.passages {
		if p.DocumentID != excludedDocumentID {
			kept = append(kept, p)
			x.chunks[p.ID] = l.chunks[p.ID]
			x.passages[p.DocumentID] = append(x.passages[p.DocumentID], p)
		}
	}
	for _, d := range l.documents {
		if d.ID != excludedDocumentID {
			x.Documents[d.ID] = d
		}
	}
	return x, x.index.Put(kept...)
}

// TrainEmbedder trains an embedder on a catalog. It is the same as the one that assessments on that catalog use.
func TrainEmbedder(ctx context.Context, src *scf.Source) (*embed.Model, error) {
	return embed.Train(ctx, trainingCorpus(src), embed.Options{})
}
