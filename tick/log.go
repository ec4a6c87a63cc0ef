package tick

import (
	"bytes"
	"log/slog"
	"sync"
)

// turnAttrs are the fields of every log line about a turn.
func (p *Pass) turnAttrs(l *lease, more ...any) []any {
	attrs := []any{
		"repo_full_name", l.remote.Name.FullName(), "work_item_id", l.item.ID, "issue_number", l.item.Number,
		"turn_key", l.turn.Key, "kind", string(l.turn.Kind),
	}
	if !l.turn.Kind.Start() {
		attrs = append(attrs, "pr_number", l.turn.Number)
	}
	return append(attrs, more...)
}

// lineLog logs what is written to it, a line at a time.
type lineLog struct {
	log *slog.Logger

	mu   sync.Mutex
	rest []byte
}

// maxLogLine cuts what has no line ends.
const maxLogLine = 8 << 10

func (w *lineLog) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, b...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 && len(w.rest) < maxLogLine {
			return len(b), nil
		}
		if i < 0 {
			i = maxLogLine - 1
		}
		w.log.Info("agent says", "line", string(bytes.TrimRight(w.rest[:i+1], "\r\n")))
		w.rest = w.rest[i+1:]
	}
}
