// Package api is the contract: the types, operations, errors, permissions and
// states that every front end, transport and area of the engine speaks.
//
// Each endpoint is declared once, as an Op value. Routes, decoding, checks,
// rate limits, audit names, OpenAPI, the typed client call and the raw CLI
// command are all derived from it. The package knows no other room of the
// product and does no work: it reads no clock, opens no file, calls no network.
package api
