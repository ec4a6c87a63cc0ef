package agent

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/files"
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
