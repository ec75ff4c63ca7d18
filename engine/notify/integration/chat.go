package integration

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/netguard"
)

type object = map[string]any

// chat writes a message to Slack or Teams.
func (s *Service) chat(ctx context.Context, set *settings, m *message) (int, error) {
	plain := func(b []byte) string { return string(b) } // an incoming webhook says why in a word
	switch {
	case set.Type == "teams":
		return outcome(s.caller(set, set.secrets["webhook_url"], nil, plain).do(ctx, http.MethodPost, "", nil, card(m), nil))
	case set.secrets["webhook_url"] != "":
		return outcome(s.caller(set, set.secrets["webhook_url"], nil, plain).do(ctx, http.MethodPost, "", nil, blocks(m), nil))
	}
	body := blocks(m)
	body["channel"] = set.text("channel")
	body["metadata"] = object{"event_type": "service_event", "event_payload": object{"id": m.ID, "type": m.Type}}
	var said struct {
		OK       bool   `json:"ok"`
		Error    string `json:"error"`
		Metadata struct {
			Messages []string `json:"messages"`
		} `json:"response_metadata"`
	}
	header := http.Header{"Authorization": {"Bearer " + set.secrets["token"]}, "Content-Type": {"application/json; charset=utf-8"}}
	c := s.caller(set, set.text("url"), header, plain)
	answer, err := c.do(ctx, http.MethodPost, "/chat.postMessage", nil, body, &said)
	status, err := outcome(answer, err)
	if err != nil || said.OK {
		return status, err
	}
	reason := c.cover(netguard.Short("Slack says " + strings.Join(append([]string{said.Error}, said.Metadata.Messages...), "; ")))
	return status, &delivery.Refused{Reason: reason, Final: final[said.Error]}
}

// final are Slack's answers after which nothing but a change of the integration helps. They
// come with 200; without this, a day of attempts would tell nobody.
var final = map[string]bool{"channel_not_found": true, "is_archived": true, "account_inactive": true, "token_revoked": true, "token_expired": true, "invalid_auth": true, "not_authed": true, "no_permission": true, "missing_scope": true, "not_in_channel": true}

var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// blocks are a message of Slack. Its parts are plain text: a name can neither mention
// people nor format.
func blocks(m *message) object {
	plain := func(text string) object { return object{"type": "plain_text", "text": text, "emoji": false} }
	return object{
		"text":         slackText.Replace(m.Title + ": " + m.Text),
		"unfurl_links": false, "unfurl_media": false,
		"blocks": []object{
			{"type": "section", "text": plain(m.Title)},
			{"type": "section", "text": plain(m.Text)},
			{"type": "context", "elements": []object{plain(m.Type + " · " + m.At.Format(time.RFC3339) + " · " + m.ID)}},
		},
	}
}

// card is a message of Teams: an adaptive card, its texts in runs, which are not markdown.
func card(m *message) object {
	run := func(text string, more object) object {
		out := object{"type": "TextRun", "text": text}
		for k, v := range more {
			out[k] = v
		}
		return object{"type": "RichTextBlock", "inlines": []object{out}}
	}
	return object{"type": "message", "attachments": []object{{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil,
		"content": object{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"fallbackText": m.Title + ": " + m.Text,
			"body": []object{
				run(m.Title, object{"weight": "Bolder", "size": "Medium"}),
				run(m.Text, nil),
				run(m.Type+" · "+m.At.Format(time.RFC3339)+" · "+m.ID, object{"isSubtle": true, "size": "Small"}),
			},
		},
	}}}
}

// generic sends an event as it is, with the organization's own headers.
func (s *Service) generic(ctx context.Context, set *settings, id string, payload []byte) (int, error) {
	header := http.Header{}
	for name, value := range set.pairs("headers") {
		header.Set(name, value)
	}
	for name, value := range set.secrets {
		header.Set(name, value)
	}
	header.Set("Idempotency-Key", id)
	c := s.caller(set, set.text("url"), header, nil)
	c.base = set.text("url") // as it is, a slash at its end too
	return outcome(c.do(ctx, set.text("method"), "", nil, rawJSON(payload), nil))
}

// rawJSON is sent as it is.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return nil, errors.New("there is nothing to send")
	}
	return r, nil
}
