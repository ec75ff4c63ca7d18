package identity_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
)

const owner = "owner@acme.example"

// guess enters wrong passwords until it is told to wait, and returns the number of tries.
func (h *testService) guess(t *testing.T, account, address, device string) int {
	t.Helper()
	for n := range 100 {
		if _, err := h.trySignInFrom(t, account, "not the password", address, device); api.IsCode(err, api.CodeRateLimit) {
			return n
		} else if !api.IsCode(err, api.CodeUnauthorized) {
			t.Fatal(err)
		}
	}
	t.Fatal("a hundred passwords were tried")
	return 0
}

func (h *testService) trySignInFrom(t *testing.T, email, password, address, device string) (*api.SignedInUser, error) {
	t.Helper()
	in := &api.SignInInput{}
	in.Body.Email, in.Body.Password = email, password
	return h.SignIn(t.Context(), api.Caller{Address: address, DeviceToken: device}, in)
}

// TestStrangersCannotLockOut checks that wrong guesses from other networks, however many, don't keep an
// account's owner out, and that each network gets only a few of them.
func TestStrangersCannotLockOut(t *testing.T) {
	h := newTestService(t)
	h.createOrganization(t, "Acme", owner)
	for i := range 40 {
		if n := h.guess(t, owner, fmt.Sprintf("198.51.%d.9", i), ""); n != 5 {
			t.Fatalf("a network had %d guesses", n)
		}
	}
	if _, err := h.trySignInFrom(t, owner, password, "192.0.2.7", ""); err != nil {
		t.Errorf("the owner, from another network: %v", err)
	}
	// Another address of a network counts as the same network.
	for _, pair := range [][2]string{
		{"203.0.113.7", "203.0.113.250"},
		{"2001:db8:0:100::1", "2001:db8:0:1ff::2"},
		{"::ffff:192.0.2.130", "192.0.2.131"},
		{"fe80::1%eth0", "fe80::2%eth1"},
		{"@", "@"}, // behind a socket, all callers look alike
	} {
		h.guess(t, owner, pair[0], "")
		if n := h.guess(t, owner, pair[1], ""); n != 0 {
			t.Errorf("%d more guesses from %s after those from %s", n, pair[1], pair[0])
		}
	}
	// Another spelling of an account counts as the same account.
	if n := h.guess(t, " OWNER@acme.example", "203.0.113.8", ""); n != 0 {
		t.Errorf("%d more guesses with another spelling", n)
	}
}

// TestWaitsGrowAndEnd checks the waits of a pair and of a network with a clock.
func TestWaitsGrowAndEnd(t *testing.T) {
	h := newTestService(t)
	h.createOrganization(t, "Acme", owner)
	h.guess(t, owner, "198.51.100.1", "")
	wait := func(account string) (seconds int) {
		_, err := h.trySignInFrom(t, account, "not the password", "198.51.100.1", "")
		if e := api.AsError(err); e.Code == api.CodeRateLimit {
			return e.RetryAfter()
		}
		return 0
	}
	for _, want := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		if got := wait(owner); got != want {
			t.Fatalf("the wait is %d s, not %d s", got, want)
		}
		h.now = h.now.Add(time.Duration(want)*time.Second - time.Nanosecond)
		if got := wait(owner); got != 1 {
			t.Errorf("just before the end of %d s, the wait is %d s", want, got)
		}
		h.now = h.now.Add(time.Nanosecond)
		if got := wait(owner); got != 0 {
			t.Errorf("after %d s, the wait is %d s", want, got)
		}
	}
	// The network has made 13 guesses. After 20, other accounts have to wait too, but not as long.
	for i := range 7 {
		if got := wait(fmt.Sprintf("person%d@acme.example", i)); got != 0 {
			t.Fatalf("guess %d of the network waits %d s", i, got)
		}
	}
	for i, want := range []int{1, 2, 4, 8, 15, 15} {
		if got := wait(fmt.Sprintf("other%d@acme.example", i)); got != want {
			t.Errorf("the network's wait is %d s, not %d s", got, want)
		}
		h.now = h.now.Add(time.Duration(want) * time.Second)
		if got := wait(fmt.Sprintf("other%d@acme.example", i)); got != 0 {
			t.Errorf("after %d s, the network's wait is %d s", want, got)
		}
	}
	h.now = h.now.Add(16 * time.Minute)
	if n := h.guess(t, owner, "198.51.100.1", ""); n != 5 {
		t.Errorf("a quarter of an hour later, %d guesses are free", n)
	}
}

// TestKnownDeviceIsCountedApart checks that a browser that has signed in before can sign in even while strangers on
// its network guess passwords, and that its own guesses are limited too. Its token is valid only for that account,
// unaltered, and for a limited time.
func TestKnownDeviceIsCountedApart(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", owner)
	device := h.signIn(t, owner, password).DeviceToken
	const network = "192.0.2.9"
	for i := range 30 {
		_, _ = h.trySignInFrom(t, fmt.Sprintf("a%d@acme.example", i), "guess", network, "")
	}
	h.guess(t, owner, network, "")
	signsIn := func(account, token string) bool {
		t.Helper()
		_, err := h.trySignInFrom(t, account, password, network, token)
		if err != nil {
			wantCode(t, account, err, api.CodeRateLimit)
		}
		return err == nil
	}
	if signsIn(owner, "") || !signsIn(owner, device) {
		t.Error("the owner's browser isn't told from a stranger")
	}
	if n := h.guess(t, owner, network, device); n != 5 {
		t.Errorf("a known browser may guess %d times", n)
	}
	h.now = h.now.Add(time.Minute)

	by := h.mustCaller(t, cookie(h.signIn(t, owner, password)), org.ID)
	h.addMember(t, by, "bo@acme.example", api.RoleMember)
	h.guess(t, "bo@acme.example", network, "")
	if signsIn("bo@acme.example", device) {
		t.Error("a browser of one account is known to another")
	}
	h.guess(t, "nobody@acme.example", network, "")
	h.guess(t, owner, network, "")
	raw, err := base64.RawURLEncoding.DecodeString(device)
	if err != nil {
		t.Fatal(err)
	}
	for at := range raw {
		raw[at] ^= 1
		if signsIn(owner, base64.RawURLEncoding.EncodeToString(raw)) {
			t.Errorf("a token with another byte %d is accepted", at)
		}
		raw[at] ^= 1
	}
	// Text encrypted by the same key for another purpose is not a token, whatever it contains.
	foreign := secretboxtest.New(h.key)
	for _, text := range []string{"", "known-device", by.UserID, "known-device  x 99999999999", "other " + by.UserID + " x 99999999999"} {
		sealed, err := foreign.Seal([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if signsIn(owner, base64.RawURLEncoding.EncodeToString(sealed)) ||
			signsIn("nobody@acme.example", base64.RawURLEncoding.EncodeToString(sealed)) {
			t.Errorf("the text %q is accepted as a token", text)
		}
	}
	for _, junk := range []string{"x", "%%%", device + "A", device[:20]} {
		if signsIn(owner, junk) {
			t.Errorf("%q is accepted as a token", junk)
		}
	}

	h.now = h.now.Add(90*24*time.Hour - 2*time.Minute)
	h.guess(t, owner, network, "")
	if !signsIn(owner, device) {
		t.Error("the browser is forgotten too early")
	}
	h.now = h.now.Add(2 * time.Minute)
	h.guess(t, owner, network, "")
	if signsIn(owner, device) {
		t.Error("the browser is known after 90 days")
	}
	device = h.mustSignInFrom(t, "203.0.113.1").DeviceToken
	h.key = secretbox.NewKey() // the key was replaced
	h.restart()
	h.guess(t, owner, network, "")
	if signsIn(owner, device) {
		t.Error("a token outlives its key")
	}
}

func (h *testService) mustSignInFrom(t *testing.T, address string) *api.SignedInUser {
	t.Helper()
	u, err := h.trySignInFrom(t, owner, password, address, "")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestPasswordChangeIsNotBlockedByStrangers checks that a signed-in user can change the password while
// strangers guess it, and that a stolen session can't be used to guess it.
func TestPasswordChangeIsNotBlockedByStrangers(t *testing.T) {
	h := newTestService(t)
	org := h.createOrganization(t, "Acme", owner)
	by := h.mustCaller(t, cookie(h.signIn(t, owner, password)), org.ID)
	by.Address = "192.0.2.9"
	h.guess(t, owner, by.Address, "")
	in := &api.ChangePasswordInput{}
	in.Body.New = "five words are enough too"
	for range 5 {
		in.Body.Current = "not the password"
		_, err := h.ChangePassword(t.Context(), by, in)
		wantCode(t, "a wrong current password", err, api.CodeValidation)
	}
	in.Body.Current = password
	_, err := h.ChangePassword(t.Context(), by, in)
	wantCode(t, "the sixth guess of a session", err, api.CodeRateLimit)
	h.now = h.now.Add(time.Second)
	h.guess(t, owner, by.Address, "")
	if _, err := h.ChangePassword(t.Context(), by, in); err != nil {
		t.Errorf("the owner, while strangers guess: %v", err)
	}
}
