package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// BackupOptions selects what a backup contains.
type BackupOptions struct {
	// Path is the absolute path of the file to write.
	Path string
	// Recipients are the age public keys to encrypt the backup for. If there are none, it is not encrypted.
	Recipients []string
	// WithoutBlobs leaves out files; IncludeKeys adds the keys that decrypt secrets. With AllowDamaged, damaged data
	// doesn't prevent the backup of the rest.
	WithoutBlobs, IncludeKeys, AllowDamaged bool
	Progress                                func(done, total int64)
}

// BackupFile describes a backup.
type BackupFile struct {
	Path      string `json:"path"`
	Size      int64  `json:"size"`
	Encrypted bool   `json:"encrypted"`
	// Created is null if it isn't known, as for an encrypted file.
	Created *time.Time `json:"created"`
	// Contents is null if the file is encrypted or can't be read.
	Contents *BackupContents `json:"contents"`
	// Drill is the result of the restore drill of a scheduled backup; null if there was none.
	Drill *BackupDrill `json:"drill"`
	// Problem says why the file can't be read; it is empty if the file can be read.
	Problem string `json:"problem"`
}

// BackupContents describes the contents of a backup.
type BackupContents struct {
	Created time.Time `json:"created"`
	// Schema is the schema version of the records; 0 before the first migration.
	Schema  int   `json:"schema"`
	Records int64 `json:"records"`
	Blobs   int64 `json:"blobs"`
	// HasBlobs and HasKeys are false if files or keys were left out.
	HasBlobs bool `json:"has_blobs"`
	HasKeys  bool `json:"has_keys"`
	// UnusedBlobs is the number of files that were left out because nothing refers to them.
	UnusedBlobs int64 `json:"unused_blobs"`
	// Damage describes what was damaged or missing when the backup was made; it is empty if there was no damage.
	Damage string `json:"damage"`
}

// BackupDrill is the result of restoring a backup into an empty folder.
type BackupDrill struct {
	At      time.Time `json:"at"`
	Passed  bool      `json:"passed"`
	Records int64     `json:"records"`
	Problem string    `json:"problem"`
}

// BackupVerification is the result of restoring a backup into an empty folder and comparing the copy with the backup.
type BackupVerification struct {
	Path string `json:"path"`
	OK   bool   `json:"ok"`
	// Problem says why the verification failed; it is empty if it passed.
	Problem       string          `json:"problem"`
	Encrypted     bool            `json:"encrypted"`
	Contents      *BackupContents `json:"contents"`
	Organizations []string        `json:"organizations"`
}

// ReadBackupOptions describes how to read a backup.
type ReadBackupOptions struct {
	Path string
	// IdentityFile contains the age private keys to decrypt the backup.
	IdentityFile string
	// TempDir is the folder for a temporary copy; if it is empty, the system's folder is used.
	TempDir  string
	Progress func(done, total int64)
}

// RestoredBackup is the result of a restore.
type RestoredBackup struct {
	Path     string         `json:"path"`
	Data     string         `json:"data"`
	Contents BackupContents `json:"contents"`
	// Replaced lists the current locations of the old database and other replaced files.
	Replaced []string `json:"replaced"`
	// HasKeys is set if the folder has keys that decrypt secrets, either from the backup or from before.
	HasKeys bool `json:"has_keys"`
}

// ErrBackupEncrypted is the error for a backup that can't be decrypted with the given keys.
var ErrBackupEncrypted = errors.New("the backup is encrypted")

// Backups holds the functions for backups of the data folder.
type Backups struct {
	// Write writes a backup of the target's data folder while the folder is in use.
	Write func(ctx context.Context, target Target, o BackupOptions) (*BackupFile, error)
	// Verify restores a backup into an empty folder and compares the result. If the backup is damaged, the error is
	// nil and the result describes the damage.
	Verify func(ctx context.Context, o ReadBackupOptions) (*BackupVerification, error)
	// Restore replaces the target's data.
	Restore func(ctx context.Context, target Target, o ReadBackupOptions) (*RestoredBackup, error)
	// List describes the backups in a folder, newest first.
	List func(ctx context.Context, dir string) ([]BackupFile, error)
}

// backups returns the functions for backups, or an error if the build doesn't support backups.
func (a *app) backups() (*Backups, error) {
	if a.Backups == nil {
		return nil, runtimeError("this build of the program doesn't support backups")
	}
	return a.Backups, nil
}

// unreadableWithoutKeys lists the data that another machine can't read without the encryption keys.
const unreadableWithoutKeys = "secrets of webhooks and integrations, private keys for sync bundles, and emails that are still queued"

func (a *app) backupCommand() *cobra.Command {
	var o BackupOptions
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Back up all data to one file without stopping the service",
		Long: `Writes the data of all organizations to one file: all records and, unless --no-blobs
is set, all files (documents, reports and imported catalogs). Nothing has to be stopped; a
running daemon writes the backup itself, so the daemon's user needs access to the folder.
An existing file is never overwritten.

The key that encrypts secrets is left out unless you pass --include-keys. Without it,
another machine can restore everything except secrets of webhooks and integrations,
private keys for sync bundles, and emails that are still queued.

A damaged record or file prevents a backup unless --allow-damaged is set, which saves
everything else. The backup then records what is damaged or missing, and the exit code is 1.

The file is not encrypted unless you pass --recipient with an age public key (age1…). It
can then be read only with the matching private key.`,
		Example: `  service backup acme.bak
  service backup acme.bak --recipient age1… --include-keys
  service backup verify acme.bak
  service daemon --backup-every 24h --backup-to /backup`,
		Args: requireArgCount(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runBackup(cmd, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Recipients, "recipient", nil, "age public key (age1…) that can decrypt the backup; can be repeated")
	f.BoolVar(&o.WithoutBlobs, "no-blobs", false, "leave out all files (documents, reports and imported catalogs)")
	f.BoolVar(&o.AllowDamaged, "allow-damaged", false, "back up everything that is not damaged; damaged files are left out")
	f.BoolVar(&o.IncludeKeys, "include-keys", false, "include the key that encrypts secrets")
	cmd.AddCommand(a.backupVerify(), a.backupList())
	return cmd
}

// localDataTarget returns the data folder of this machine as the target. It returns an error if the command line, an
// environment variable or the selected context specifies a server, because the user may expect the server's data to be
// used.
func (a *app) localDataTarget(cmd *cobra.Command) (Target, error) {
	t := a.flags.Target
	for _, flag := range []string{"org", "assessment"} {
		if cmd.Root().PersistentFlags().Changed(flag) {
			return t, withHint(usageError("--%s can't be used with this command, because a backup contains all organizations", flag),
				"`service assess export` saves a single assessment")
		}
	}
	if a.targetErr == nil && t.Server == "" {
		t.Token, t.Organization = "", ""
		return t, nil
	}
	return t, withHint(
		usageError("`%s` needs a data folder on this machine, but %s", cmd.CommandPath(), a.describeServerChoice()),
		"run the command on the server's machine, or add --context local to use the data folder on this machine",
	)
}

// describeServerChoice describes the server that commands use instead of the data folder of this machine.
func (a *app) describeServerChoice() string {
	switch {
	case a.context != nil:
		return fmt.Sprintf("commands use the server of the context %s", a.context.Name)
	case a.targetErr != nil:
		return a.targetErr.Error()
	}
	return fmt.Sprintf("commands use the server %s", redactPassword(a.flags.Server))
}

func (a *app) runBackup(cmd *cobra.Command, o BackupOptions, path string) (err error) {
	backups, err := a.backups()
	if err != nil {
		return err
	}
	target, err := a.localDataTarget(cmd)
	if err != nil {
		return err
	}
	if err := checkRecipients(o.Recipients); err != nil {
		return err
	}
	if o.Path, err = a.checkBackupPath(path); err != nil {
		return err
	}
	if a.ResolvePaths != nil {
		if at := a.ResolvePaths(target.Data); at.Unused {
			return withHint(runtimeError("there is nothing to back up: %s has no data", at.Data), "specify the data folder with --data")
		}
	}
	a.interruptHint = "no backup was written; run the command again"
	a.progress.Start("writing the backup")
	o.Progress = a.showByteProgress("writing the backup")
	b, err := backups.Write(cmd.Context(), target, o)
	if err != nil {
		return err
	}
	a.progress.Done("")
	err = a.out.Print(b, func(p *print.Page) {
		p.Text("Wrote %s, %s.", path, print.FormatSize(b.Size))
		p.Fields(backupContentFields(b.Contents, b.Encrypted)...)
		if n := b.Contents.UnusedBlobs; n > 0 {
			p.Text("The backup omits %s that no record refers to.", prose.Count(int(n), "file", "files"))
		}
		if !b.Contents.HasKeys {
			p.Blank()
			p.Text("The backup does not contain the key that encrypts secrets. Without this key, another machine can't read " + unreadableWithoutKeys +
				". Keep a copy of secret.key in another place, or use --include-keys.")
		} else if !b.Encrypted {
			p.Blank()
			p.Text("The backup contains the key that encrypts secrets, and is not encrypted: store it where only you can read it.")
		}
		p.Blank()
		p.Text("To check that the backup can be restored, run:")
		p.Command("service backup verify " + shellQuote(path))
	})
	if err != nil || b.Contents.Damage == "" {
		return err
	}
	return &exitError{
		code: exitVerdict, err: fmt.Errorf("%s was written, but the data folder is damaged: %s", path, b.Contents.Damage),
		hint: "keep earlier backups; `service audit verify` lists all damaged data",
	}
}

// checkBackupPath returns the absolute path of the backup to write. It reports mistakes early, because the backup may
// be written by another process, the one that is using the data folder.
func (a *app) checkBackupPath(path string) (string, error) {
	if path == "-" {
		return "", withHint(usageError("a backup can't be written to standard output, only to a file"), "to write to a file named -, pass ./-")
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	switch info, err := os.Lstat(full); {
	case err == nil && info.IsDir():
		return "", usageError("%s is a folder; specify a file in this folder, such as %s", path, filepath.Join(path, "service.bak"))
	case err == nil:
		return "", withHint(runtimeError("%s already exists, and a backup never overwrites a file", path), "give another name")
	case !errors.Is(err, fs.ErrNotExist):
		return "", runtimeError("can't write %s: %w", path, errorWithoutPath(err))
	}
	switch info, err := os.Stat(filepath.Dir(full)); {
	case err != nil:
		return "", withHint(runtimeError("can't write to the folder that contains %s: %w", path, errorWithoutPath(err)),
			"create the folder, or mount the drive that contains it")
	case !info.IsDir():
		return "", runtimeError("can't write %s: %s is not a folder", path, filepath.Dir(path))
	}
	return full, nil
}

// checkRecipients returns an error unless all keys are age public keys.
func checkRecipients(keys []string) error {
	for _, k := range keys {
		if r, err := age.ParseRecipients(strings.NewReader(k)); err != nil || len(r) != 1 {
			shown := fmt.Sprintf("%.80q", k)
			if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(k)), "AGE-SECRET-KEY") {
				shown = "a private key" // it must not appear in logs
			}
			return withHint(
				usageError("%s is not an age public key", shown),
				"create a key pair with `age-keygen -o key.txt`; it prints the public key, age1…",
			)
		}
	}
	return nil
}

// showByteProgress returns a function that displays how many of an operation's bytes have been processed.
func (a *app) showByteProgress(doing string) func(done, total int64) {
	return func(done, total int64) {
		if total > 0 {
			a.progress.Update("%s: %s of %s", doing, print.FormatSize(min(done, total)), print.FormatSize(total))
		}
	}
}

// backupContentFields returns a description of a backup's contents as labeled fields.
func backupContentFields(c *BackupContents, encrypted bool) []print.Field {
	files := strconv.FormatInt(c.Blobs, 10)
	if !c.HasBlobs {
		files = "left out"
	}
	return []print.Field{
		field("created", print.FormatTime(c.Created)),
		field("records", strconv.FormatInt(c.Records, 10)),
		field("files", files),
		field("keys", map[bool]string{true: "included", false: "left out"}[c.HasKeys]),
		field("encrypted", yesNo(encrypted)),
	}
}

// addReadBackupFlags adds the flags for commands that read a backup.
func addReadBackupFlags(cmd *cobra.Command, o *ReadBackupOptions) {
	cmd.Flags().StringVar(&o.IdentityFile, "identity", "", "file with the age private key of an encrypted backup")
}

// explainReadBackupError adds advice to an error about the backup at path.
func explainReadBackupError(path string, o ReadBackupOptions, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrBackupEncrypted) && o.IdentityFile == "":
		return withHint(usageError("%s is encrypted", path), "pass the file with the private key: --identity key.txt")
	case errors.Is(err, ErrBackupEncrypted):
		return withHint(
			runtimeError("%s is encrypted, and no key in %s decrypts it", path, o.IdentityFile),
			"use the private key that matches one of the public keys with which the backup was made (--recipient)",
		)
	}
	return err
}

func (a *app) backupVerify() *cobra.Command {
	var o ReadBackupOptions
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Verify a backup by restoring it into an empty temporary folder",
		Long: `Reads the whole backup, restores it into an empty temporary folder, compares the copy with
the backup record by record and file by file, and verifies the audit trail of every
organization. This needs no data folder and changes no data. The temporary copy needs as
much space as the data, in the system's temporary folder or in the folder given with
--temp. The exit code is 1 if the backup is damaged or incomplete.`,
		Example: "  service backup verify acme.bak\n  service backup verify acme.bak --identity key.txt --temp /var/tmp",
		RunE: func(cmd *cobra.Command, args []string) error {
			backups, err := a.backups()
			if err != nil {
				return err
			}
			if o.Path, err = filepath.Abs(args[0]); err != nil {
				return err
			}
			a.interruptHint = "nothing was changed; run the command again"
			a.progress.Start("verifying the backup")
			o.Progress = a.showByteProgress("verifying the backup")
			v, err := backups.Verify(cmd.Context(), o)
			if err != nil {
				return explainReadBackupError(args[0], o, err)
			}
			a.progress.Done("")
			if err := a.out.Print(v, func(p *print.Page) { renderBackupVerification(p, args[0], v) }); err != nil || v.OK {
				return err
			}
			return &exitError{
				code: exitVerdict, err: fmt.Errorf("%s failed the verification", args[0]),
				hint: "make a new backup or use an older one; `service backup list FOLDER` lists the backups in a folder",
			}
		},
	}
	addReadBackupFlags(cmd, &o)
	cmd.Flags().StringVar(&o.TempDir, "temp", "", "folder for the temporary copy (default: the system's temporary folder)")
	return cmd
}

// renderBackupVerification prints the result of verifying a backup. path is the backup's path as entered by the user.
func renderBackupVerification(p *print.Page, path string, v *BackupVerification) {
	if !v.OK {
		p.Text("✗ %s failed: %s.", path, v.Problem)
		if v.Contents != nil && v.Contents.Damage != "" {
			p.Text("The data was already damaged when the backup was made: %s.", v.Contents.Damage)
		}
		return
	}
	p.Text("✓ %s was restored into an empty folder: all %s and %s match the backup.", path,
		prose.Count(int(v.Contents.Records), "record", "records"), prose.Count(int(v.Contents.Blobs), "file", "files"))
	p.Fields(append(backupContentFields(v.Contents, v.Encrypted), field("organizations", strings.Join(v.Organizations, "; ")))...)
	if !v.Contents.HasBlobs {
		p.Text("The backup contains no files: after restoring it, copy the \"blobs\" subfolder from the original data folder.")
	}
}

func (a *app) backupList() *cobra.Command {
	return &cobra.Command{
		Use: "list DIR", Short: "List the backups in a folder, newest first",
		Long: `Lists the backups in a folder with their contents. For backups that a daemon made on a
schedule, it also shows the result of the last restore drill. For an encrypted backup, it
shows only the size and, if the backup was scheduled, its time and drill. Other files in
the folder are ignored.`,
		Example: "  service backup list /backup\n  service backup list /backup --jq '.data[0].path'",
		RunE: func(cmd *cobra.Command, args []string) error {
			backups, err := a.backups()
			if err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			all, err := backups.List(cmd.Context(), dir)
			if err != nil {
				return runtimeError("can't list %s: %w", args[0], errorWithoutPath(err))
			}
			out := struct {
				Data []BackupFile `json:"data"`
			}{append([]BackupFile{}, all...)}
			return a.out.Print(out, func(p *print.Page) {
				renderTable(p, all, []print.Column{
					column("name"), fixed("created"), fixedNumber("size"), fixed("files"), fixed("keys"),
					fixed("encrypted"), wrapped("last drill"),
				}, backupRow)
				renderTextIfEmpty(p, len(all), "No backups in %s.", args[0])
			})
		},
	}
}

// backupRow returns a backup as a row of a table.
func backupRow(b BackupFile) []string {
	files, keys, drill := "", "", ""
	if c := b.Contents; c != nil {
		files, keys = yesNo(c.HasBlobs), yesNo(c.HasKeys)
	}
	switch d := b.Drill; {
	case b.Problem != "":
		drill = b.Problem
	case d != nil && d.Passed:
		drill = fmt.Sprintf("passed %s, %s equal", print.FormatTime(d.At), prose.Count(int(d.Records), "record", "records"))
	case d != nil:
		drill = fmt.Sprintf("failed %s: %s", print.FormatTime(d.At), d.Problem)
	}
	return []string{filepath.Base(b.Path), formatTimePtr(b.Created), print.FormatSize(b.Size), files, keys, yesNo(b.Encrypted), drill}
}

func (a *app) restoreCommand() *cobra.Command {
	var o ReadBackupOptions
	var sure bool
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Restore a backup to the data folder",
		Long: `Verifies the whole backup, then restores it to the data folder, which can be empty or
missing. Existing data is replaced only after the backup has been verified. Stop the
daemon first, because a folder that is in use can't be replaced. A backup made by a newer
version of this program is rejected. Data from an older version is upgraded when it is
first opened.

If the folder contains data, you are asked to confirm. The existing database is moved to
the "backups" subfolder; existing files are kept. If some data was damaged or missing when
the backup was made, all other data is restored, and the exit code is 1.`,
		Example: `  service restore acme.bak --data ./restored
  service restore acme.bak --identity key.txt --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			backups, err := a.backups()
			if err != nil {
				return err
			}
			target, err := a.localDataTarget(cmd)
			if err != nil {
				return err
			}
			if o.Path, err = filepath.Abs(args[0]); err != nil {
				return err
			}
			if err := a.confirmRestore(cmd.Context(), target, sure); err != nil {
				return err
			}
			a.interruptHint = "if the restore wasn't reported as complete, no data was replaced; run the command again"
			a.progress.Start("restoring the backup")
			o.Progress = a.showByteProgress("restoring the backup")
			r, err := backups.Restore(cmd.Context(), target, o)
			if err != nil {
				return explainReadBackupError(args[0], o, err)
			}
			a.progress.Done("")
			if err := a.out.Print(r, func(p *print.Page) { a.renderRestoredBackup(p, r) }); err != nil || r.Contents.Damage == "" {
				return err
			}
			return &exitError{
				code: exitVerdict, err: fmt.Errorf("%s was restored, but is incomplete: %s", args[0], r.Contents.Damage),
				hint: "if you have an older backup that is complete, restore that backup",
			}
		},
	}
	addReadBackupFlags(cmd, &o)
	addYesFlag(cmd, &sure)
	return cmd
}

// confirmRestore asks before existing data is replaced. If the folder is in use, it returns an error before anything
// is read.
func (a *app) confirmRestore(ctx context.Context, target Target, skipPrompt bool) error {
	if a.ResolvePaths == nil {
		return nil
	}
	at := a.ResolvePaths(target.Data)
	p, err := a.findDataFolderProcess(ctx)
	if err != nil {
		return err
	}
	if p != nil {
		return withHint(
			runtimeError("the data folder %s is in use by process %d", at.Data, p.PID),
			"stop the process first, or restore to another folder with --data",
		)
	}
	if at.Unused {
		return nil
	}
	return a.confirm(skipPrompt, fmt.Sprintf("replace the data in %s", at.Data))
}

func (a *app) renderRestoredBackup(p *print.Page, r *RestoredBackup) {
	p.Text("Restored %s and %s from the backup of %s to:", prose.Count(int(r.Contents.Records), "record", "records"),
		prose.Count(int(r.Contents.Blobs), "file", "files"), print.FormatTime(r.Contents.Created))
	p.UnwrappedLine(r.Data)
	if len(r.Replaced) > 0 {
		p.Text("The replaced data was kept:")
	}
	for _, path := range r.Replaced {
		p.UnwrappedLine(path)
	}
	if !r.Contents.HasBlobs {
		p.Text("The backup contains no files: before you use this data folder, copy the \"blobs\" subfolder from the old data folder to it.")
	}
	if d := r.Contents.Damage; d != "" {
		p.Text("The data was already damaged when the backup was made: %s.", d)
	}
	switch {
	case r.HasKeys && !r.Contents.HasKeys:
		p.Text("The backup contains no encryption key, so the existing one was kept. If it is a different key, secrets can't be read; " +
			"`service doctor` checks this.")
	case !r.HasKeys:
		p.Text("There is no encryption key, so secrets can't be read ("+unreadableWithoutKeys+
			"). To keep them, copy secret.key from the old machine to %s or set SERVICE_SECRET_KEY; otherwise, enter them again.", r.Data)
	}
	p.Text("Check it:")
	p.Command(a.suggestedCommandLine("doctor"))
}

// BackupSchedule describes the backups that a daemon makes regularly.
type BackupSchedule struct {
	// Dir is the absolute path of the folder.
	Dir   string
	Every time.Duration
	// Keep is the number of backups to keep; 0 keeps all.
	Keep int
	// Recipients are the age public keys to encrypt the backups for. If there are none, they are not encrypted.
	Recipients []string
}

// readBackupSchedule reads the backup settings, or returns nil if there are none.
func readBackupSchedule(setting func(key string) string, recipients []string) (*BackupSchedule, error) {
	every, dir, keep := setting("backup-every"), setting("backup-to"), setting("backup-keep")
	switch {
	case every == "" && dir == "" && keep == "" && len(recipients) == 0:
		return nil, nil
	case every == "" || dir == "":
		return nil, usageError("backups need both --backup-every and --backup-to, such as --backup-every 24h --backup-to /backup")
	}
	s := &BackupSchedule{Recipients: recipients}
	err := checkRecipients(recipients)
	if err != nil {
		return nil, err
	}
	if s.Every, err = time.ParseDuration(every); err != nil || s.Every < time.Minute {
		return nil, usageError("--backup-every %q is not a duration of at least one minute; use a value such as 24h or 90m", every)
	}
	if s.Keep, err = strconv.Atoi(cmp.Or(keep, defaultBackupKeep)); err != nil || s.Keep < 0 {
		return nil, usageError("--backup-keep %q is not a number; use a number such as 14, or 0 to keep all backups", keep)
	}
	// A folder that doesn't exist may be on a drive that is mounted later.
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, usageError("--backup-to %s is a file; specify a folder", dir)
	}
	s.Dir, err = filepath.Abs(dir)
	return s, err
}
