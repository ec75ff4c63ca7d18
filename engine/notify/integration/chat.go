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

type jsonObject = map[string]any

// sendChatMessage posts a message to Slack or Teams.
func (s *Service) sendChatMessage(ctx context.Context, set *settings, m *message) (int, error) {
	asText := func(b []byte) string { return string(b) } // incoming webhooks respond in plain text
	switch {
	case set.Type == "teams":
		return toDeliveryResult(
			s.newAPIClient(set, set.secrets["webhook_url"], nil, asText).doJSON(ctx, http.MethodPost, "", nil, teamsMessage(m), nil),
		)
	case set.secrets["webhook_url"] != "":
		return toDeliveryResult(
			s.newAPIClient(set, set.secrets["webhook_url"], nil, asText).doJSON(ctx, http.MethodPost, "", nil, slackMessage(m), nil),
		)
	}
	body := slackMessage(m)
	body["channel"] = set.text("channel")
	body["metadata"] = jsonObject{"event_type": "service_event", "event_payload": jsonObject{"id": m.ID, "type": m.Type}}
	var reply struct {
		OK       bool   `json:"ok"`
		Error    string `json:"error"`
		Metadata struct {
			Messages []string `json:"messages"`
		} `json:"response_metadata"`
	}
	header := http.Header{"Authorization": {"Bearer " + set.secrets["token"]}, "Content-Type": {"application/json; charset=utf-8"}}
	c := s.newAPIClient(set, set.text("url"), header, asText)
	answer, err := c.doJSON(ctx, http.MethodPost, "/chat.postMessage", nil, body, &reply)
	status, err := toDeliveryResult(answer, err)
	if err != nil || reply.OK {
		return status, err
	}
	reason := c.redact(netguard.SanitizeLine("Slack responded: " + strings.Join(append([]string{reply.Error}, reply.Metadata.Messages...), "; ")))
	return status, &delivery.SendError{Reason: reason, Permanent: permanentSlackErrors[reply.Error]}
}

// permanentSlackErrors lists the Slack errors that only a change of the integration's settings can fix. Slack sends
// them with status 200. Without this list, deliveries that fail with them would be retried for a day.
var permanentSlackErrors = map[string]bool{
	"channel_not_found": true,
	"is_archived":       true,
	"account_inactive":  true,
	"token_revoked":     true,
	"token_expired":     true,
	"invalid_auth":      true,
	"not_authed":        true,
	"no_permission":     true,
	"missing_scope":     true,
	"not_in_channel":    true,
}

var slackEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackMessage returns a Slack message. All its parts are plain text, so names can neither mention
// people nor add formatting.
func slackMessage(m *message) jsonObject {
	plainText := func(text string) jsonObject { return jsonObject{"type": "plain_text", "text": text, "emoji": false} }
	return jsonObject{
		"text":         slackEscaper.Replace(m.Title + ": " + m.Text),
		"unfurl_links": false, "unfurl_media": false,
		"blocks": []jsonObject{
			{"type": "section", "text": plainText(m.Title)},
			{"type": "section", "text": plainText(m.Text)},
			{"type": "context", "elements": []jsonObject{plainText(m.Type + " · " + m.At.Format(time.RFC3339) + " · " + m.ID)}},
		},
	}
}

// teamsMessage returns an adaptive card for Teams. Its strings are text runs, because these are not
// parsed as Markdown.
func teamsMessage(m *message) jsonObject {
	run := func(text string, more jsonObject) jsonObject {
		out := jsonObject{"type": "TextRun", "text": text}
		for k, v := range more {
			out[k] = v
		}
		return jsonObject{"type": "RichTextBlock", "inlines": []jsonObject{out}}
	}
	return jsonObject{"type": "message", "attachments": []jsonObject{{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil,
		"content": jsonObject{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"fallbackText": m.Title + ": " + m.Text,
			"body": []jsonObject{
				run(m.Title, jsonObject{"weight": "Bolder", "size": "Medium"}),
				run(m.Text, nil),
				run(m.Type+" · "+m.At.Format(time.RFC3339)+" · "+m.ID, jsonObject{"isSubtle": true, "size": "Small"}),
			},
		},
	}}}
}

// sendGenericEvent sends the event unchanged, with the custom headers that the organization has set.
func (s *Service) sendGenericEvent(ctx context.Context, set *settings, id string, payload []byte) (int, error) {
	header := http.Header{}
	for name, value := range set.pairs("headers") {
		header.Set(name, value)
	}
	for name, value := range set.secrets {
		header.Set(name, value)
	}
	header.Set("Idempotency-Key", id)
	c := s.newAPIClient(set, set.text("url"), header, nil)
	c.base = set.text("url") // unchanged, including a trailing slash
	return toDeliveryResult(c.doJSON(ctx, set.text("method"), "", nil, rawJSON(payload), nil))
}

// rawJSON is JSON that is sent as it is.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return nil, errors.New("the payload is empty")
	}
	return r, nil
}
