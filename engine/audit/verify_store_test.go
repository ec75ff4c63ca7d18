package audit_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// openTwoOrganizations returns a store with the organizations Acme and Beta, each with an audit trail and a document,
// and the paths of the documents' files. A third document has the same content as the first.
func openTwoOrganizations(t *testing.T) (*store.DB, map[string]string) {
	t.Helper()
	db, files := openStore(t), map[string]string{}
	add := func(org, id, text string) {
		blob, err := db.Blobs().Put(t.Context(), strings.NewReader(text), 1000)
		if err != nil {
			t.Fatal(err)
		}
		d := store.Document{Document: api.Document{TenantRecord: api.TenantRecord{OrganizationID: org}}}
		d.ID, d.AssessmentID, d.Filename, d.SHA256 = id, "assessment of "+org, id+".md", blob.SHA256
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return store.Documents.Insert(tx, org, &d) }); err != nil {
			t.Fatal(err)
		}
		files[id] = filepath.Join(db.Dir(), "blobs", blob.SHA256[:2], blob.SHA256[2:])
	}
	for id, name := range map[string]string{"a": "Acme", "b": "Beta"} {
		o := api.Organization{Record: api.Record{ID: id}, Name: name, Slug: strings.ToLower(name)}
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return store.Organizations.Insert(tx, &o) }); err != nil {
			t.Fatal(err)
		}
		append20(t, db, id)
	}
	add("a", "access", "Every person has one account.")
	add("b", "backup", "Backups are kept for a year.")
	add("b", "copy", "Every person has one account.")
	return db, files
}

func mustUpdate(t *testing.T, db *store.DB, change func(*store.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyStore checks that each kind of damage anywhere in a data folder is reported with its organization,
// record and file.
func TestVerifyStore(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, db *store.DB, files map[string]string)
		want   []string // kind, organization and record of each problem
	}{
		"nothing": {func(*testing.T, *store.DB, map[string]string) {}, nil},
		"all files deleted": {func(t *testing.T, _ *store.DB, files map[string]string) {
			for _, path := range []string{files["access"], files["backup"]} { // the copy has the first one's
				if err := os.Remove(path); err != nil {
					t.Error(err)
				}
			}
		}, []string{`missing Acme document "access.md"`, `missing Beta document "backup.md"`, `missing Beta document "copy.md"`}},
		"two bytes of a file": {func(t *testing.T, _ *store.DB, files map[string]string) {
			mustWrite(t, files["backup"], "Backups are kept for a dayr.")
		}, []string{`altered Beta document "backup.md"`}},
		"a file that can't be read": {func(t *testing.T, _ *store.DB, files map[string]string) {
			if err := os.Remove(files["backup"]); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(files["backup"], 0o700); err != nil {
				t.Fatal(err)
			}
		}, []string{`not_read Beta document "backup.md"`}},
		"a file that no record refers to": {func(t *testing.T, db *store.DB, _ map[string]string) {
			blob, err := db.Blobs().Put(t.Context(), strings.NewReader("alone"), 10)
			if err != nil {
				t.Fatal(err)
			}
			mustWrite(t, filepath.Join(db.Dir(), "blobs", blob.SHA256[:2], blob.SHA256[2:]), "alome")
		}, []string{`altered  file without a record`}},
		"an audit record": {func(t *testing.T, db *store.DB, _ map[string]string) {
			mustUpdate(t, db, func(tx *store.Tx) error { return store.Audit.Delete(tx, "b", int64(20)) })
		}, []string{`altered Beta audit record 20`}},
		"an organization": {func(t *testing.T, db *store.DB, _ map[string]string) {
			mustUpdate(t, db, func(tx *store.Tx) error { return store.Organizations.Delete(tx, "a") })
		}, []string{`missing a organization`}},
		"an organization of which only the audit trail is left": {func(t *testing.T, db *store.DB, _ map[string]string) {
			append20(t, db, "c")
			append20(t, db, "d")
			mustUpdate(t, db, func(tx *store.Tx) error { return store.Audit.Delete(tx, "d", int64(7)) })
		}, []string{`missing c organization`, `missing d organization`, `altered d audit record 7`}},
	} {
		t.Run(name, func(t *testing.T) {
			db, files := openTwoOrganizations(t)
			c.damage(t, db, files)
			v, err := audit.VerifyStore(t.Context(), db, "")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range v.Problems {
				got = append(got, p.Kind+" "+p.Organization+" "+p.Record)
				if p.Message == "" || strings.HasPrefix(p.Record, "document") && len(p.SHA256) != 64 {
					t.Errorf("%+v lacks what to do or the file", p)
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) || v.OK != (c.want == nil) {
				t.Errorf("ok is %v, got %q, want %q", v.OK, got, c.want)
			}
			if len(v.Organizations) < 2 || len(v.NotCovered) > 0 || v.RecordsChecked < 40 || v.FilesChecked < 2 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestVerifyOneOrganization checks that a restricted verification names what it leaves out and ignores it.
func TestVerifyOneOrganization(t *testing.T) {
	db, files := openTwoOrganizations(t)
	mustWrite(t, files["backup"], "altered")
	for _, name := range []string{"a", "acme", "ACME"} {
		v, err := audit.VerifyStore(t.Context(), db, name)
		if err != nil || !v.OK || len(v.Organizations) != 1 || v.Organizations[0].Records != 20 || v.FilesChecked != 1 || len(v.NotCovered) == 0 {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	if v, err := audit.VerifyStore(t.Context(), db, "beta"); err != nil || v.OK || len(v.Problems) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := audit.VerifyStore(t.Context(), db, "gamma"); !api.IsCode(err, api.CodeValidation) ||
		!strings.Contains(err.Error(), "acme, beta") {
		t.Errorf("got %v", err)
	}
}

// TestVerifyEmptyStore checks that an empty store doesn't count as verified.
func TestVerifyEmptyStore(t *testing.T) {
	if v, err := audit.VerifyStore(t.Context(), openStore(t), ""); err != nil || v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestVerifyDataIsLocal checks that only the local user may verify all organizations.
func TestVerifyDataIsLocal(t *testing.T) {
	db, _ := openTwoOrganizations(t)
	s := audit.New(db)
	for name, by := range map[string]api.Caller{
		"a platform admin": {PlatformAdmin: true}, "an owner": {OrganizationID: "a", Role: api.RoleOwner},
	} {
		if _, err := s.VerifyData(t.Context(), by, &api.VerifyDataInput{}); !api.IsCode(err, api.CodeForbidden) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if v, err := s.VerifyData(t.Context(), api.Caller{Local: true, PlatformAdmin: true}, &api.VerifyDataInput{}); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}
