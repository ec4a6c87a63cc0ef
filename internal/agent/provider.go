package agent

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What a provider's answer means for a turn is the same for every agent: it is
// too early, or a person must act.

// TooMany is why an agent waits whose provider answers 429.
const TooMany = "the provider answers that there were too many requests"

// Pauses where nobody says for how long a limit lasts, and the bounds of what is
// said.
const (
	PauseBusy  = 5 * time.Minute  // too many requests, a provider that is down
	PauseLimit = 15 * time.Minute // what was paid for is used up
	pauseLeast = time.Minute      // the program itself has waited and tried again before
	pauseMost  = time.Hour        // then it is tried: limits are raised, and clocks differ
)

// Wait says that it is too early; a time that is not known is guessed.
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

// In is a time from now; what is not known stays so.
func (s Spec) In(d time.Duration) time.Time {
	if d <= 0 {
		return time.Time{}
	}
	return s.Now().Add(d)
}

// LoggedOut reports that the provider knows no such account.
func (s Spec) LoggedOut(words, login string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentLoggedOut, Who: s.Name, Local: s.Cite(words), Advice: login}}
}

// OutOfCredit reports that nothing is left to pay with: time alone changes
// nothing.
func (s Spec) OutOfCredit(words string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentNoCredit, Who: s.Name, Local: s.Cite(words)}}
}

// WrongModel reports that the provider has no such model for this account.
func (s Spec) WrongModel(words string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentNoModel, Who: s.Name, Name: s.Model, Local: s.Cite(words)}}
}

// Cite is what a provider says. It may name the provider's address, or give
// advice that only fits the machine: it is for the operator, not for GitHub. It is
// short, without secrets and without its full stop.
func (s Spec) Cite(words string) string {
	return strings.TrimRight(Clip(s.Redact(providerWords(words)), 200), ".")
}

// Refused reports that the model does not want to. In an old session that may
// be because of what was said before.
func (s Spec) Refused(r Request, words string) error {
	if r.Session != "" {
		return &SessionError{Agent: s.Name, Reason: "the model refused to continue"}
	}
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentDeclined, Who: s.Name, Local: s.Cite(words)}}
}

// providerWords are the sentence of an error that came as JSON; other text is
// that already.
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
