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

// MaxStream is the size of output, in bytes, at which an agent that prints events is stopped: it
// includes the output of every command.
const MaxStream = 64 << 20

// uuid matches the provider's session ids. Another form might name something else than a session.
var uuid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`) })

// IsSession reports whether name has the form of a provider's session id.
func IsSession(name string) bool { return uuid().MatchString(name) }

// EachLine reads a stream of JSON objects, one per line. It skips other lines: new versions print
// more kinds.
func EachLine[T any](stream []byte, take func(T)) {
	for line := range bytes.Lines(stream) {
		var v T
		if json.Unmarshal(line, &v) == nil {
			take(v)
		}
	}
}

// AnswerOf parses an agent's last message as its answer: one JSON value and nothing else.
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

// Quote returns the beginning of an agent's message, without secrets.
func (s Spec) Quote(words string) string { return Clip(s.Redact(Head([]byte(words))), 60) }

// Failed returns the error of a run that failed for a reason that no field names.
func (s Spec) Failed(code int, words string, stderr []byte) error {
	if strings.TrimSpace(words) == "" {
		words = string(stderr)
	}
	return &FailedError{Agent: s.Name, Code: code, Stderr: s.Redact(strings.ToValidUTF8(words, "\uFFFD"))}
}

// Head returns enough of an output to quote 60 characters after redaction.
func Head(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 4<<10)]), "") }
