package logs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// daysOf are the files of the days from a time on, the oldest first.
func daysOf(dir string, since time.Time) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no pass was made
	}
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	var days []string
	for _, e := range entries {
		// A pass that began before midnight writes to its own day's file until it ends.
		day, err := time.Parse("2006-01-02.jsonl", e.Name())
		if err == nil && !day.Before(since.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)) {
			days = append(days, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(days)
	return days, nil
}

// spot is where a line stands in its file.
type spot struct {
	at, size int64
}

// printDay prints what is wanted of a day's file, the lines of a turn together. It keeps
// only where they stand: a day may have more than there is memory.
func printDay(path string, f filter, p *printer, inOrder bool) (shown int, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // it became too old meanwhile
	}
	if err != nil {
		return 0, fmt.Errorf("read the log: %w", err)
	}
	defer file.Close()
	var order []string
	groups := map[string][]spot{}
	err = eachLine(file, func(b []byte, at int64) error {
		l := read(b)
		if !f.wants(l) {
			return nil
		}
		key := l.group()
		if inOrder {
			key = ""
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], spot{at, int64(len(b))})
		return nil
	})
	for _, key := range order {
		for _, s := range groups[key] {
			b := make([]byte, s.size)
			if _, bad := file.ReadAt(b, s.at); bad != nil {
				return shown, errors.Join(err, fmt.Errorf("read the log: %w", bad))
			}
			if bad := p.print(b); bad != nil {
				return shown, errors.Join(err, bad)
			}
			shown++
		}
	}
	return shown, err
}

// eachLine reads a file line by line. What stands behind the last line's end is being
// written, or was cut when a pass was killed: it counts where it can be read.
func eachLine(r io.Reader, do func(b []byte, at int64) error) error {
	in, at := bufio.NewReaderSize(r, 64<<10), int64(0)
	for {
		b, err := in.ReadBytes('\n')
		if text := bytes.TrimRight(b, "\r\n"); len(text) > 0 && (err == nil || read(text).text == "") {
			if bad := do(text, at); bad != nil {
				return bad
			}
		}
		at += int64(len(b))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
	}
}

// tail is a file of which more comes.
type tail struct {
	path string
	at   int64
	part []byte // a line whose end has not come
}

// next reads the whole lines that came since the last time.
func (t *tail) next(do func(b []byte) error) error {
	file, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(t.at, io.SeekStart); err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	in := bufio.NewReaderSize(file, 64<<10)
	for {
		b, err := in.ReadBytes('\n')
		t.at += int64(len(b))
		t.part = append(t.part, b...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		whole := bytes.TrimRight(t.part, "\r\n")
		t.part = nil
		if len(whole) > 0 {
			if err := do(whole); err != nil {
				return err
			}
		}
	}
}
