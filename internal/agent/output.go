package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// usage is what a program of the command adapter says that it consumed.
type usage struct {
	InputTokens  float64 `json:"input_tokens"`
	OutputTokens float64 `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
}

// maxSession bounds a session's name, in bytes.
const maxSession = 500

// decodeOutput reads exactly one answer document. Violations are sentences for
// the repair turn; session and usage are read even then, as far as they make
// sense. What was used is bookkeeping: nonsense there costs no answer.
func decodeOutput(raw []byte, redact func(string) string) (Result, []string) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return Result{}, []string{"no answer on standard output"}
	case !utf8.Valid(raw):
		return Result{}, []string{"the standard output is not valid UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	out, err := members(d, "session", "answer", "usage")
	if err != nil {
		return Result{}, []string{fmt.Sprintf("the standard output is not one JSON document with session, answer and usage: %s (it begins with %q)", clip(redact(err.Error()), 200), clip(redact(head(raw)), 60))}
	}
	var violations []string
	rest := raw[d.InputOffset():]
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		violations = append(violations, fmt.Sprintf("text follows the answer document: %q", clip(redact(head(bytes.TrimSpace(rest))), 60)))
	}
	res := Result{Answer: out["answer"], Usage: readUsage(out["usage"])}
	if len(res.Answer) == 0 || string(res.Answer) == "null" {
		violations = append(violations, "the answer document has no answer")
	}
	if res.Session, err = readSession(out["session"]); err != nil {
		violations = append(violations, err.Error())
	}
	return res, violations
}

// members reads an object that may have these keys, each once and written so:
// package json would take "ANSWER" for "answer", and the last of two.
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
			return nil, fmt.Errorf("unknown field %q", clip(key, 40))
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

// The most that one run can have used; more is a mistake of the program's, or a
// lie, and counts as so much: as nothing it would get round every budget.
const (
	maxTokens = 1e12
	maxCost   = 1e6
)

// readUsage reads what was used: nothing where that makes no sense, and the most
// where it is too much.
func readUsage(raw json.RawMessage) work.Usage {
	var u usage
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return work.Usage{}
	}
	return work.Usage{
		InputTokens: int64(bounded(u.InputTokens, maxTokens)), OutputTokens: int64(bounded(u.OutputTokens, maxTokens)), CostUSD: bounded(u.CostUSD, maxCost),
	}
}

func sane(n, most float64) float64 {
	if math.IsNaN(n) || n < 0 || n > most {
		return 0
	}
	return n
}

// bounded is a count as it may be added up.
func bounded(n, most float64) float64 { return sane(min(n, most), most) }

// head is enough of an output to quote 60 characters of it after redaction.
func head(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 4<<10)]), "") }
