package main

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/internal/regularfile"
)

// mailServer returns the mail server configured in the environment, or nil if there is none. Its password can be in a
// separate file and is never displayed.
func mailServer(env func(string) string) (*mail.Server, error) {
	address, password, file := env("SERVICE_SMTP_URL"), env("SERVICE_SMTP_PASSWORD"), env("SERVICE_SMTP_PASSWORD_FILE")
	if address == "" {
		for _, name := range []string{"SERVICE_SMTP_FROM", "SERVICE_SMTP_PASSWORD", "SERVICE_SMTP_PASSWORD_FILE"} {
			if env(name) != "" {
				return nil, fmt.Errorf(
					"%s is set, but SERVICE_SMTP_URL is not; set SERVICE_SMTP_URL to the mail server's address, e.g. smtp://USER@smtp.acme.example:587",
					name,
				)
			}
		}
		return nil, nil
	}
	if file != "" {
		if password != "" {
			return nil, fmt.Errorf("SERVICE_SMTP_PASSWORD and SERVICE_SMTP_PASSWORD_FILE are both set; use only one")
		}
		b, err := regularfile.Read(file, maxConfigFile)
		if err != nil {
			return nil, fmt.Errorf("SERVICE_SMTP_PASSWORD_FILE: %w", err)
		}
		password = strings.TrimRight(string(b), "\r\n")
	}
	s, err := mail.ParseServer(address, env("SERVICE_SMTP_FROM"), password)
	if err != nil {
		return nil, fmt.Errorf("SERVICE_SMTP_URL: %w", err)
	}
	return s, nil
}
