// Package parse reads the bytes of one document into a structured document:
// headings, paragraphs, list items, table rows and lines, each with its place,
// and the facts that a policy says about itself (effective date, version, owner,
// approval).
//
//	bytes ── sniff (content, not name) ──┬─ text: md, txt/log, html, csv/tsv, json
//	                                     ├─ zip:  docx, xlsx
//	                                     └─ pdf:  PDFium in WebAssembly (unipdf by build tag)
//	                                              │
//	             Blocks in reading order  ◄───────┘   + Furniture, facts, language, warnings
//
// What it is fed is hostile. Every reader is bounded in bytes, text, pages, parts,
// nesting and time; nothing in a document is run, followed or fetched; a broken
// document is an error that names the place and never a panic. The package opens no
// files of its own, writes nothing (but PDFium's compile cache, where asked to), and
// knows nothing of chunks, embeddings or storage.
package parse
