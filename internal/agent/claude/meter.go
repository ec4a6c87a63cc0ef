package claude

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// counts are the token counts of one message, or of a whole run.
type counts struct {
	Input         agent.Count `json:"input_tokens"`
	CacheCreation agent.Count `json:"cache_creation_input_tokens"`
	CacheRead     agent.Count `json:"cache_read_input_tokens"`
	Output        agent.Count `json:"output_tokens"`
}

// UnmarshalJSON never fails. a value of another type has no counts.
func (c *counts) UnmarshalJSON(raw []byte) error {
	type plain counts
	*c = counts{}
	_ = json.Unmarshal(raw, (*plain)(c))
	return nil
}

// known reports whether the counts are complete. Those of a cache may be absent.
func (c counts) known() bool {
	return c.Input.Known && c.Output.Known && !c.CacheCreation.Unreadable && !c.CacheRead.Unreadable
}

func (c counts) tokens() spending.Tokens {
	return spending.Tokens{Input: c.Input.Tokens(), CacheWrite: c.CacheCreation.Tokens(), CacheRead: c.CacheRead.Tokens(), Output: c.Output.Tokens()}
}

// countLine is the part of a line, of output or record, that the meter reads.
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

// meter adds up the model's messages. Each spans several lines of output, which carry the counts of
// its beginning. Claude's record of the session has the counts of its end, with many more output
// tokens.
type meter struct {
	agent.Lines
	spec  agent.Spec
	since time.Time // earlier lines of the record belong to earlier runs
	all   bool      // no output is known: every recorded message since then counts

	at       sync.Mutex
	session  string
	record   agent.Journal
	seen     map[string]bool // on the output: only those are of this run
	messages map[string]message
}

type message struct {
	model  string
	tokens spending.Tokens
	known  bool // tokens are complete
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

// count keeps the larger of a message's known and new counts.
func (m *meter) count(l countLine) {
	earlier := m.messages[l.Message.ID]
	m.messages[l.Message.ID] = message{
		model: l.Message.Model, tokens: earlier.tokens.Most(l.Message.Usage.tokens()), known: earlier.known || l.Message.Usage.known(),
	}
}

// look reads new lines of the session's record.
func (m *meter) look() {
	m.record.Follow(m.spec.SessionFile(m.session), func(line []byte) {
		var l countLine
		if json.Unmarshal(line, &l) == nil && l.Type == "assistant" && !l.Before(m.since) {
			m.seen[l.Message.ID] = m.all || m.seen[l.Message.ID]
			m.count(l)
		}
	})
}

// counted returns the tokens of all messages and their list price. known is false if there is no
// message, or if the tokens of one are incomplete.
func (m *meter) counted() (all spending.Tokens, cost float64, known bool) {
	m.Rest()
	m.at.Lock()
	defer m.at.Unlock()
	m.look()
	counted, broken := false, false
	for id, of := range m.seen {
		if !of {
			continue
		}
		message := m.messages[id]
		counted, broken = true, broken || !message.known
		all = all.Add(message.tokens)
		cost += PriceOf(message.model).Cost(message.tokens)
	}
	return all, cost, counted && !broken
}

func (m *meter) Used() agent.Used {
	all, cost, known := m.counted()
	m.at.Lock()
	defer m.at.Unlock()
	used := agent.Used{Session: m.session}
	used.Usage, used.Known = m.spec.Charge(all, cost, work.Known{Tokens: known, Cost: known})
	return used
}
