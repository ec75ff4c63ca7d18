// Package api is the API contract: the types, operations, errors, permissions and states shared by
// every front end, transport and engine package.
//
// Each endpoint is declared once, as an Op value. Routes, decoding, validation, rate limits, audit
// names, OpenAPI, the typed client call and the raw CLI command are all derived from it. The
// package imports no other package of the product and has no side effects: it reads no clock, opens
// no file, and makes no network calls.
package api
