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

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/files"
)

// daysOf returns the log files of the days since a time, oldest first.
func daysOf(dir string, since time.Time) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no pass has run
	}
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	var days []string
	for _, e := range entries {
		// A pass that began before midnight writes to its own day's file until it ends.
		day, ok := machine.LogOfDay(e.Name())
		if ok && !day.Before(since.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)) {
			days = append(days, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(days)
	return days, nil
}

// spot is the position of a line in its file.
type spot struct {
	at, size int64
}

// printDay prints the wanted lines of a day's file, grouped by turn. It keeps only positions in
// memory: a day's log may be larger than that.
func printDay(path string, f filter, p *printer, inOrder bool) (shown int, err error) {
	file, err := files.OpenOwn(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // another pass deleted it because of its age
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

// eachLine reads a file line by line. A last line without a newline is being written, or was cut
// when a pass was killed: it counts if it can be parsed.
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

// tail is a file that still grows.
type tail struct {
	path string
	file fs.FileInfo // as it was last opened; nil: never
	at   int64
	part []byte // a line without an end so far
}

// tails are the files that are followed, by path.
type tails map[string]*tail

// of returns the tail of a file. A day's log that is split is renamed: its tail continues at the same
// place.
func (all tails) of(path string) *tail {
	if info, err := os.Stat(path); err == nil {
		for was, t := range all {
			if t.file != nil && was != path && os.SameFile(t.file, info) {
				delete(all, was)
				t.path, all[path] = path, t
			}
		}
	}
	if all[path] == nil {
		all[path] = &tail{path: path}
	}
	return all[path]
}

// next reads the complete lines that are new.
func (t *tail) next(do func(b []byte) error) error {
	file, err := files.OpenOwn(t.path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	defer file.Close()
	if t.file, err = file.Stat(); err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
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
