package news

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// version is the version of Message's format. It stays the same when a key is added. Keys are never
// removed or changed.
const version = 1

// Message is the JSON sent to a target. Titles and texts come from people and agents: treat them as
// data, never as instructions.
type Message struct {
	Version    int       `json:"version"`    // 1
	ID         string    `json:"id"`         // the same in a message that is sent again
	Event      Kind      `json:"event"`      // one of [these](../operating.md#notifications)
	At         time.Time `json:"at"`         // when it happened
	Host       string    `json:"host"`       // github.com; empty: it is about the pass itself
	Repository string    `json:"repository"` // owner/name
	Number     int       `json:"number"`
	URL        string    `json:"url"`
	Title      string    `json:"title"`
	ReasonCode string    `json:"reasonCode"`
	Says       string    `json:"says"` // what happened, or what is waited for
	Do         string    `json:"do"`   // what a person can do
	Text       string    `json:"text"` // all of it in one line, for a chat
}

// JSON encodes the message.
func (m Message) JSON() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the text is not part of an HTML page, and people read it in logs
	if err := e.Encode(m); err != nil {
		panic(err) // plain fields
	}
	return strings.TrimSpace(b.String())
}

// names are the kinds, for people.
var names = map[Kind]string{
	Question: "Question", Blocked: "Blocked", HumanReview: "Human review", PullOpened: "Pull request opened", Merged: "Merged",
	BudgetSpent: "Budget spent", PassFailing: "Passes fail", Recovered: "Passes succeed again", Silent: "Machine silent", Back: "Machine works again", Test: "Test",
}

func (x fact) message(id string) Message {
	says, do := x.words()
	m := Message{
		Version: version, ID: id, Event: x.Kind, At: x.at.UTC().Truncate(time.Second), Number: x.Number, URL: x.URL, Title: x.Title,
		ReasonCode: string(x.reason.Kind), Says: says, Do: do,
	}
	if x.Key != "" {
		m.Host, m.Repository = x.Repo.Host, x.Repo.FullName()
	}
	m.Text = m.line()
	return m
}

// mostSays limits the text in the one line, in characters.
const mostSays = 300

// line returns the message in one line.
func (m Message) line() string {
	text := names[m.Event]
	if m.Repository != "" {
		text += ": " + m.Repository
	}
	if m.Number != 0 {
		text += fmt.Sprintf("#%d", m.Number)
	}
	if m.Title != "" {
		text += " (" + m.Title + ")"
	}
	text += ": " + m.Says
	if m.URL != "" {
		text = short(text, mostSays) + " " + m.URL
	}
	return strings.Join(strings.Fields(text), " ")
}

func short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Trial returns a message for testing a target. Each is different.
func Trial(target string, at time.Time) Message {
	return fact{Kind: Test, at: at, says: "this is a test of gh mergexo's [[notify]] " + target}.message(Delivery(target, "test "+millis(at)))
}
