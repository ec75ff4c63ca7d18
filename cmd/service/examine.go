package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/backupschedule"
	"github.com/scf-service/service/engine/evidence/ocr"
	"github.com/scf-service/service/engine/evidence/parse/pdf"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/store"
)

// dataLocations returns the paths that belong to a data folder.
func dataLocations(dataFolder string) cli.Paths {
	dir, err := resolveDataDir(dataFolder)
	if err != nil {
		dir = dataFolder
	}
	return cli.Paths{Data: dir, Socket: socketPath(dir), State: stateDir(), Cache: cacheDir(), Unused: store.HoldsNoData(dir)}
}

// examineMachine checks this machine for `doctor`. It leaves no files behind.
func examineMachine(ctx context.Context, o cli.ExamineOptions) []cli.Diagnostic {
	locations := dataLocations(o.Data)
	var out []cli.Diagnostic
	if !o.Remote {
		out = append(out, examineDataFolder(locations), examineDisk(locations), examineDaemon(ctx, locations), examineModel(ctx, o.Data))
		if !locations.Unused {
			out = append(out, examineBackups(locations))
		}
	}
	return append(
		out,
		examinePDF(),
		examineOCR(ctx),
		examineFolder("state folder", locations.State, "the most recently used settings can't be saved"),
		examineFolder(
			"cache folder",
			locations.Cache,
			"every command that reads PDF files has to recompile the PDF reader",
		),
		examineFolder("temporary folder", os.TempDir(), "uploads and reports will fail"),
		examineEnvironmentValues(),
	)
}

func examineDataFolder(at cli.Paths) cli.Diagnostic {
	f := cli.Diagnostic{Component: "data folder", State: cli.DiagnosticOK, Detail: at.Data}
	info, err := os.Stat(at.Data)
	elsewhere := "choose another folder with --data or SERVICE_DATA"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.State, f.Detail = cli.DiagnosticNote, fmt.Sprintf("%s doesn't exist yet; the first command that needs the folder creates it", at.Data)
		if err := checkWritable(nearestExisting(at.Data)); err != nil {
			f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, fmt.Sprintf(
				"%s doesn't exist and can't be created: %v",
				at.Data,
				err,
			), elsewhere
		}
		return f
	case err != nil:
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, err.Error(), elsewhere
	case !info.IsDir():
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, at.Data+" is not a folder", elsewhere
	default:
		if err := checkWritable(at.Data); err != nil {
			f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, fmt.Sprintf(
				"%s is not writable: %v",
				at.Data,
				err,
			), "grant this user write access, or "+elsewhere
		} else if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			f.State, f.Detail, f.Remedy = cli.DiagnosticWarning, fmt.Sprintf(
				"%s has mode %04o: other users of this machine can read the folder",
				at.Data,
				info.Mode().Perm(),
			), "chmod 700 "+at.Data
		}
	}
	return f
}

// nearestExisting returns dir or, if it doesn't exist, its nearest existing parent folder.
func nearestExisting(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// checkWritable checks that a file can be created in dir.
func checkWritable(dir string) error {
	probe, err := os.CreateTemp(dir, ".service-writable-*")
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			return p.Err
		}
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// examineFolder reports whether a folder is writable, and what doesn't work if it isn't.
func examineFolder(part, dir, consequence string) cli.Diagnostic {
	if err := checkWritable(nearestExisting(dir)); err != nil {
		return cli.Diagnostic{
			Component: part,
			State:     cli.DiagnosticWarning,
			Detail:    fmt.Sprintf("%s is not writable: %v; %s", dir, err, consequence),
			Remedy:    "make the folder writable, or choose another folder (`service config path --all` lists all folders)",
		}
	}
	return cli.Diagnostic{Component: part, State: cli.DiagnosticOK, Detail: dir}
}

func examineDisk(at cli.Paths) cli.Diagnostic {
	free, known := store.DiskFree(nearestExisting(at.Data))
	f := cli.Diagnostic{Component: "free disk", State: cli.DiagnosticOK}
	switch {
	case !known:
		f.State, f.Detail = cli.DiagnosticNote, "free disk space can't be determined on this system"
	case free < engine.MinFreeDisk:
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, fmt.Sprintf(
			"only %d MB of free space is left on the data folder's disk",
			free/1_000_000,
		), "free some space: the next upload or import may fail"
	default:
		f.Detail = fmt.Sprintf("%.1f GB", float64(free)/1e9)
	}
	return f
}

// examineDaemon reports which process is using the data folder.
func examineDaemon(ctx context.Context, at cli.Paths) cli.Diagnostic {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	f := cli.Diagnostic{Component: "daemon", State: cli.DiagnosticOK}
	p, err := findFolderProcess(ctx, at.Data)
	switch _, statErr := os.Lstat(at.Socket); {
	case err != nil:
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, err.Error(), "stop that process and run the command again"
	case p != nil && p.Version != programVersion():
		f.State, f.Detail, f.Remedy = cli.DiagnosticWarning, fmt.Sprintf(
			"process %d has version %s, but this program has version %s",
			p.PID,
			p.Version,
			programVersion(),
		), "restart the daemon"
	case p != nil && p.Daemon:
		f.Detail = fmt.Sprintf("process %d, listening on %s, socket %s", p.PID, strings.Join(p.Listen, ", "), at.Socket)
	case p != nil:
		f.Detail = fmt.Sprintf("no daemon is running; the command with process ID %d is using the data folder, and other commands connect through %s", p.PID, at.Socket)
	case statErr == nil:
		f.State, f.Detail = cli.DiagnosticNote, fmt.Sprintf("the daemon is not running; the next command will remove the socket %s of a killed process", at.Socket)
	default:
		f.State, f.Detail = cli.DiagnosticNote, "the daemon is not running, and commands don't need it; `service daemon` starts it"
	}
	return f
}

// examineBackups checks the backup status recorded by the daemon and by `service backup`.
func examineBackups(at cli.Paths) cli.Diagnostic {
	status, err := backupschedule.ReadStatus(at.Data)
	if err != nil {
		return cli.Diagnostic{
			Component: "backup", State: cli.DiagnosticWarning, Detail: err.Error(), Remedy: "delete the file; the next backup will create a new file",
		}
	}
	s := status.Summarize(time.Now())
	return cli.Diagnostic{Component: "backup", State: cli.DiagnosticState(s.Level), Detail: s.Detail, Remedy: s.Remedy}
}

func examineModel(ctx context.Context, dataFolder string) cli.Diagnostic {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	f := cli.Diagnostic{Component: "model", State: cli.DiagnosticOK}
	s, err := analysisModelStatus(ctx, dataFolder)
	switch {
	case err != nil:
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, err.Error(), "select the model again with `service model use MODEL`"
	case s.Model == "builtin":
		f.Detail = "builtin: analyses and evidence use built-in rules, without a language model"
	case !s.Ready:
		f.State, f.Detail = cli.DiagnosticWarning, s.Model+" at "+s.Server+": "+s.Problem
		f.Remedy = "check that the model's server is running and has the model; until then, the built-in rules are used"
	default:
		f.Detail = s.Model + " at " + s.Server
		if s.Digest != "" {
			f.Detail += ", digest " + s.Digest[:min(len(s.Digest), 12)]
		}
		if s.Remote {
			f.Detail += "; passages are sent to this server, which is not on this machine"
		}
	}
	return f
}

func examinePDF() cli.Diagnostic {
	name, err := pdf.EngineName()
	if err != nil {
		return cli.Diagnostic{
			Component: "PDF reader",
			State:     cli.DiagnosticFailed,
			Detail:    name + ": " + err.Error(),
			Remedy:    "see \"Reading PDFs with unipdf\" in docs/operations.md",
		}
	}
	return cli.Diagnostic{Component: "PDF reader", State: cli.DiagnosticOK, Detail: name}
}

func examineOCR(ctx context.Context) cli.Diagnostic {
	f := cli.Diagnostic{Component: "pictures", State: cli.DiagnosticOK}
	languages := os.Getenv("SERVICE_OCR")
	if languages == "off" {
		f.State, f.Detail = cli.DiagnosticNote, "OCR is turned off by SERVICE_OCR, so images and scans are not read"
		return f
	}
	eye, err := ocr.FindTesseract(languages, os.Getenv)
	switch {
	case err != nil:
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, "SERVICE_OCR: "+err.Error(), "set SERVICE_OCR to languages such as eng+deu, or to off"
		return f
	case eye == nil:
		f.State, f.Detail = cli.DiagnosticNote, "tesseract is not installed, so images and scans are not read"
		f.Remedy = "install tesseract (package tesseract-ocr) if you have scans"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	missing, err := eye.MissingLanguages(ctx)
	switch {
	case err != nil:
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, err.Error(), "reinstall tesseract, or set SERVICE_OCR=off"
	case len(missing) > 0:
		f.State, f.Detail, f.Remedy = cli.DiagnosticFailed, "tesseract lacks language data for "+strings.Join(
			missing,
			", ",
		), "install the language data (package tesseract-ocr-LANGUAGE), or set other languages in SERVICE_OCR"
	default:
		f.Detail = "tesseract, reading " + eye.Languages()
	}
	return f
}

// examineEnvironmentValues checks the environment variables that the program reads only later, when finding a mistake
// would be more costly.
func examineEnvironmentValues() cli.Diagnostic {
	var wrong []string
	if text := os.Getenv(secretKeyVariable); text != "" {
		if _, err := secretbox.ParseKeys(text, secretKeyVariable); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if _, err := allowedWebhookNetworks(); err != nil {
		wrong = append(wrong, err.Error())
	}
	if _, err := loadReportFont(); err != nil {
		wrong = append(wrong, err.Error())
	}
	if text := os.Getenv("SERVICE_LOG"); text != "" {
		var level slog.Level
		if level.UnmarshalText([]byte(text)) != nil {
			wrong = append(wrong, fmt.Sprintf("SERVICE_LOG is %q; use debug, info, warn or error", text))
		}
	}
	if len(wrong) > 0 {
		return cli.Diagnostic{
			Component: "variables",
			State:     cli.DiagnosticFailed,
			Detail:    strings.Join(wrong, "; "),
			Remedy:    "correct or unset the variables; `service help environment` describes all variables",
		}
	}
	return cli.Diagnostic{Component: "variables", State: cli.DiagnosticOK, Detail: "all environment variables that are set are valid"}
}
