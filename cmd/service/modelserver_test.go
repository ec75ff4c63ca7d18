package main

import (
	"strconv"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scf-service/service/internal/testutil/modeltest"
)

var modelServers sync.Map // by the script's folder

// startModelServer starts a fake server for the model small, with the APIs of ollama and OpenAI, and sets MODEL_URL.
// The model finds the words "with a second factor" wherever they occur, for every statement.
func startModelServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: model-server")
	}
	s := modeltest.Start(modeltest.ReadFor("", "states", "with a second factor"))
	ts.Defer(s.Close)
	modelServers.Store(ts.Getenv("WORK"), s)
	ts.Setenv("MODEL_URL", s.URL)
}

// waitForModelServer waits until a request to the server hangs.
func waitForModelServer(ts *testscript.TestScript, neg bool, args []string) {
	started, ok := modelServers.Load(ts.Getenv("WORK"))
	if neg || !ok || len(args) != 0 {
		ts.Fatalf("usage after model-server: model-wait")
	}
	for range 1200 {
		if _, hanging := started.(*modeltest.Server).Requests(); hanging > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // its client is another process
	}
	ts.Fatalf("no request hangs")
}

// setModelServer makes the server misbehave, or serve a model with a different digest or name.
func setModelServer(ts *testscript.TestScript, neg bool, args []string) {
	started, ok := modelServers.Load(ts.Getenv("WORK"))
	if neg || !ok || len(args) != 2 {
		ts.Fatalf("usage after model-server: model-set misbehavior|digest|served|quote|hang VALUE")
	}
	server := started.(*modeltest.Server)
	requests, _ := server.Requests()
	server.Set(func(s *modeltest.Server) {
		switch args[0] {
		case "hang": // after the given number of further requests
			n, err := strconv.Atoi(args[1])
			if s.HangAt = 0; n > 0 {
				s.HangAt = requests + n + 1
			}
			ts.Check(err)
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
