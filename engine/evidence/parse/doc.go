// Package parse reads the bytes of one document into a structured document: headings, paragraphs,
// list items, table rows and lines, each with its place, and the facts that a policy states about
// itself (effective date, version, owner, approval).
//
//	bytes ── sniff (content, not name) ──┬─ text:   plain text, logs, Markdown, HTML, reStructuredText, CSV, JSON, YAML
//	                                     ├─ office: Word, Excel, PowerPoint, OpenDocument, RTF
//	                                     ├─ mail:   mails, also from Outlook ── attachments ──┐
//	                                     ├─ archives ── their files ──────────────────────────┤ read as documents
//	                                     ├─ pdf:    PDFium in WebAssembly (unipdf by build tag)
//	                                     └─ pictures: OCR
//	                                              │ document.Builder
//	             Blocks in reading order  ◄───────┘   + Furniture, facts, language, warnings
//
// Documents are untrusted. Every reader limits bytes, text, pages, parts, nesting and time; nothing
// in a document is run, followed or fetched; a broken document is an error that names the place and
// never a panic. The package opens no files of its own, writes nothing but PDFium's compile cache,
// and knows nothing of chunks, embeddings or storage.
package parse
