// Package judged holds the labeled companies that the rules are measured on: the documents of each, and a
// careful reader's verdicts. README.md explains how to read them.
//
// It is data only: it must not know how evidence is read or judged.
package judged

import "embed"

//go:embed fennick orrin tallybird passages.csv
var files embed.FS

// Today is the day that the labels were written for.
const Today = "2026-11-20"

// Folder holds a folder for each company and passages.csv.
func Folder() embed.FS { return files }
