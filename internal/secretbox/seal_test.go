package secretbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
)

func TestRotation(t *testing.T) {
	box := secretboxtest.New(secretbox.NewKey())
	old, err := box.Seal([]byte("secret"))
	if err != nil || bytes.Contains(old, []byte("secret")) {
		t.Fatalf("%q, %v", old, err)
	}
	if err := box.RotateKey(""); err != nil {
		t.Fatal(err)
	}
	if got, err := box.Open(old); err != nil || string(got) != "secret" {
		t.Errorf("after the rotation: %q, %v", got, err)
	}
	renewed, changed, err := box.Reseal(old)
	if err != nil || !changed {
		t.Fatalf("reseal: %v, %v", changed, err)
	}
	if _, changed, err := box.Reseal(renewed); err != nil || changed {
		t.Errorf("resealed twice: %v, %v", changed, err)
	}
	if err := box.DropOldKeys(); err != nil {
		t.Fatal(err)
	}
	if got, err := box.Open(renewed); err != nil || string(got) != "secret" {
		t.Errorf("with the current key alone: %q, %v", got, err)
	}
	for _, sealed := range [][]byte{old, nil, renewed[:5], append([]byte("x"), renewed...)} {
		if _, err := box.Open(sealed); !errors.Is(err, secretbox.ErrUnknownKey) {
			t.Errorf("%d bytes: %v", len(sealed), err)
		}
	}
	if _, ids, err := box.KeyLocationAndIDs(); err != nil || len(ids) != 1 {
		t.Errorf("keys %v, %v", ids, err)
	}
}

func TestParseKeys(t *testing.T) {
	a, b := secretbox.NewKey(), secretbox.NewKey()
	for text, want := range map[string]int{
		a.Text(): 1, a.Text() + "," + b.Text(): 2, a.Text() + "\r\n" + a.Text(): 1, secretbox.FormatKeys([]secretbox.Key{a, b}): 2,
	} {
		if got, err := secretbox.ParseKeys(text, "KEY"); err != nil || len(got) != want || got[0] != a {
			t.Errorf("%d keys, %v; want %d", len(got), err, want)
		}
	}
	for text, want := range map[string]string{"": "does not contain a key", "abc": "a key has 32 bytes", a.Text()[:20]: "a key has 32 bytes"} {
		if _, err := secretbox.ParseKeys(text, "KEY"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	k := secretbox.NewKey()
	if s := fmt.Sprintf("%v %s %#v", k, k, k); strings.Contains(s, k.Text()) || strings.Count(s, k.ID()) != 3 {
		t.Error(s)
	}
	if _, err := k.MarshalText(); err == nil {
		t.Error("a key was serialized")
	}
}
