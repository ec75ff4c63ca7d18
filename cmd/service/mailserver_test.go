package main

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scf-service/service/internal/testutil/smtptest"
)

var mailServers sync.Map // by the script's folder

// startMailServer starts a mail server that requires STARTTLS, a user name and a password, and configures the program
// to use it.
func startMailServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: mail-server")
	}
	s, err := smtptest.Start(smtptest.Options{User: "grc", Password: "a hidden sentence"})
	ts.Check(err)
	ts.Defer(s.Close)
	mailServers.Store(ts.Getenv("WORK"), s)
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), s.PEM, 0o600))
	ts.Setenv("SSL_CERT_FILE", ts.MkAbs("ca.pem"))
	ts.Setenv("SERVICE_SMTP_URL", "smtp://grc@"+s.Addr)
	ts.Setenv("SERVICE_SMTP_FROM", "Acme GRC <grc@acme.example>")
	ts.Setenv("SERVICE_SMTP_PASSWORD", "a hidden sentence")
}

// writeMails waits for the given number of emails and writes them, decoded, to mail1.txt and so on.
func writeMails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mails COUNT")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	started, ok := mailServers.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("start a mail-server first")
	}
	s := started.(*smtptest.Server)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if !s.Wait(ctx, n) || len(s.Mails()) != n {
		ts.Fatalf("there are %d mails", len(s.Mails()))
	}
	for i, m := range s.Mails() {
		msg, err := netmail.ReadMessage(strings.NewReader(m.Data))
		ts.Check(err)
		subject, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject"))
		ts.Check(err)
		// Each part is quoted-printable. The text between the parts is not changed by decoding.
		body, err := io.ReadAll(
			quotedprintable.NewReader(
				strings.NewReader(strings.ReplaceAll(m.Data[strings.Index(m.Data, "\r\n\r\n"):], "boundary=", "boundary")),
			),
		)
		if err != nil {
			body = []byte(m.Data)
		}
		text := fmt.Sprintf("to: %s\nencrypted: %v\nuser: %s\nsubject: %s\n%s", strings.Join(m.To, ", "), m.TLS, m.User, subject, body)
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("mail%d.txt", i+1)), []byte(text), 0o600))
	}
}
