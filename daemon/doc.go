// Package daemon serves the contract over HTTP: it binds an engine method to
// each operation and runs every request through one chain of checks that are
// derived from the operation's declaration.
//
//	trace ID → log, count and recover → body deadline → served host → well-formed headers, path and query →
//	CORS → routing → credential → rate limit → origin → tenant and membership →
//	permission → body limit and strict JSON → idempotency → decode and validate →
//	engine → encode
//
// It contains no domain rules. The caller is determined by a verified credential or
// by the listener (requests on the local socket and the in-memory transport come from
// the local user of the machine), never by a header.
package daemon
