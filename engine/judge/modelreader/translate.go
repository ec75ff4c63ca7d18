package modelreader

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/scf-service/service/engine/llm"
)

//go:embed prompts/translator.md
var translatorFile string

var translatorInstructions = func() string {
	_, body, _ := strings.Cut(translatorFile, "\n\n")
	return strings.TrimSpace(body)
}()

var translationSchema = json.RawMessage(`{"type":"object","properties":{"translations":{"type":"array","items":{"type":"string"}}},` +
	`"required":["translations"],"additionalProperties":false}`)

// TranslationBatch is the number of statements translated in one request.
const TranslationBatch = 10

// maxTranslation is the maximum length of a translation in bytes.
const maxTranslation = 4000

func translationRequest(language string, statements []string, seed int) llm.Request {
	lines := make([]string, len(statements))
	length := 0
	for i, s := range statements {
		lines[i] = oneLine(s)
		length += len(s)
	}
	list, _ := json.Marshal(lines) // strings only: no error
	return llm.Request{
		System: translatorInstructions, User: fmt.Sprintf("Language: %s\n\n%s", language, list), Schema: translationSchema,
		MaxTokens: baseAnswerTokens + length, Seed: seed,
	}
}

// EstimateTranslation estimates the requests and tokens needed to translate statements into a language.
func EstimateTranslation(language string, statements []string) (e Estimate) {
	for ; len(statements) > 0; statements = statements[min(TranslationBatch, len(statements)):] {
		r := translationRequest(language, statements[:min(TranslationBatch, len(statements))], 0)
		e.Calls++
		e.PromptTokens += requestSize(r) / usualBytesPerToken
		e.CompletionTokens += len(r.User) / bytesPerToken
	}
	return e
}

// Translate translates up to TranslationBatch statements into the language with the given English name. A statement
// without a valid answer is sent once more on its own; if that fails too, its translation is "". Translate returns an
// error in the same cases as Read.
func (r *Reader) Translate(ctx context.Context, language string, statements []string) ([]string, error) {
	out, err := r.translateOnce(ctx, language, statements, llm.DefaultSeed)
	if err != nil || out != nil {
		return out, err
	}
	out = make([]string, len(statements))
	for i := range statements {
		one, err := r.translateOnce(ctx, language, statements[i:i+1], llm.DefaultSeed+1)
		if err != nil {
			return nil, err
		}
		if one != nil {
			out[i] = one[0]
		}
	}
	return out, nil
}

// translateOnce asks the model once for a translation of the statements. It returns nil if the answer is not valid.
func (r *Reader) translateOnce(ctx context.Context, language string, statements []string, seed int) ([]string, error) {
	text, err := r.send(ctx, translationRequest(language, statements, seed), nil)
	if errors.Is(err, llm.ErrContextExceeded) || errors.Is(err, llm.ErrAnswerTooLong) || errors.Is(err, llm.ErrInvalidResponse) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var answer struct{ Translations []string }
	if json.Unmarshal([]byte(text), &answer) != nil || len(answer.Translations) != len(statements) {
		return nil, nil
	}
	for i, t := range answer.Translations {
		if t = oneLine(t); t == "" || len(t) > maxTranslation {
			return nil, nil
		}
		answer.Translations[i] = t
	}
	return answer.Translations, nil
}
