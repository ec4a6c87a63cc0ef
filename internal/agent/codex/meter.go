package codex

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// counts are the token counts of one response, a turn, or a whole thread.
type counts struct {
	Input      agent.Count `json:"input_tokens"` // cached tokens and cache writes included
	Cached     agent.Count `json:"cached_input_tokens"`
	CacheWrite agent.Count `json:"cache_write_input_tokens"`
	Output     agent.Count `json:"output_tokens"`
}

// UnmarshalJSON never fails. a value of another type has no counts.
func (c *counts) UnmarshalJSON(raw []byte) error {
	type plain counts
	*c = counts{}
	_ = json.Unmarshal(raw, (*plain)(c))
	return nil
}

// known reports whether the counts are complete. The cached ones may be absent.
func (c counts) known() bool {
	return c.Input.Known && c.Output.Known && !c.Cached.Unreadable && !c.CacheWrite.Unreadable
}

func (c counts) tokens() spending.Tokens {
	t := spending.Tokens{CacheRead: c.Cached.Tokens(), CacheWrite: c.CacheWrite.Tokens(), Output: c.Output.Tokens()}
	t.Input = max(c.Input.Tokens()-t.CacheRead-t.CacheWrite, 0)
	return t
}

func (c counts) usage() work.Usage {
	return work.Usage{InputTokens: c.Input.Tokens(), OutputTokens: c.Output.Tokens()}
}

// countLine is the part of a record line that the meter reads. Each response of the model has a
// line of the first kind. The thread's new total is in a line of the second kind, which is missing
// if codex was killed between the two.
type countLine struct {
	agent.Written

	Type    string `json:"type"` // token_usage_record
	Payload struct {
		Type  string `json:"type"` // token_count
		Usage counts `json:"usage"`
		Info  *struct {
			Total counts `json:"total_token_usage"`
		} `json:"info"`
	} `json:"payload"`
}

// meter adds up the model's responses. Codex prints token counts only at the turn's end, but
// appends the counts of each response to its record of the thread at once.
type meter struct {
	agent.Lines
	codex *codex
	asked agent.Request
	since time.Time // earlier lines of the record belong to earlier runs

	at       sync.Mutex
	thread   string
	record   agent.Journal
	tokens   spending.Tokens // sum of the responses
	broken   bool            // the counts of a response are incomplete
	summed   bool            // tokens has a response
	ended    counts          // usage of the thread, as reported at the turn's end
	total    counts          // usage of the thread, as read from its record
	totalled bool            // total was written by this run
}

func (c *codex) meter(r agent.Request) *meter {
	m := &meter{codex: c, asked: r, thread: r.Session}
	m.Take = m.line
	if path := c.spec.SessionFile(r.Session); path != "" {
		m.record = agent.AtEnd(path)
	}
	return m
}

func (m *meter) line(line []byte) {
	m.at.Lock()
	defer m.at.Unlock()
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "thread.started":
		m.thread = e.Thread
	case "turn.completed":
		m.ended = e.Usage
	}
}

// look reads new lines of the thread's record.
func (m *meter) look() {
	m.record.Follow(m.codex.spec.SessionFile(m.thread), func(line []byte) {
		var l countLine
		if json.Unmarshal(line, &l) != nil {
			return
		}
		switch {
		case l.Type == "token_usage_record" && !l.Before(m.since):
			m.tokens = m.tokens.Add(l.Payload.Usage.tokens())
			m.summed, m.broken = true, m.broken || !l.Payload.Usage.known()
		case l.Payload.Type == "token_count" && l.Payload.Info != nil:
			m.total, m.totalled = l.Payload.Info.Total, !l.Before(m.since)
		}
	})
}

func (m *meter) Used() agent.Used {
	run, known, thread := m.account()
	m.at.Lock()
	defer m.at.Unlock()
	return agent.Used{Session: m.thread, Usage: run, Known: known, Counted: thread}
}

// account returns the usage of this run and of the whole thread: codex counts from the thread's
// beginning. Tokens known only from that difference are charged as uncached, because nothing tells
// how many came from a cache. The tokens are known if the end of the turn reports the thread's, or if
// each response that codex recorded has its own. Codex reports no cost.
func (m *meter) account() (run work.Usage, known work.Known, thread work.Usage) {
	m.Rest()
	m.at.Lock()
	defer m.at.Unlock()
	m.look()
	whole := m.total
	if m.ended.known() || !whole.known() {
		whole = m.ended
	}
	thread = whole.usage()
	before := m.asked.Counted
	if m.thread != m.asked.Session {
		before = work.Usage{} // the earlier counts are of another thread
	}
	summed, t := m.tokens.Usage(0), m.tokens
	t = t.Add(spending.Tokens{
		Input:  least(least(thread.InputTokens, before.InputTokens), summed.InputTokens),
		Output: least(least(thread.OutputTokens, before.OutputTokens), summed.OutputTokens),
	})
	run, known = m.codex.spec.Charge(t, 0, work.Known{Tokens: m.ended.known() || m.totalled && m.total.known() || m.summed && !m.broken})
	return run, known, thread
}

// least returns the difference of counters, which never decrease.
func least(now, before int64) int64 { return max(now-before, 0) }
