package agent

import (
	"cmp"
	"encoding/json"
	"strings"
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
