package main

import (
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scf-service/service/internal/testutil/modeltest"
)

var modelServers sync.Map // by script folder

// startModelServer starts a fake server of the model small, in the shapes of ollama and OpenAI, and sets MODEL_URL. The
// model finds the words "with a second factor" wherever they are, for every statement.
func startModelServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: model-server")
	}
	s := modeltest.Start(modeltest.ReadFor("", "states", "with a second factor"))
	ts.Defer(s.Close)
	modelServers.Store(ts.Getenv("WORK"), s)
	ts.Setenv("MODEL_URL", s.URL)
}

// setModelServer makes the server misbehave, or serve a model with another digest or under another name.
func setModelServer(ts *testscript.TestScript, neg bool, args []string) {
	started, ok := modelServers.Load(ts.Getenv("WORK"))
	if neg || !ok || len(args) != 2 {
		ts.Fatalf("usage after model-server: model-set misbehavior|digest|served|quote VALUE")
	}
	started.(*modeltest.Server).Set(func(s *modeltest.Server) {
		switch args[0] {
		case "misbehavior":
			s.Misbehavior = args[1]
		case "digest":
			s.Digest = args[1]
		case "served":
			s.Served = args[1]
		case "quote":
			s.Read = modeltest.ReadFor("", "states", args[1])
		}
	})
}
