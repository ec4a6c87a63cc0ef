package agent

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// Meter counts what a run uses while it is under way: a turn that is ended at a
// limit, or fails, is paid like any other. It is fed with the program's standard
// output as it comes, and may be asked at any time.
type Meter interface {
	io.Writer
	Used() Used
}

// Lines takes a stream of bytes apart into lines.
type Lines struct {
	mu   sync.Mutex
	part []byte
	skip bool              // the rest of a line that is too long
	Take func(line []byte) // required; may be given the same line twice
}

// maxLine bounds a line that is looked at, in bytes. Longer ones hold what a tool
// printed, and no counts.
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

// Rest takes what has no end of line yet for a line: programs leave out the last.
func (l *Lines) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.Take(l.part)
	}
}

// Journal is a file to which a program adds lines while it runs: its own record
// of a session. What was read is not read again.
type Journal struct {
	Path string
	read int64
}

// maxJournal is how much of a journal is read at a time, in bytes.
const maxJournal = 64 << 20

// AtEnd is a journal of which nothing is read but what is still to come.
func AtEnd(path string) Journal {
	j := Journal{Path: path}
	if info, err := os.Lstat(path); err == nil {
		j.read = info.Size()
	}
	return j
}

// Follow reads the whole lines that were added to the journal at a path: the one that
// is read already, or another one from its beginning. There is none at an empty path.
func (j *Journal) Follow(path string, take func(line []byte)) {
	if path == "" {
		return
	}
	if path != j.Path {
		*j = Journal{Path: path}
	}
	j.More(take)
}

// More reads the whole lines that were added. Of a file that cannot be read there
// are none: the program's folder is the agent's to write, and may hold anything.
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
			return // the last line is not whole yet
		}
		j.read += int64(len(line))
		take(line)
	}
}
