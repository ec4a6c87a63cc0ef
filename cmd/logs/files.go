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

// printDay prints the wanted lines of a day's file.
func printDay(path string, f filter, p *printer) (shown int, err error) {
	file, err := files.OpenOwn(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // another pass deleted it because of its age
	}
	if err != nil {
		return 0, fmt.Errorf("read the log: %w", err)
	}
	defer file.Close()
	err = eachLine(file, func(b []byte) error {
		l := read(b)
		if !f.wants(l) {
			return nil
		}
		shown++
		return p.print(l, b)
	})
	return shown, err
}

// eachLine reads a file line by line. A last line without a newline is being written, or was cut
// when a pass was killed: it counts if it can be parsed.
func eachLine(r io.Reader, do func(b []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		b, err := in.ReadBytes('\n')
		if text := bytes.TrimRight(b, "\r\n"); len(text) > 0 && (err == nil || read(text).text == "") {
			if bad := do(text); bad != nil {
				return bad
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
	}
}
