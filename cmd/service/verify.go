package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/engine/archive"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/internal/regularfile"
)

// openFile opens a file and returns its size.
func openFile(ctx context.Context, path string) (file *regularfile.File, size int64, _ error) {
	f, err := regularfile.Open(ctx, path, regularfile.NoLimit)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// verifyArchive checks an archive; it needs no engine and no data folder.
func verifyArchive(ctx context.Context, path string) (*cli.Verification, error) {
	f, size, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	got, err := archive.Verify(f, size)
	if ctx.Err() != nil {
		return nil, ctx.Err() // not a finding about the archive
	}
	if err != nil {
		return nil, err
	}
	m := &got.Manifest
	out := &cli.Verification{OK: got.OK, KeyID: got.KeyID, Findings: []cli.CheckedItem{}, Properties: [][2]string{
		{
			"assessment",
			m.Assessment + " (" + string(m.State) + ")",
		}, {"organization", m.Organization}, {"exported", m.CreatedAt.Format(time.RFC3339) + " by " + m.Tool},
	}}
	for _, one := range got.Findings {
		out.Findings = append(out.Findings, cli.CheckedItem(one))
	}
	return out, nil
}

// verifyAuditChain verifies an exported audit chain and, if headPath is set, that the chain contains the record of
// that head.
func verifyAuditChain(ctx context.Context, path, headPath string) (*cli.Verification, error) {
	f, _, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &cli.Verification{OK: true, Properties: [][2]string{{"chain", path}}}
	addFinding := func(ok bool, what, format string, args ...any) {
		out.OK = out.OK && ok
		out.Findings = append(out.Findings, cli.CheckedItem{OK: ok, Subject: what, Message: fmt.Sprintf(format, args...)})
	}
	var head api.AuditHead
	if headPath != "" {
		text, err := regularfile.Read(headPath, maxConfigFile)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("%s is not a signed audit chain head: %w", headPath, err)
		}
		if err := audit.VerifyHead(&head); err != nil {
			addFinding(false, "head", "%v", err)
		}
		out.KeyID = audit.Fingerprint(head.PublicKey)
	}
	met := false
	n, last, err := audit.VerifyRecords(func(yield func(api.AuditEvent, error) bool) {
		for e, err := range archive.ReadEvents(f) {
			met = met || e.Sequence == head.Sequence && e.Hash == head.Hash
			if !yield(e, err) {
				return
			}
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		addFinding(false, "chain", "%v", err)
	} else {
		addFinding(true, "chain", "%s verified, up to %s", prose.Count(int(n), "record", "records"), last)
	}
	if headPath != "" {
		addFinding(
			met,
			"head",
			"the saved head (record %d) %s the chain",
			head.Sequence,
			map[bool]string{true: "matches", false: "does not match"}[met],
		)
	}
	return out, nil
}
