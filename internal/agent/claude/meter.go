package claude

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// counts are the counts of one message, or of a whole run.
type counts struct {
	Input         int64 `json:"input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	Output        int64 `json:"output_tokens"`
}

func (c counts) tokens() spending.Tokens {
	return spending.Tokens{Input: agent.Countable(c.Input), CacheWrite: agent.Countable(c.CacheCreation), CacheRead: agent.Countable(c.CacheRead), Output: agent.Countable(c.Output)}
}

// countLine is what the meter reads of a line, of the output or of the record.
type countLine struct {
	agent.Written

	Type    string `json:"type"`
	Session string `json:"session_id"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage counts `json:"usage"`
	} `json:"message"`
}

// meter adds up the model's messages. Each stands on several lines, with
// the counts of its beginning; claude's record of the session has those of its
// end, where many more tokens were written.
type meter struct {
	agent.Lines
	spec  agent.Spec
	since time.Time // what was recorded before is of earlier runs
	all   bool      // the record alone tells which messages are of the run

	at       sync.Mutex
	session  string
	record   agent.Journal
	seen     map[string]bool // on the output: only those are of this run
	messages map[string]message
}

type message struct {
	model  string
	tokens spending.Tokens
}

func (c *claude) meter(session string) *meter {
	m := &meter{spec: c.spec, session: session, seen: map[string]bool{}, messages: map[string]message{}}
	m.Take = m.line
	if path := m.spec.SessionFile(m.session); path != "" {
		m.record = agent.AtEnd(path)
	}
	return m
}

func (m *meter) line(line []byte) {
	m.at.Lock()
	defer m.at.Unlock()
	var l countLine
	if json.Unmarshal(line, &l) != nil {
		return
	}
	if l.Session != "" {
		m.session = l.Session
	}
	if l.Type == "assistant" {
		m.seen[l.Message.ID] = true
		m.count(l)
	}
}

// count takes the latest of a message's counts, each the larger one.
func (m *meter) count(l countLine) {
	known := m.messages[l.Message.ID]
	m.messages[l.Message.ID] = message{model: l.Message.Model, tokens: known.tokens.Most(l.Message.Usage.tokens())}
}

// look reads what the session's record tells by now.
func (m *meter) look() {
	m.record.Follow(m.spec.SessionFile(m.session), func(line []byte) {
		var l countLine
		if json.Unmarshal(line, &l) == nil && l.Type == "assistant" && !l.Before(m.since) {
			m.seen[l.Message.ID] = m.all || m.seen[l.Message.ID]
			m.count(l)
		}
	})
}

// counted is what the messages used, and what they cost by the list.
func (m *meter) counted() (all spending.Tokens, cost float64) {
	m.Rest()
	m.at.Lock()
	defer m.at.Unlock()
	m.look()
	for id, of := range m.seen {
		if !of {
			continue
		}
		message := m.messages[id]
		all = all.Add(message.tokens)
		cost += PriceOf(message.model).Cost(message.tokens)
	}
	return all, cost
}

func (m *meter) Used() agent.Used {
	all, cost := m.counted()
	m.at.Lock()
	defer m.at.Unlock()
	return agent.Used{Session: m.session, Usage: m.spec.Charge(all, cost)}
}
