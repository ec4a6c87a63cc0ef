package agentrun

import (
	"bytes"
	"log/slog"
	"strconv"
	"sync"
)

// lineLog logs what is written to it, a line at a time, as long as there is room.
type lineLog struct {
	log  *slog.Logger
	room int // bytes of the log that are left; below 0: nothing more is written

	mu   sync.Mutex
	rest []byte
}

const (
	maxLogLine  = 8 << 10  // cuts what has no line ends
	maxAgentLog = 16 << 20 // of one run's lines in the log, about
	lineCosts   = 300      // what stands around a line in the log
)

func (w *lineLog) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room < 0 {
		return len(b), nil
	}
	w.rest = append(w.rest, b...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 && len(w.rest) < maxLogLine {
			return len(b), nil
		}
		if i < 0 || i >= maxLogLine {
			i = maxLogLine - 1
		}
		if w.line(string(bytes.TrimRight(w.rest[:i+1], "\r\n"))); w.room < 0 {
			w.rest = nil
			return len(b), nil
		}
		w.rest = w.rest[i+1:]
	}
}

// line logs a line, and what fills the log no more than once.
func (w *lineLog) line(text string) {
	if w.room -= lineCosts + len(strconv.Quote(text)); w.room < 0 {
		w.log.Warn("the rest of what the agent printed is not in the log")
		return
	}
	w.log.Info("agent says", "line", text)
}
