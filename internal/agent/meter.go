package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Meter counts a run's usage while it runs: a turn that is stopped at a limit, or fails, is paid
// like any other. It is fed with the program's standard output, and Used may be called at any time.
type Meter interface {
	io.Writer
	Used() Used
}

// Lines splits a stream of bytes into lines.
type Lines struct {
	mu   sync.Mutex
	part []byte
	skip bool              // skip the rest of a line that is too long
	Take func(line []byte) // required; may be called twice with the same line
}

// maxLine bounds a line, in bytes. Longer ones hold a tool's output, and no counts.
const maxLine = 8 << 20

func (l *Lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := b; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		if len(l.part)+len(line) > maxLine {
			l.skip = true
		}
		if !l.skip {
			l.part = append(l.part, line...)
		}
		if !ended {
			break
		}
		if !l.skip {
			l.Take(l.part)
		}
		l.part, l.skip = l.part[:0], false
	}
	return len(b), nil
}

// Rest takes an unfinished line as a line: programs omit the last newline.
func (l *Lines) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.Take(l.part)
	}
}

// Journal is a file to which a program appends lines while it runs: its own record of a session.
// Each line is read once.
type Journal struct {
	Path string
	read int64
}

// maxJournal is how much of a journal is read at a time, in bytes.
const maxJournal = 64 << 20

// AtEnd returns a journal that skips the file's present content.
func AtEnd(path string) Journal {
	j := Journal{Path: path}
	if info, err := os.Lstat(path); err == nil {
		j.read = info.Size()
	}
	return j
}

// Follow reads new whole lines of the journal at path. Another path than before is read from its
// beginning, an empty one not at all.
func (j *Journal) Follow(path string, take func(line []byte)) {
	if path == "" {
		return
	}
	if path != j.Path {
		*j = Journal{Path: path}
	}
	j.More(take)
}

// More reads new whole lines. An unreadable file has none: the agent can write to the program's
// folder and put anything there.
func (j *Journal) More(take func(line []byte)) {
	f, info, err := files.OpenRegular(j.Path)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if info.Size() <= j.read {
		return
	}
	r := bufio.NewReader(io.NewSectionReader(f, j.read, min(info.Size()-j.read, maxJournal)))
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return // the last line is not complete yet
		}
		j.read += int64(len(line))
		take(line)
	}
}

// The largest plausible usage of one run. A larger count is a mistake or a lie and is capped: if it
// counted as zero, it would bypass every budget.
const (
	MaxTokens = 1e12
	MaxCost   = 1e6
)

// Charge returns the usage of tokens. Prices from the config win over the given cost, and make the
// cost of known tokens known.
func (s Spec) Charge(t spending.Tokens, cost float64, known work.Known) (work.Usage, work.Known) {
	if s.Prices != nil && (known.Tokens || !known.Cost) {
		cost, known.Cost = s.Prices.Cost(t), known.Tokens
	}
	return t.Usage(cost), known
}

// Count is a number that a program reports about its own usage. Any JSON is accepted, because
// unreadable usage must not cost the answer: a number of at least zero is known, no value or null is
// absent, and everything else is unreadable.
type Count struct {
	N          float64 // not negative; it may be infinite
	Known      bool
	Unreadable bool
}

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case string(raw) == "null":
		*c = Count{}
	case (err == nil || errors.Is(err, strconv.ErrRange)) && n >= 0: // a number beyond the range is infinite
		*c = Count{N: n, Known: true}
	default:
		*c = Count{Unreadable: true}
	}
	return nil
}

// Tokens returns the count as tokens, capped so that sums stay valid.
func (c Count) Tokens() int64 { return int64(min(c.N, MaxTokens)) }

// Cost returns the count as US dollars, capped.
func (c Count) Cost() float64 { return min(c.N, MaxCost) }

// Sane returns n, or 0 if it is negative, NaN or above most.
func Sane(n, most float64) float64 {
	if math.IsNaN(n) || n < 0 || n > most {
		return 0
	}
	return n
}
