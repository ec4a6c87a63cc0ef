package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// usage is what a program of the command adapter reports as consumed.
type usage struct {
	InputTokens  agent.Count `json:"input_tokens"`
	OutputTokens agent.Count `json:"output_tokens"`
	CostUSD      agent.Count `json:"cost_usd"`
}

// maxSession bounds a session's name, in bytes.
const maxSession = 500

// decodeOutput reads exactly one answer document. Violations are sentences for the repair turn;
// even with violations, session and usage are returned if valid. Invalid usage does not invalidate
// an answer.
func decodeOutput(raw []byte, redact func(string) string) (agent.Result, []string) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return agent.Result{}, []string{"no answer on standard output"}
	case !utf8.Valid(raw):
		return agent.Result{}, []string{"the standard output is not valid UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	out, err := members(d, "session", "answer", "usage")
	if err != nil {
		return agent.Result{}, []string{fmt.Sprintf("the standard output is not one JSON document with session, answer and usage: %s (it begins with %q)", agent.Clip(redact(err.Error()), 200), agent.Clip(redact(agent.Head(raw)), 60))}
	}
	var violations []string
	rest := raw[d.InputOffset():]
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		violations = append(violations, fmt.Sprintf("text follows the answer document: %q", agent.Clip(redact(agent.Head(bytes.TrimSpace(rest))), 60)))
	}
	res := agent.Result{Answer: out["answer"]}
	res.Usage, res.Known = readUsage(out["usage"])
	if len(res.Answer) == 0 || string(res.Answer) == "null" {
		violations = append(violations, "the answer document has no answer")
	}
	if res.Session, err = readSession(out["session"]); err != nil {
		violations = append(violations, err.Error())
	}
	return res, violations
}

// members reads an object that has only these keys, each at most once and in this spelling: package
// json would accept "ANSWER" for "answer", and the last of two.
func members(d *json.Decoder, known ...string) (map[string]json.RawMessage, error) {
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.Join(err, errors.New("it is no object"))
	}
	out := map[string]json.RawMessage{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string)
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("unknown field %q", agent.Clip(key, 40))
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("field %q stands twice", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		out[key] = value
	}
	_, err := d.Token()
	return out, err
}

func readSession(raw json.RawMessage) (string, error) {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	err := json.Unmarshal(raw, &s)
	if err != nil || len(s) > maxSession || strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("session must be null or one line of at most %d bytes", maxSession)
	}
	return s, nil
}

// readUsage reads usage. What is absent or unreadable is unknown; values that are too large become
// the maximum.
func readUsage(raw json.RawMessage) (work.Usage, work.Known) {
	var u usage
	_ = json.Unmarshal(raw, &u) // if it is no object, it holds no count
	return work.Usage{InputTokens: u.InputTokens.Tokens(), OutputTokens: u.OutputTokens.Tokens(), CostUSD: u.CostUSD.Cost()},
		work.Known{Tokens: u.InputTokens.Known && u.OutputTokens.Known, Cost: u.CostUSD.Known}
}
