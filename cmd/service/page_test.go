package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// openPage implements the command "page FILE PATH": it opens the link in FILE as a browser does, then the page at
// PATH, and saves that page as page.html. With "!", the page must be rejected.
func openPage(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: page FILE PATH")
	}
	link, err := url.Parse(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	browser := &http.Client{Jar: jar}
	get := func(address string) (status int, body []byte) {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		ts.Check(err)
		req.Header.Set("Accept", "text/html")
		resp, err := browser.Do(req)
		ts.Check(err)
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
		ts.Check(err)
		return resp.StatusCode, body
	}
	get(link.String())
	status, body := get(link.ResolveReference(&url.URL{Path: args[1]}).String())
	ts.Check(os.WriteFile(ts.MkAbs("page.html"), body, 0o600))
	if ok := status == http.StatusOK; ok == neg {
		ts.Fatalf("%s answers %s", args[1], fmt.Sprint(status))
	}
}
