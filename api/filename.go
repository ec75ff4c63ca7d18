package api

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const maxPathLength = 1000

// CleanFilename returns the last element of a file name or path without hidden characters. If the name is very long,
// its middle is omitted. It returns "" if nothing usable is left.
func CleanFilename(name string) string {
	name = filepath.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "�"), "\\", "/"))
	name = RemoveHidden(name)
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	if r := []rune(name); len(r) > 240 {
		name = string(r[:200]) + "…" + string(r[len(r)-30:])
	}
	return strings.TrimSpace(name)
}

// CleanPath returns a relative path with slashes, without hidden characters and elements such as "..". If the path is
// very long, only its end is kept. The path is only compared and displayed. A client that compares paths with those
// of documents must clean them first.
func CleanPath(p string) string {
	p = RemoveHidden(strings.ReplaceAll(strings.ToValidUTF8(p, "\uFFFD"), "\\", "/"))
	parts := slices.DeleteFunc(strings.Split(p, "/"), func(s string) bool { return s == "" || s == "." || s == ".." })
	if p = path.Join(parts...); len(p) > maxPathLength {
		p = strings.ToValidUTF8(p[len(p)-maxPathLength:], "")
	}
	return p
}
