package agent

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync"
)

// meter counts what a run uses while it is under way: a turn that is ended at a
// limit, or fails, is paid like any other. It is fed with the program's standard
// output as it comes, and may be asked at any time.
type meter interface {
	io.Writer
	used() Used
}

// lines takes a stream of bytes apart into lines.
type lines struct {
	mu   sync.Mutex
	part []byte
	skip bool              // the rest of a line that is too long
	take func(line []byte) // may be given the same line twice
}

// maxLine bounds a line that is looked at, in bytes. Longer ones hold what a tool
// printed, and no counts.
const maxLine = 8 << 20

func (l *lines) Write(b []byte) (int, error) {
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
			l.take(l.part)
		}
		l.part, l.skip = l.part[:0], false
	}
	return len(b), nil
}

// rest takes what has no end of line yet for a line: programs leave out the last.
func (l *lines) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.take(l.part)
	}
}

// journal is a file to which a program adds lines while it runs: its own record
// of a session. What was read is not read again.
type journal struct {
	path string
	read int64
}

// maxJournal is how much of a journal is read at a time, in bytes.
const maxJournal = 64 << 20

// atEnd is a journal of which nothing is read but what is still to come.
func atEnd(path string) journal {
	j := journal{path: path}
	if info, err := os.Lstat(path); err == nil {
		j.read = info.Size()
	}
	return j
}

// more reads the whole lines that were added. Of a file that cannot be read there
// are none: the program's folder is the agent's to write, and may hold anything.
func (j *journal) more(take func(line []byte)) {
	f, info, err := openRegular(j.path)
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
			return // the last line is not whole yet
		}
		j.read += int64(len(line))
		take(line)
	}
}

// countable is a provider's count as it may be added up.
func countable(n int64) int64 { return min(max(n, 0), maxTokens) }
