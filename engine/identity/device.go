package identity

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// deviceLifetime is how long after its last sign-in a browser is known.
const deviceLifetime = 90 * 24 * time.Hour

// devicePurpose distinguishes device tokens from other data encrypted with the same key.
const devicePurpose = "known-device"

// addDeviceToken adds a token by which the browser of a new session can be recognized at the next sign-in.
// The token is encrypted; if no key is available, there is no token, and the browser is treated like an
// unknown one. Rotating the key and deleting the old one makes all tokens invalid.
func (s *Service) addDeviceToken(u *api.SignedInUser) {
	expires := s.clock().Add(deviceLifetime)
	id := hashSecret(u.Token)[:16] // unique, and reveals nothing about the session token
	text := strings.Join([]string{devicePurpose, u.User.ID, id, strconv.FormatInt(expires.Unix(), 10)}, " ")
	if sealed, err := s.box.Seal([]byte(text)); err == nil {
		u.DeviceToken, u.DeviceExpiresAt = base64.RawURLEncoding.EncodeToString(sealed), expires
	}
}

// recognizeDevice returns the ID of the browser that a token was given to, or "" if the token is invalid, has
// expired or belongs to another account. The token is decrypted even if there is no such account, so that
// the response time does not reveal that.
func (s *Service) recognizeDevice(token, userID string) string {
	if token == "" {
		return ""
	}
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return ""
	}
	text, err := s.box.Open(sealed)
	if err != nil {
		return ""
	}
	parts := strings.Split(string(text), " ")
	if len(parts) != 4 || parts[0] != devicePurpose || parts[1] != userID || userID == "" {
		return ""
	}
	expires, err := strconv.ParseInt(parts[3], 10, 64)
	if err != nil || s.clock().Unix() >= expires {
		return ""
	}
	return parts[2]
}
