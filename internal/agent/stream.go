package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxStream is the size in bytes at which an agent that tells what it does is
// ended: it tells the output of every command that it runs.
const maxStream = 64 << 20

// Pauses where nobody says for how long a limit lasts.
const (
	pauseBusy  = 5 * time.Minute  // too many requests, a provider that is down
	pauseLimit = 15 * time.Minute // what was paid for is used up
)

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

// wait says that it is too early; a time that is not known is guessed.
func (s Spec) wait(why string, until time.Time, guess time.Duration) error {
	now := s.Now()
	if !until.After(now) {
		until = now.Add(guess)
	}
	return &work.WaitError{Until: until, Reason: fmt.Sprintf("agent %q: %s", s.Name, why)}
}

// failed reports a run that ended badly, for a reason that no field tells.
func (s Spec) failed(code int, words string, stderr []byte) error {
	if strings.TrimSpace(words) == "" {
		words = string(stderr)
	}
	return &FailedError{Agent: s.Name, Code: code, Stderr: s.Redact(strings.ToValidUTF8(words, "\uFFFD"))}
}

// loggedOut reports that the provider knows no such account.
func (s Spec) loggedOut(words, login string) error {
	return &work.BlockedError{
		Reason: fmt.Sprintf("The provider of agent %q refused its credentials: %s.", s.Name, strings.TrimRight(clip(s.Redact(words), 200), ".")),
		Hint:   fmt.Sprintf("%s, or name the variable that holds the key in env_pass of [agents.%s], on the machine that runs gh mergexo; then comment to have it tried again", login, s.Name),
	}
}

// refused reports that the model does not want to. In an old session that may
// be because of what was said before.
func (s Spec) refused(r Request, words string) error {
	if r.Session != "" {
		return &SessionError{Agent: s.Name, Reason: "the model refused to go on"}
	}
	return &work.BlockedError{
		Reason: fmt.Sprintf("The model of agent %q refused the task: %s", s.Name, clip(s.Redact(words), 200)),
		Hint:   "say differently what is wanted, in a comment, or choose another agent for the repository",
	}
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
