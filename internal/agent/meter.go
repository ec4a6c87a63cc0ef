package agent

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"os"
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

// Charge returns the usage of tokens. Prices from the config win over the given cost.
func (s Spec) Charge(t spending.Tokens, cost float64) work.Usage {
	if s.Prices != nil {
		cost = s.Prices.Cost(t)
	}
	return t.Usage(cost)
}

// Countable clamps a provider's count, so that sums stay valid.
func Countable(n int64) int64 { return min(max(n, 0), MaxTokens) }

// Sane returns n, or 0 if it is negative, NaN or above most.
func Sane(n, most float64) float64 {
	if math.IsNaN(n) || n < 0 || n > most {
		return 0
	}
	return n
}

// Bounded clamps n to most and turns negative values and NaN into 0.
func Bounded(n, most float64) float64 { return Sane(min(n, most), most) }
