package catalog_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/internal/testutil/shareddata"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

// BenchmarkReads measures the engine's queries, including the store, on the largest catalog. Each
// reports the 95th percentile.
func BenchmarkReads(b *testing.B) {
	const name = "scf-2026.1.1-like.xlsx"
	data, err := os.ReadFile(shareddata.PathOrSkip(b, "scf", name))
	if err != nil {
		b.Fatal(err)
	}
	db, err := store.Open(
		b.Context(),
		store.Options{
			Dir:    b.TempDir(),
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock: time.Now,
			NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		},
	)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := catalog.New(db, time.Now)
	if _, err := s.ImportWorkbook(
		b.Context(),
		by,
		&api.ImportWorkbookInput{File: api.UploadFile{Filename: name, Content: bytes.NewReader(data)}},
	); err != nil {
		b.Fatal(err)
	}
	snap, err := s.Snapshot(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	snap.Preload()
	frameworks, controls := snap.Frameworks(), snap.Source().Controls
	largest := slices.MaxFunc(frameworks, func(a, b api.Framework) int { return a.MappingCount - b.MappingCount }).Code
	version := api.VersionInput{SCFVersionID: "latest"}
	for _, q := range []struct {
		name string
		ask  func(ctx context.Context, i int) error
	}{
		{"latest version", func(ctx context.Context, _ int) error { _, err := s.GetLatest(ctx, by, nil); return err }},
		{"control", func(ctx context.Context, i int) error {
			_, err := s.GetControl(ctx, by, &api.ControlInput{ControlID: controls[i%len(controls)].Code})
			return err
		}},
		{"controls, a page", func(ctx context.Context, i int) error {
			_, err := s.ListControls(ctx, by, &api.ControlsInput{})
			return err
		}},
		{"controls of a framework", func(ctx context.Context, i int) error {
			_, err := s.ListControls(ctx, by, &api.ControlsInput{Framework: frameworks[i%len(frameworks)].Code})
			return err
		}},
		{"search by a control's title", func(ctx context.Context, i int) error {
			_, err := s.ListControls(ctx, by, &api.ControlsInput{Q: controls[i%len(controls)].Title})
			return err
		}},
		{"search by code", func(ctx context.Context, i int) error {
			f := snap.Source().Frameworks[i%len(frameworks)]
			_, err := s.ListControls(ctx, by, &api.ControlsInput{Q: f.Requirements[i%len(f.Requirements)].Code})
			return err
		}},
		{"mappings of a control", func(ctx context.Context, i int) error {
			_, err := s.ListControlMappings(
				ctx,
				by,
				&api.ControlMappingsInput{ControlInput: api.ControlInput{ControlID: controls[i%len(controls)].Code}},
			)
			return err
		}},
		{"frameworks", func(ctx context.Context, _ int) error {
			_, err := s.ListFrameworks(ctx, by, &api.FrameworksInput{})
			return err
		}},
		{"requirements of the largest", func(ctx context.Context, _ int) error {
			_, err := s.ListRequirements(ctx, by, &api.RequirementsInput{FrameworkInput: api.FrameworkInput{FrameworkID: largest}})
			return err
		}},
		{"coverage", func(ctx context.Context, i int) error {
			_, err := s.GetCoverage(ctx, by, &api.CoverageInput{FrameworkID: frameworks[i%len(frameworks)].Code})
			return err
		}},
		{"crosswalk of two", func(ctx context.Context, _ int) error {
			_, err := s.GetCrosswalk(ctx, by, &api.CrosswalkInput{Framework: "nist-csf-2.0", Target: "iso-27002-2022"})
			return err
		}},
		{"evidence requests", func(ctx context.Context, _ int) error {
			_, err := s.ListVersionEvidence(ctx, by, &api.VersionListInput{VersionInput: version})
			return err
		}},
		{"threats", func(ctx context.Context, _ int) error {
			_, err := s.ListVersionThreats(ctx, by, &api.VersionListInput{VersionInput: version})
			return err
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			var took []time.Duration
			i := 0
			for b.Loop() {
				began := time.Now()
				if err := q.ask(b.Context(), i); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
				i++
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
		})
	}
}
