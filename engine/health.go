package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

type caller = api.Caller

// Health tells that the service answers.
func (e *Engine) Health(_ context.Context, by api.Caller, _ *api.None) (*api.Health, error) {
	return &api.Health{OK: true, Service: "service", TraceID: by.TraceID}, nil
}

// HealthDetail looks at each part of the service.
func (e *Engine) HealthDetail(ctx context.Context, by api.Caller, _ *api.None) (*api.HealthDetail, error) {
	out := &api.HealthDetail{Health: api.Health{OK: true, Service: "service", TraceID: by.TraceID}, Version: e.version,
		UptimeSeconds: int64(e.clock().Sub(e.started) / time.Second)}
	check := func(name string, look func() (string, error)) {
		began := e.clock()
		detail, err := look()
		c := api.HealthCheck{Name: name, OK: err == nil, Detail: detail, LatencyMS: float64(e.clock().Sub(began)) / float64(time.Millisecond)}
		if err != nil {
			c.Detail = err.Error()
			out.OK = false
		}
		out.Checks = append(out.Checks, c)
	}
	check("store", func() (string, error) {
		n := 0
		err := e.db.View(ctx, func(tx *store.Tx) (err error) { n, err = store.Organizations.Count(tx); return err })
		return fmt.Sprintf("%d organizations", n), err
	})
	check("catalog", func() (string, error) {
		v, err := e.Catalog.GetLatest(ctx, by, nil)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("version %s, %d controls", v.Label, v.Counts.Controls), nil
	})
	check("model", func() (string, error) { return "builtin", nil })
	return out, nil
}
