package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxStream is the size in bytes at which an agent that tells what it does is
// ended: it tells the output of every command that it runs.
const maxStream = 64 << 20

// uuid is the form of the provider's session names. Another form may name
// something else than the session that we mean.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// eachLine reads a stream of JSON objects, one a line. What is no object of
// this kind is passed over: programs say more from version to version.
func eachLine[T any](stream []byte, take func(T)) {
	for line := range bytes.Lines(stream) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			take(v)
		}
	}
}

// answerOf takes an agent's last words for its answer: one JSON value and
// nothing else.
func (s Spec) answerOf(words string) (json.RawMessage, []string) {
	words = strings.TrimSpace(words)
	switch {
	case words == "":
		return nil, []string{"the final message is empty; it must be the answer"}
	case !utf8.ValidString(words):
		return nil, []string{"the final message is not valid UTF-8"}
	}
	d := json.NewDecoder(strings.NewReader(words))
	var answer json.RawMessage
	if err := d.Decode(&answer); err != nil {
		return nil, []string{fmt.Sprintf("the final message is not one JSON object by the schema (it begins with %q)", s.quote(words))}
	}
	rest := words[d.InputOffset():]
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, []string{fmt.Sprintf("text follows the answer: %q", s.quote(strings.TrimSpace(rest)))}
	}
	return answer, nil
}

// quote is the beginning of what an agent said, without secrets.
func (s Spec) quote(words string) string { return clip(s.Redact(head([]byte(words))), 60) }

// failed reports a run that ended badly, for a reason that no field tells.
func (s Spec) failed(code int, words string, stderr []byte) error {
	if strings.TrimSpace(words) == "" {
		words = string(stderr)
	}
	return &FailedError{Agent: s.Name, Code: code, Stderr: s.Redact(strings.ToValidUTF8(words, "\uFFFD"))}
}

// full reports that the conversation fits no longer into the model's window.
func (s Spec) full(r Request, code int, words string) error {
	if r.Session != "" {
		return &SessionError{Agent: s.Name, Reason: "its context window is full"}
	}
	return s.failed(code, words, nil)
}

// least is a difference of counters, which never go back.
func least(now, before int64) int64 { return max(now-before, 0) }
