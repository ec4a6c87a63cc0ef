package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// output is what a program of the command adapter writes.
type output struct {
	Session *string         `json:"session"`
	Answer  json.RawMessage `json:"answer"`
	Usage   *usage          `json:"usage"`
}

type usage struct {
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
}

// maxSession bounds a session's name, in bytes.
const maxSession = 500

// decodeOutput reads exactly one answer document. Violations are sentences for
// the repair turn; session and usage are read even then, as far as they make
// sense.
func decodeOutput(raw []byte, redact func(string) string) (Result, []string) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return Result{}, []string{"no answer on standard output"}
	case !utf8.Valid(raw):
		return Result{}, []string{"the standard output is not valid UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var out output
	if err := d.Decode(&out); err != nil {
		return Result{}, []string{fmt.Sprintf("the standard output is not one JSON document with session, answer and usage: %s (it begins with %q)", clip(redact(err.Error()), 200), clip(redact(head(raw)), 60))}
	}
	var violations []string
	rest := raw[d.InputOffset():]
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		violations = append(violations, fmt.Sprintf("text follows the answer document: %q", clip(redact(head(bytes.TrimSpace(rest))), 60)))
	}
	if len(out.Answer) == 0 || string(out.Answer) == "null" {
		violations = append(violations, "the answer document has no answer")
	}
	res := Result{Answer: out.Answer}
	if s := out.Session; s != nil {
		if len(*s) > maxSession || strings.ContainsFunc(*s, unicode.IsControl) {
			violations = append(violations, fmt.Sprintf("session must be one line of at most %d bytes", maxSession))
		} else {
			res.Session = *s
		}
	}
	if u := out.Usage; u != nil {
		if u.InputTokens < 0 || u.OutputTokens < 0 || u.CostUSD < 0 || math.IsInf(u.CostUSD, 0) || u.CostUSD > 1e6 {
			violations = append(violations, "usage must not be negative, nor more than can be")
		} else {
			res.Usage = work.Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD}
		}
	}
	return res, violations
}

// head is enough of an output to quote 60 characters of it after redaction.
func head(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 4<<10)]), "") }
