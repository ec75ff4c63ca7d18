package tui

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/regularfile"
)

// noEditorReason returns why no editor can be used, or "" if one is configured.
func noEditorReason(a *App) string {
	if a.Editor == "" {
		return "no editor is configured; set VISUAL or EDITOR before you start the program"
	}
	return ""
}

// maxEditedBytes limits what is read back from an editor.
const maxEditedBytes = 1 << 20

// editInExternalEditor opens a text in the user's editor. done receives the edited text.
func (a *App) editInExternalEditor(text string, done func(text string) tea.Cmd) tea.Cmd {
	f, err := os.CreateTemp("", "service-*.txt")
	if err != nil {
		return a.showErrorOrReconnect(err)
	}
	path := f.Name()
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		a.statusText, a.isError = err.Error(), true
		return nil
	}
	words := strings.Fields(a.Editor)
	cmd := exec.CommandContext(a.ctx, words[0], append(words[1:], path)...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		defer os.Remove(path)
		var got []byte
		if err == nil {
			if got, err = regularfile.Read(path, maxEditedBytes); errors.Is(err, regularfile.ErrTooLarge) {
				err = fmt.Errorf("the text is longer than %d bytes", maxEditedBytes)
			}
		}
		if err == nil && (!utf8.Valid(got) || bytes.IndexByte(got, 0) >= 0) {
			err = errors.New("the saved file is not text; nothing was changed")
		}
		return completedWork{apply: func() tea.Cmd {
			if err != nil {
				a.statusText, a.isError = fmt.Sprintf("the editor %s: %v", words[0], err), true
				return nil
			}
			return done(strings.TrimRight(string(got), "\n"))
		}}
	})
}

// editLongTextInEditor opens the item's main text field in the user's editor.
func (v *review) editLongTextInEditor() tea.Cmd {
	r := v.selectedRow()
	var at *attr
	for i := range v.kind.attrs {
		if v.kind.attrs[i].key == "e" {
			at = &v.kind.attrs[i]
		}
	}
	return v.confirmConsequences(func() tea.Cmd {
		return v.app.editInExternalEditor(r.currentValue(at.name), func(text string) tea.Cmd {
			if text == r.currentValue(at.name) {
				v.app.setStatus("nothing was changed")
				return nil
			}
			return v.changeRows([]*row{r}, map[string]string{at.name: text})
		})
	})
}

// maxCopiedBytes is the maximum size copied to the clipboard; terminals ignore more.
const maxCopiedBytes = 74_000

// copyToClipboard copies text to the clipboard of the user's terminal (OSC 52), which also works
// over remote connections.
func (a *App) copyToClipboard(text string) tea.Cmd {
	text = strings.ToValidUTF8(text[:min(len(text), maxCopiedBytes)], "")
	if a.terminal == nil {
		return nil
	}
	out := a.terminal
	return func() tea.Msg {
		_, err := fmt.Fprintf(out, "\x1b]52;c;%s\x07", base64.StdEncoding.EncodeToString([]byte(text)))
		return completedWork{apply: func() tea.Cmd {
			if err != nil {
				return a.showErrorOrReconnect(err)
			}
			a.setStatus("copied %d characters to the clipboard, if your terminal allows this", len([]rune(text)))
			return nil
		}}
	}
}

// exportVisibleRows writes the items of the visible rows to a CSV file.
func (v *review) exportVisibleRows() tea.Cmd {
	var items []any
	for _, i := range v.list.VisibleRows() {
		items = append(items, v.rows[i].item)
	}
	return v.app.exportCSV(v.assessment.Name+" "+string(v.kind.gate), items)
}

func (t *table) exportVisibleRows() tea.Cmd {
	var records []any
	for _, i := range t.list.VisibleRows() {
		records = append(records, t.entries[i].record)
	}
	return t.app.exportCSV(strings.TrimSpace(t.parentTitle+" "+t.label), records)
}

// exportCSV writes records to a new file.
func (a *App) exportCSV(name string, records []any) tea.Cmd {
	return a.runInBackground(func(context.Context) func() tea.Cmd {
		path, err := writeNewCSVFile(a.ExportFolder, exportBaseName(name), func(w io.Writer) error {
			return (&print.Output{W: w, Format: "csv"}).PrintRecord(api.List[any]{Data: records})
		})
		return func() tea.Cmd {
			if err != nil {
				a.statusText, a.isError = err.Error(), true
				return nil
			}
			a.setStatus("%s written to %s", prose.Count(len(records), "row", "rows"), path)
			return nil
		}
	})
}

// exportBaseName returns a file name made of letters and digits of any script, joined by hyphens.
func exportBaseName(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60])
	}
	if s == "" {
		s = "export"
	}
	return s
}

// maxSameNameFiles limits the number of files with the same base name.
const maxSameNameFiles = 1000

// writeNewCSVFile writes a file that doesn't exist yet, numbering its name if necessary, and returns its path.
func writeNewCSVFile(folder, baseName string, write func(io.Writer) error) (string, error) {
	for n := 1; n <= maxSameNameFiles; n++ {
		path := filepath.Join(folder, baseName+".csv")
		if n > 1 {
			path = filepath.Join(folder, fmt.Sprintf("%s-%d.csv", baseName, n))
		}
		f, err := regularfile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			os.Remove(path)
			return "", err
		}
		return path, nil
	}
	return "", fmt.Errorf("there are already %d files named %s-….csv; move or delete them", maxSameNameFiles, baseName)
}
