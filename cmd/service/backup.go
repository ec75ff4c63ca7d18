package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/engine/backupschedule"
	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/store"
)

// backupPath is the path of the backup endpoint. It is served only on the data folder's socket, which only the
// folder's user can access, because a backup contains the data of every organization.
const backupPath = "/process/backup"

// backups implements the backup commands.
var backups = &cli.Backups{Write: writeBackup, Verify: verifyBackup, Restore: restoreBackup, List: listBackups}

// backupRequest is the request with which a command asks the process that is using the data folder to write a backup.
type backupRequest struct {
	Path         string   `json:"path"`
	Recipients   []string `json:"recipients"`
	WithoutBlobs bool     `json:"without_blobs"`
	IncludeKeys  bool     `json:"include_keys"`
	AllowDamaged bool     `json:"allow_damaged"`
}

// backupEvent is a line of the response to a backupRequest: progress and, in the last line, the backup or
// an error.
type backupEvent struct {
	Done   int64           `json:"done"`
	Total  int64           `json:"total"`
	Backup *cli.BackupFile `json:"backup"`
	Error  string          `json:"error"`
}

// writeBackup writes a backup of a data folder. The backup is written by the process that has the folder
// open, or by this process if there is none.
func writeBackup(ctx context.Context, target cli.Target, o cli.BackupOptions) (b *cli.BackupFile, err error) {
	local, err := newLocalTransport(target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	conn, own, err := local.dialOrOpen(ctx)
	if err != nil {
		return nil, err
	}
	in := backupRequest{
		Path: o.Path, Recipients: o.Recipients, WithoutBlobs: o.WithoutBlobs, IncludeKeys: o.IncludeKeys, AllowDamaged: o.AllowDamaged,
	}
	if own != nil {
		return own.writeBackup(ctx, in, o.Progress)
	}
	b, err = requestBackup(ctx, conn, in, o.Progress)
	if err != nil {
		return nil, err
	}
	// A daemon may have a different view of the file system, for example as a systemd unit with PrivateTmp.
	if info, err := os.Stat(o.Path); err != nil || info.Size() != b.Size {
		return nil, fmt.Errorf("the process that is using the data folder wrote %s, but this process can't find the file: the two processes see "+
			"different folders, for example because of systemd's PrivateTmp or a container; specify a folder that both processes can see, such as the \"backups\" subfolder of the data folder", o.Path)
	}
	return b, nil
}

// requestBackup asks another process, over its socket, to write a backup, and reports the progress.
func requestBackup(ctx context.Context, conn net.Conn, in backupRequest, progress func(done, total int64)) (*cli.BackupFile, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://service.local"+backupPath, bytes.NewReader(body))
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	resp, err := client.OneRequestTransport(conn).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the process that is using the data folder can't write backups (%s), because it is a different version of this program "+
			"or is shutting down; restart the daemon or try again", resp.Status)
	}
	lines := json.NewDecoder(resp.Body)
	for {
		var e backupEvent
		if err := lines.Decode(&e); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, errors.New("the process that was using the data folder ended before the backup was complete; no backup was written; try again")
		}
		switch {
		case e.Error != "":
			return nil, errors.New(e.Error)
		case e.Backup != nil:
			return e.Backup, nil
		case progress != nil:
			progress(e.Done, e.Total)
		}
	}
}

// progressInterval is the time between two progress reports over the socket.
const progressInterval = 200 * time.Millisecond

// handleBackup writes a backup on behalf of another process and reports progress to it line by line. If that process
// ends, the backup is canceled.
func (o *folderOwner) handleBackup(w http.ResponseWriter, r *http.Request) {
	var in backupRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in); err != nil || !filepath.IsAbs(in.Path) {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // the server only notices a lost connection after the body
	to := bufio.NewWriter(w)
	var mu sync.Mutex
	send := func(e backupEvent) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(to).Encode(e)
		_ = to.Flush()
		_ = http.NewResponseController(w).Flush()
	}
	var last time.Time
	b, err := o.writeBackup(r.Context(), in, func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= progressInterval {
			last = now
			send(backupEvent{Done: done, Total: total})
		}
	})
	if err != nil {
		o.log.Warn("a backup failed", "path", in.Path, "error", err)
		send(backupEvent{Error: err.Error()})
		return
	}
	o.log.Info("backup written", "path", in.Path, "bytes", b.Size)
	send(backupEvent{Backup: b})
}

// writeBackup writes a backup, unless the folder is being closed.
func (o *folderOwner) writeBackup(ctx context.Context, in backupRequest, progress func(done, total int64)) (*cli.BackupFile, error) {
	o.requests.RLock()
	defer o.requests.RUnlock()
	if o.closed {
		return nil, errors.New("the program is shutting down")
	}
	recipients, err := parseRecipients(in.Recipients)
	if err != nil {
		return nil, err
	}
	files, err := additionalBackupFiles(o.db.Dir(), in.IncludeKeys)
	if err != nil {
		return nil, err
	}
	m, err := o.engine.Backups.Write(ctx, in.Path, store.BackupOptions{
		Recipients: recipients, WithoutBlobs: in.WithoutBlobs, AllowDamaged: in.AllowDamaged, Files: files, Progress: progress,
	})
	if err != nil {
		return nil, explainBackupError(in.Path, err)
	}
	info, err := os.Stat(in.Path)
	if err != nil {
		return nil, err
	}
	return &cli.BackupFile{
		Path: in.Path, Size: info.Size(), Encrypted: len(recipients) > 0, Created: &m.Created, Contents: backupContents(m),
	}, nil
}

// explainBackupError extends an error about missing permissions with the process and the user that need access to the
// folder.
func explainBackupError(path string, err error) error {
	if errors.Is(err, store.ErrReadOnly) {
		return fmt.Errorf("%w; process %d (user ID %d) needs permission to write the file", err, os.Getpid(), os.Getuid())
	}
	return err
}

// additionalBackupFiles returns the files of the data folder that a backup contains in addition to records and blobs.
// Wherever the keys are stored, they are included as the key file that a restored folder reads.
func additionalBackupFiles(dir string, includeKeys bool) (map[string][]byte, error) {
	files := map[string][]byte{}
	b, err := regularfile.Read(filepath.Join(dir, modelFile), maxConfigFile)
	switch {
	case err == nil:
		if err := validateBackedUpFile(modelFile, b); err != nil {
			return nil, fmt.Errorf("%s is damaged; select the model again with `service model use`: %w", filepath.Join(dir, modelFile), err)
		}
		files[modelFile] = b
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if !includeKeys {
		return files, nil
	}
	keys := &secretKeys{dir: dir, env: os.Getenv, keyring: contexts.SystemKeyring(os.Getenv)}
	all, err := keys.LoadOrCreate()
	if err != nil {
		return nil, fmt.Errorf("including the keys: %w", err)
	}
	files[secretKeyFile] = []byte(secretbox.FormatKeys(all))
	return files, nil
}

// validateBackedUpFile validates an additional file of a backup in the same way as when the data folder is opened.
func validateBackedUpFile(name string, content []byte) error {
	if name == secretKeyFile {
		_, err := secretbox.ParseKeys(string(content), name)
		return err
	}
	var c modelChoice
	return json.Unmarshal(content, &c)
}

// parseRecipients parses age public keys.
func parseRecipients(keys []string) ([]age.Recipient, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return age.ParseRecipients(strings.NewReader(strings.Join(keys, "\n")))
}

// readOptions returns the store's options for reading a backup, with the identities in the identity file.
func readOptions(o cli.ReadBackupOptions) (store.ReadOptions, error) {
	out := store.ReadOptions{Progress: o.Progress, CheckFile: validateBackedUpFile}
	if o.IdentityFile == "" {
		return out, nil
	}
	text, err := regularfile.Read(o.IdentityFile, maxConfigFile)
	if err != nil {
		return out, fmt.Errorf("the identity file can't be read: %w", err)
	}
	if out.Identities, err = age.ParseIdentities(bytes.NewReader(text)); err != nil { // these errors don't contain keys
		return out, fmt.Errorf("%s is not an age identity file; the file must contain a line that begins with AGE-SECRET-KEY-1, as written by `age-keygen -o`", o.IdentityFile)
	}
	return out, nil
}

// verifyBackup restores a backup into a temporary folder and compares the two.
func verifyBackup(ctx context.Context, o cli.ReadBackupOptions) (*cli.BackupVerification, error) {
	r, err := readOptions(o)
	if err != nil {
		return nil, err
	}
	out := &cli.BackupVerification{Path: o.Path, Organizations: []string{}}
	v, err := backupschedule.Verify(ctx, o.Path, storeOptions(cmp.Or(o.TempDir, os.TempDir()), newCommandLogger(false)), r)
	out.Encrypted = v.Encrypted
	out.Organizations = append(out.Organizations, v.Organizations...)
	if v.Format != 0 {
		out.Contents = backupContents(v.Manifest)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, store.ErrCorrupt):
		out.Problem = strings.TrimPrefix(err.Error(), "verifying "+o.Path+": ")
	case err != nil:
		return nil, explainReadError(err)
	default:
		out.OK = true
	}
	return out, nil
}

// explainReadError adds advice to errors that users can fix: an encrypted backup and a full disk.
func explainReadError(err error) error {
	switch {
	case errors.Is(err, store.ErrEncrypted):
		return cli.ErrBackupEncrypted
	case errors.Is(err, store.ErrDiskFull):
		return fmt.Errorf("%w (the restored copy needs as much space as the data)", err)
	}
	return err
}

// restoreBackup restores a backup to a data folder that no process is using.
func restoreBackup(ctx context.Context, target cli.Target, o cli.ReadBackupOptions) (*cli.RestoredBackup, error) {
	r, err := readOptions(o)
	if err != nil {
		return nil, err
	}
	dir, err := resolveDataDir(target.Data)
	if err != nil {
		return nil, err
	}
	if !target.AllowSharedData {
		if err := checkNotShared(dir); err != nil {
			return nil, err
		}
	}
	if target.Store != "" {
		return nil, errors.New("a backup can be restored only to a data folder, but SERVICE_STORE or the configuration file specifies a database; " +
			"remove this setting, restore to a new folder with --data, and copy the records from that folder to an empty database")
	}
	before := replacedFiles(dir)
	m, err := store.Restore(ctx, o.Path, storeOptions(dir, newCommandLogger(false)), r)
	if errors.Is(err, store.ErrLocked) {
		return nil, fmt.Errorf("the data folder %s is in use; stop the daemon or restore to another folder with --data: %w", dir, err)
	}
	if err != nil {
		return nil, explainReadError(err)
	}
	out := &cli.RestoredBackup{Path: o.Path, Data: dir, Contents: *backupContents(m), Replaced: []string{}}
	for _, path := range replacedFiles(dir) {
		if !slices.Contains(before, path) {
			out.Replaced = append(out.Replaced, path)
		}
	}
	_, err = os.Lstat(filepath.Join(dir, secretKeyFile))
	out.HasKeys = err == nil || os.Getenv(secretKeyVariable) != ""
	return out, nil
}

// replacedFiles lists the files that were replaced by earlier restores and kept in a data folder.
func replacedFiles(dir string) (out []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, "backups"))
	for _, e := range entries {
		if strings.Contains(e.Name(), "before-restore") && filepath.Ext(e.Name()) != ".blobs" {
			out = append(out, filepath.Join(dir, "backups", e.Name()))
		}
	}
	return out
}

func backupContents(m store.Manifest) *cli.BackupContents {
	return &cli.BackupContents{
		Created: m.Created, Schema: m.Schema, Records: m.RecordCount(), Blobs: m.BlobCount,
		HasBlobs: m.Blobs, HasKeys: slices.Contains(m.Files, secretKeyFile), UnusedBlobs: m.UnusedBlobs, Damage: m.Damage.String(),
	}
}

// listBackups describes the backups in a folder, newest first. It reads only the beginning of each file.
func listBackups(ctx context.Context, dir string) (out []cli.BackupFile, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		m, err := store.ReadManifest(ctx, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b := cli.BackupFile{Path: path, Size: info.Size(), Encrypted: m.Encrypted}
		r, recordErr := backupschedule.ReadRecord(path)
		switch {
		case err != nil && r == nil && filepath.Ext(path) != ".bak":
			continue // it is not a backup
		case err != nil:
			b.Problem = err.Error()
		case !m.Encrypted:
			b.Contents, b.Created = backupContents(m), &m.Created
		}
		if r != nil && recordErr == nil {
			b.Created = &r.Created
			if d := r.Drill; d != nil {
				b.Drill = &cli.BackupDrill{At: d.At, Passed: d.Passed, Records: d.Records, Problem: d.Problem}
			}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b cli.BackupFile) int {
		return cmp.Or(createdOrZero(b).Compare(createdOrZero(a)), strings.Compare(a.Path, b.Path))
	})
	return out, nil
}

func createdOrZero(b cli.BackupFile) time.Time {
	if b.Created == nil {
		return time.Time{}
	}
	return *b.Created
}

// backupSchedule converts the daemon's backup settings to a schedule, or returns nil if there are none.
func backupSchedule(o *cli.BackupSchedule) (*backupschedule.Schedule, error) {
	if o == nil {
		return nil, nil
	}
	recipients, err := parseRecipients(o.Recipients)
	if err != nil {
		return nil, err
	}
	return &backupschedule.Schedule{Dir: o.Dir, Every: o.Every, Keep: o.Keep, Recipients: recipients}, nil
}
