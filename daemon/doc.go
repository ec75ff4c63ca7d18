// Package daemon serves the contract over HTTP: it binds an engine method to
// each operation and runs every request through one chain of checks that are
// derived from the operation's declaration.
//
//	trace id → log, count and recover → an end to the body → plain headers, path and query → CORS →
//	path to operation → credential → rate limit → CSRF → tenant and membership →
//	permission → body limit and strict JSON → idempotency → decode and validate →
//	engine → encode
//
// It holds no rule of the domain. Who calls comes from a verified credential or
// from the listener (the local socket and the in-memory transport stand for the
// person whose machine it is), never from a header.
package daemon
