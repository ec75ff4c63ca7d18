package workbook

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

var files = []string{"scf-2022.3.xlsx", "scf-2026.1.1-like.xlsx"}

// BenchmarkStream is the baseline: it streams every cell with excelize and drops it.
func BenchmarkStream(b *testing.B) {
	for _, name := range files {
		b.Run(name, func(b *testing.B) {
			data := file(b, name)
			b.ReportAllocs()
			for b.Loop() {
				stream(b, data)
			}
		})
	}
}

func stream(b *testing.B, data []byte) {
	f, err := excelize.OpenReader(bytes.NewReader(data))
	must(b, err)
	for _, sheet := range f.GetSheetList() {
		rows, err := f.Rows(sheet)
		must(b, err)
		for rows.Next() {
			_, err := rows.Columns()
			must(b, err)
		}
		must(b, rows.Close())
	}
	must(b, f.Close())
}

// BenchmarkImport measures the time from the file's bytes to an indexed catalog.
func BenchmarkImport(b *testing.B) {
	for _, name := range files {
		b.Run(name, func(b *testing.B) {
			data := file(b, name)
			b.ReportAllocs()
			for b.Loop() {
				src, err := readBytes(data, Options{Filename: name})
				must(b, err)
				s, err := scf.NewSnapshot(src, scf.Version{ID: versionID})
				must(b, err)
				s.Preload()
			}
		})
	}
}

// BenchmarkAgainstStream alternates between importing and merely streaming the cells, so that both
// see the same machine load, and reports the ratio. held-MB is the peak memory in use while
// importing.
func BenchmarkAgainstStream(b *testing.B) {
	for _, name := range files {
		b.Run(name, func(b *testing.B) {
			data := file(b, name)
			var streamed, imported time.Duration
			held := 0.0
			for b.Loop() {
				runtime.GC()
				began := time.Now()
				stream(b, data)
				streamed += time.Since(began)
				runtime.GC()
				stop := watch()
				began = time.Now()
				src, err := readBytes(data, Options{Filename: name})
				must(b, err)
				s, err := scf.NewSnapshot(src, scf.Version{ID: versionID})
				must(b, err)
				s.Preload()
				imported += time.Since(began)
				held = max(held, stop())
			}
			b.ReportMetric(float64(streamed.Milliseconds())/float64(b.N), "stream-ms")
			b.ReportMetric(float64(imported.Milliseconds())/float64(b.N), "import-ms")
			b.ReportMetric(float64(imported)/float64(streamed), "ratio")
			b.ReportMetric(held, "held-MB")
		})
	}
}

// watch samples the memory in use until stop is called, which returns the peak in MB.
func watch() (stop func() float64) {
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		peak := 0.0
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			peak = max(peak, float64(sample[0].Value.Uint64()+sample[1].Value.Uint64())/1e6)
			select {
			case <-done:
				most <- peak
				return
			case <-tick.C:
			}
		}
	}()
	return func() float64 { close(done); return <-most }
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range files {
		b.Run(name, func(b *testing.B) {
			data, err := open(b, name).Encode()
			must(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, err := scf.DecodeSnapshot(data, scf.Version{ID: versionID})
				must(b, err)
			}
		})
	}
}

func BenchmarkWarm(b *testing.B) {
	data, err := open(b, files[1]).Encode()
	must(b, err)
	for b.Loop() {
		s, err := scf.DecodeSnapshot(data, scf.Version{ID: versionID})
		must(b, err)
		s.Preload()
	}
}

func BenchmarkQueries(b *testing.B) {
	s := open(b, files[1])
	s.Preload()
	requirement, err := s.Requirement("iso-27002-2022:5.10")
	must(b, err)
	var largest string
	most := 0
	for _, f := range s.Frameworks() {
		if f.MappingCount > most {
			largest, most = f.Code, f.MappingCount
		}
	}
	for _, q := range []struct {
		name string
		ask  func() error
	}{
		{"all controls", func() error { _, err := s.Controls(scf.ControlFilter{}); return err }},
		{"controls of a framework", func() error { _, err := s.Controls(scf.ControlFilter{Framework: "soc2-tsc"}); return err }},
		{"controls by words", func() error { _, err := s.Controls(scf.ControlFilter{Query: "access control policy"}); return err }},
		{"control by code", func() error { _, err := s.Control("IAC-06"); return err }},
		{"mappings of a control", func() error { _, err := s.ControlMappings("GOV-01"); return err }},
		{"requirement by id", func() error { _, err := s.Requirement(requirement.ID); return err }},
		{"requirement by code", func() error { _, err := s.Requirement("A.5.10"); return err }},
		{"requirements of the largest", func() error { _, err := s.Requirements(largest); return err }},
		{"coverage of the largest", func() error { _, err := s.Coverage(largest); return err }},
		{"crosswalk", func() error { _, err := s.Crosswalk("nist-csf-2.0", "iso-27002-2022"); return err }},
		{"crosswalk of the largest", func() error { _, err := s.Crosswalk(largest, ""); return err }},
		{"search", func() error { s.Search("multi-factor authentication for remote access", 20); return nil }},
		{"search of common words", func() error { s.Search("control security data system access policy", 20); return nil }},
		{"suggestion", func() error { s.SuggestFrameworks("iso-27001-2013", 5); return nil }},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(b, q.ask())
			}
		})
	}
}

// BenchmarkSearch searches for every control's title and for requirements by code, and reports the
// 95th percentile.
func BenchmarkSearch(b *testing.B) {
	s := open(b, files[1])
	s.Preload()
	var asks []string
	for _, c := range s.Source().Controls {
		asks = append(asks, c.Title)
	}
	for _, f := range s.Source().Frameworks {
		for i := 0; i < len(f.Requirements); i += 29 {
			asks = append(asks, f.Requirements[i].Code, f.Code+" "+f.Requirements[i].Code)
		}
	}
	var took []time.Duration
	i := 0
	for b.Loop() {
		began := time.Now()
		s.Search(asks[i%len(asks)], 20)
		took = append(took, time.Since(began))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}

func BenchmarkDiff(b *testing.B) {
	from, to := open(b, files[0]), open(b, files[1])
	for b.Loop() {
		scf.Diff(from, to)
	}
}

func file(t testing.TB, name string) []byte {
	data, err := os.ReadFile(shareddata.PathOrSkip(t, "scf", name))
	must(t, err)
	return data
}

func open(t testing.TB, name string) *scf.Snapshot {
	s, err := scf.NewSnapshot(official(t, name), scf.Version{ID: versionID})
	must(t, err)
	return s
}
