package retrieval

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteRankings writes the hybrid rankings to dir, which it creates if necessary: one TSV file per task with at most
// 100 passages per query. It returns the file names in task order.
func (r *Report) WriteRankings(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var out []string
	for _, t := range r.Tasks {
		name := filepath.Join(dir, t.Name+".tsv")
		if err := t.writeRanking(name); err != nil {
			return out, err
		}
		out = append(out, name)
	}
	return out, nil
}

func (t Task) writeRanking(fileName string) error {
	f, err := os.Create(fileName)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "query_id\tdoc_id\tscore")
	for _, q := range t.Ranking {
		for _, p := range q.Results {
			// Scores have full precision, because readers may sort by score alone.
			fmt.Fprintf(w, "%s\t%s\t%.17g\n", q.Query, p.ID, p.Score)
		}
	}
	return errors.Join(w.Flush(), f.Close())
}
