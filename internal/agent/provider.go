package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// These translate a provider's errors for every agent: the turn waits, or a person must act.

// TooMany is the reason of a wait after HTTP status 429.
const TooMany = "the provider answers that there were too many requests"

// Pauses if the provider does not name one, and the bounds of those it names.
const (
	PauseBusy  = 5 * time.Minute  // too many requests, or the provider is down
	PauseLimit = 15 * time.Minute // the paid quota is used up
	pauseLeast = time.Minute      // the program itself has already retried
	pauseMost  = time.Hour        // then retry anyway: limits are raised, and clocks differ
)

// Wait returns the error of a turn that must wait until a time; guess is used if it is unknown.
func (s Spec) Wait(why string, until time.Time, guess time.Duration) error {
	now, reason := s.Now(), work.Reason{Kind: work.WhyProvider, Who: s.Name, Text: why}
	switch {
	case !until.After(now):
		until = now.Add(guess)
	case until.Before(now.Add(pauseLeast)):
		until = now.Add(pauseLeast)
	case until.After(now.Add(pauseMost)):
		reason.At = until.UnixMilli()
		until = now.Add(pauseMost)
	}
	return &work.WaitError{Until: until, Reason: reason}
}

// After returns the time after d; the zero time if d is unknown.
func (s Spec) After(d time.Duration) time.Time {
	if d <= 0 {
		return time.Time{}
	}
	return s.Now().Add(d)
}

// LoggedOut reports that the provider does not accept the account.
func (s Spec) LoggedOut(words, login string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentLoggedOut, Who: s.Name, Local: s.Cite(words), Advice: login}}
}

// OutOfCredit reports that the credit is used up: waiting does not help.
func (s Spec) OutOfCredit(words string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentNoCredit, Who: s.Name, Local: s.Cite(words)}}
}

// WrongModel reports that the provider has no such model for this account.
func (s Spec) WrongModel(words string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentNoModel, Who: s.Name, Name: s.Model, Local: s.Cite(words)}}
}

// rejected reports that the provider refuses the request itself: the same request would be refused
// again. code is the provider's name for the reason, if it has one. The message goes to GitHub as
// well, without addresses and as a span of code, because people may have to ask for something else.
func (s Spec) rejected(code, words, advice string) error {
	said := strings.ReplaceAll(strings.Join(strings.Fields(s.Cite(words)), " "), "`", "'")
	public := address().ReplaceAllString(said, "[address]")
	reason := work.Reason{Kind: work.WhyAgentRejected, Who: s.Name, Text: cmp.Or(public, "it gave no reason"), Advice: advice}
	if codeName().MatchString(code) {
		reason.Name = code
	}
	if public != said {
		reason.Local = said
	}
	return &work.BlockedError{Reason: reason}
}

// Refused requests are changed either in the config or on GitHub.
const (
	otherRequest = "ask for something else, or correct model or args of [agents.%s] in the config"
	largerModel  = "ask for less, or choose a model with a larger context window (model of [agents.%s] in the config)"
)

// Invalid reports a refusal as rejected does, for a request that the provider calls invalid, or a failure that it calls by a
// name that we do not know. In an old session, the earlier conversation may be the reason.
func (s Spec) Invalid(r Request, code, words string) error {
	if r.Session != "" {
		return &SessionError{Agent: s.Name, Reason: "the provider refused the request: " + s.Cite(words)}
	}
	return s.rejected(code, words, fmt.Sprintf(otherRequest, s.Name))
}

// Full reports that the conversation exceeds the model's context window. A new session may fit into
// it; if there was no earlier one, the task itself does not.
func (s Spec) Full(r Request, words string) error {
	if r.Session != "" {
		return &SessionError{Agent: s.Name, Reason: "its context window is full"}
	}
	return s.rejected("", words, fmt.Sprintf(largerModel, s.Name))
}

var (
	codeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_. -]{1,40}$`) })
	// address matches URLs and hosts with a port, which may be private.
	address = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[a-z]+://[^\s"']+|\b[A-Za-z0-9][A-Za-z0-9.-]*:[0-9]{2,5}\b`)
	})
)

// Retryable reports whether an HTTP status other than 429 is worth a later try of the same request.
func Retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return true
	}
	return status >= http.StatusInternalServerError
}

// Cite quotes a provider's message: short, without secrets and final full stop. It may name the
// provider's address or advice that only fits this machine, so it goes to the operator, not to
// GitHub.
func (s Spec) Cite(words string) string {
	return strings.TrimRight(Clip(s.Redact(providerWords(words)), 200), ".")
}

// Refused reports that the model refused. In an old session, the earlier conversation may be the
// reason.
func (s Spec) Refused(r Request, words string) error {
	if r.Session != "" {
		return &SessionError{Agent: s.Name, Reason: "the model refused to continue"}
	}
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentDeclined, Who: s.Name, Local: s.Cite(words)}}
}

// providerWords extracts the message of a JSON error; other text is returned unchanged.
func providerWords(words string) string {
	var body struct {
		Detail string `json:"detail"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(words), &body) != nil {
		return words
	}
	return cmp.Or(body.Detail, body.Error.Message, words)
}

// Login tells whether a program is logged in at its provider, according to its files and
// environment. Nothing is started and nobody is asked.
type Login struct {
	Known bool   // false: it may be either
	In    bool   // as far as known: whether the provider accepts it shows only in use
	Says  string // one line
	Do    string // the command that logs it in

	Keychain bool // it is in the keychain of macOS, if there is one
}

// maxLoginFile bounds how much of a program's settings is read, in bytes.
const maxLoginFile = 1 << 20

// LoginOf returns the login of an agent; an unknown program has an unknown one.
func LoginOf(s Spec) Login {
	if s.Adapter.Login == nil {
		return Login{Says: "a program of your own: gh mergexo cannot tell"}
	}
	return s.Adapter.Login(s)
}

// FirstSet returns the first of these variables that is set; "" if none is.
func FirstSet(environ []string, names ...string) string {
	for _, name := range names {
		if Lookup(environ, name) != "" {
			return name
		}
	}
	return ""
}

// ReadHome reads a file in a program's home folder; "" if it is missing, not a regular file or too
// large.
func (s Spec) ReadHome(name string) string {
	for _, dir := range s.Adapter.Homes(s.Environ) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxLoginFile {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			return string(text)
		}
	}
	return ""
}
