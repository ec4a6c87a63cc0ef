package proc

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// followInterval is how often an output file is checked for more output.
const followInterval = 50 * time.Millisecond

// outputFile is a file for a program's standard output. Writing to it never blocks, so nothing is
// lost at the program's end.
type outputFile struct {
	from *os.File // with its own offset, independent of the program's

	mu   sync.Mutex
	at   int64
	last []byte // the bytes before at
	buf  []byte
}

// newOutputFile makes a file without a name and returns the program's end of it, too.
func newOutputFile() (f *outputFile, to *os.File, err error) {
	from, err := os.CreateTemp("", "gh-mergexo-output-*")
	if err != nil {
		return nil, nil, fmt.Errorf("make a file for its output: %w", err)
	}
	to, err = os.OpenFile(from.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		_ = from.Close()
		_ = os.Remove(from.Name())
		return nil, nil, fmt.Errorf("make a file for its output: %w", err)
	}
	_ = os.Remove(from.Name()) // it is in a temporary folder, and readable only by us
	return &outputFile{from: from, buf: make([]byte, 32<<10)}, to, nil
}

// follow reads output until the program ends.
func (f *outputFile) follow(exited <-chan struct{}, to *capture, said func([]byte)) {
	look := time.NewTicker(followInterval)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			f.take(to, said)
		case <-exited:
			f.take(to, said)
			return
		}
	}
}

// take reads the output since the last call. Then it truncates the file, so that the program does
// not fill the disk until it is ended for its output.
func (f *outputFile) take(to *capture, said func([]byte)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rewritten() {
		f.at, f.last = 0, nil
	}
	for !to.exceeded() {
		n, err := f.from.ReadAt(f.buf, f.at)
		f.advance(f.buf[:n])
		if n > 0 {
			to.add(f.buf[:n])
			if said != nil {
				said(f.buf[:n])
			}
		}
		if err != nil {
			return
		}
	}
	if f.from.Truncate(0) == nil {
		f.at, f.last = 0, nil
	}
}

// keptBefore is how many read bytes are remembered.
const keptBefore = 64

func (f *outputFile) advance(b []byte) {
	f.at += int64(len(b))
	f.last = append(f.last, b[max(0, len(b)-keptBefore):]...)
	f.last = f.last[max(0, len(f.last)-keptBefore):]
}

// rewritten reports whether the bytes read before are no longer in the file. A program may open its
// standard output again, by a name such as /dev/stdout; that leaves a pipe unchanged but truncates
// a file. The current content is then all new.
func (f *outputFile) rewritten() bool {
	var b [keptBefore]byte
	n, _ := f.from.ReadAt(b[:len(f.last)], f.at-int64(len(f.last)))
	return !bytes.Equal(b[:n], f.last)
}

func (f *outputFile) Close() error {
	return f.from.Close()
}

// longLine is the length in bytes from which a line counts as a sign of life unread.
const longLine = 1 << 20

// lineCounter finds signs of life in lines.
type lineCounter struct {
	counts func(line []byte) bool
	sign   func([]byte)
	part   []byte // an incomplete line
}

func (l *lineCounter) add(b []byte) {
	for {
		head, tail, whole := bytes.Cut(b, []byte("\n"))
		l.part = append(l.part, head...)
		switch {
		case len(l.part) > longLine, whole && l.counts(l.part):
			l.sign(nil)
			l.part = l.part[:0]
		case whole:
			l.part = l.part[:0]
		}
		if !whole {
			return
		}
		b = tail
	}
}
