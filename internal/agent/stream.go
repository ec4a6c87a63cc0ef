package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxStream is the size in bytes at which an agent that tells what it does is
// ended: it tells the output of every command that it runs.
const MaxStream = 64 << 20

// uuid is the form of the provider's session names. Another form may name
// something else than the session that we mean.
var uuid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`) })

// IsSession reports whether a provider may have named a session so.
func IsSession(name string) bool { return uuid().MatchString(name) }

// EachLine reads a stream of JSON objects, one a line. What is no object of
// this kind is passed over: programs say more from version to version.
func EachLine[T any](stream []byte, take func(T)) {
	for line := range bytes.Lines(stream) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			take(v)
		}
	}
}

// AnswerOf takes an agent's last words for its answer: one JSON value and
// nothing else.
func (s Spec) AnswerOf(words string) (json.RawMessage, []string) {
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
		return nil, []string{fmt.Sprintf("the final message is not one JSON object by the schema (it begins with %q)", s.Quote(words))}
	}
	rest := words[d.InputOffset():]
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, []string{fmt.Sprintf("text follows the answer: %q", s.Quote(strings.TrimSpace(rest)))}
	}
	return answer, nil
}

// Quote is the beginning of what an agent said, without secrets.
func (s Spec) Quote(words string) string { return Clip(s.Redact(Head([]byte(words))), 60) }

// Failed reports a run that ended badly, for a reason that no field tells.
func (s Spec) Failed(code int, words string, stderr []byte) error {
	if strings.TrimSpace(words) == "" {
		words = string(stderr)
	}
	return &FailedError{Agent: s.Name, Code: code, Stderr: s.Redact(strings.ToValidUTF8(words, "\uFFFD"))}
}

// Full reports that the conversation fits no longer into the model's window.
func (s Spec) Full(r Request, code int, words string) error {
	if r.Session != "" {
		return &SessionError{Agent: s.Name, Reason: "its context window is full"}
	}
	return s.Failed(code, words, nil)
}

// Head is enough of an output to quote 60 characters of it after redaction.
func Head(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 4<<10)]), "") }
