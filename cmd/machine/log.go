package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// openLog opens the day's log, JSON lines in logs/. Parallel passes append to the same file, one
// line per write.
func (m *Machine) openLog(dryRun bool) (*slog.Logger, func() error, error) {
	if dryRun {
		return slog.New(slog.DiscardHandler), func() error { return nil }, nil
	}
	dir := filepath.Join(m.dirs.State, "logs")
	if err := MakeFolder(dir); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, m.now().UTC().Format(logDay)+logEnd)
	if err := m.splitLog(path); err != nil {
		return nil, nil, err
	}
	m.newLog = !files.Exists(path)
	f, err := files.OpenOwn(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w; %s", err, work.AnotherFolder)
	}
	h := slog.NewJSONHandler(terminal.JSONLines(f), &slog.HandlerOptions{ReplaceAttr: m.logAttr})
	return slog.New(h).With("pass", fmt.Sprintf("%d-%d", m.now().UnixMilli(), os.Getpid())), f.Close, nil
}

const (
	logDay      = "2006-01-02"
	logEnd      = ".jsonl"
	detachedDay = "detached-" + logDay + ".log" // the output of detached passes
	logLife     = 30 * 24 * time.Hour
	logParts    = 4 // a day's log is split at this part of log_max_size, so that its beginning can be deleted
)

// splitLog renames a day's log that is large. Passes that have it open go on writing to it.
func (m *Machine) splitLog(path string) error {
	most := m.cfg.Runtime.LogMaxSize
	info, err := os.Lstat(path)
	if err != nil || most == 0 || info.Size() < most/logParts {
		return nil //nolint:nilerr // whoever opens it reports the error
	}
	for n := 1; ; n++ {
		part := fmt.Sprintf("%s.%04d%s", strings.TrimSuffix(path, logEnd), n, logEnd)
		if !files.Exists(part) {
			return os.Rename(path, part)
		}
	}
}

// LogOfDay returns the day of a log of passes by its name; false: it is something else. The names
// of a day's parts sort by age.
func LogOfDay(name string) (day time.Time, ok bool) {
	if len(name) < len(logDay)+len(logEnd) || !strings.HasSuffix(name, logEnd) {
		return day, false
	}
	part := strings.TrimSuffix(name[len(logDay):], logEnd)
	if _, err := strconv.ParseUint(strings.TrimPrefix(part, "."), 10, 16); part != "" && (err != nil || part[0] != '.') {
		return day, false
	}
	day, err := time.Parse(logDay, name[:len(logDay)])
	return day, err == nil
}

// trimLogs deletes old logs at the end of a pass that worked, or was the first of its day: those
// older than logLife, by GitHub's clock if it is known, and the oldest of those that are too large
// together.
func (m *Machine) trimLogs(_ context.Context, e *tell.PassEnd) error {
	if len(e.Report.Turns()) == 0 && !m.newLog {
		return nil
	}
	var before time.Time
	for _, r := range e.Repos {
		if _, known := r.GitHub.Ahead(); known {
			before = r.GitHub.Now().Add(-logLife)
		}
	}
	return dropOldLogs(filepath.Join(m.dirs.State, "logs"), before, m.cfg.Runtime.LogMaxSize)
}

// oldLog is a log that may be deleted.
type oldLog struct {
	name string
	age  string // sorts by age
	day  time.Time
	size int64
}

// dropOldLogs deletes the logs of days before a time, and of the others the oldest until they have
// at most so many bytes; 0: no limit. It keeps the newest log, and files with other names.
func dropOldLogs(dir string, before time.Time, most int64) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var all []oldLog
	sum := int64(0)
	for _, e := range entries {
		age := e.Name()
		day, ok := LogOfDay(age)
		if !ok {
			if day, err = time.Parse(detachedDay, age); err != nil {
				continue
			}
			age = day.Format(logDay) // before those of its day
		}
		if info, err := e.Info(); err == nil { // else another pass deleted it
			all, sum = append(all, oldLog{e.Name(), age, day, info.Size()}), sum+info.Size()
		}
	}
	sorted.By(all, func(a, b oldLog) int { return strings.Compare(a.age, b.age) })
	var errs []error
	for _, l := range all[:max(0, len(all)-1)] {
		if !l.day.Before(before) && (most == 0 || sum <= most) {
			break
		}
		if err := os.Remove(filepath.Join(dir, l.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		sum -= l.size
	}
	return errors.Join(errs...)
}

// logAttr makes a field fit for the log: no secrets, times in UTC, no nesting, so that every line
// is one flat object. A time that is not set is left out.
func (m *Machine) logAttr(_ []string, attr slog.Attr) slog.Attr {
	switch attr.Value.Kind() {
	case slog.KindTime:
		if attr.Value.Time().IsZero() {
			return slog.Attr{}
		}
		attr.Value = slog.TimeValue(attr.Value.Time().UTC())
	case slog.KindDuration:
		attr.Value = slog.Float64Value(attr.Value.Duration().Seconds())
	case slog.KindString:
		attr.Value = slog.StringValue(m.secrets.Redact(attr.Value.String()))
	case slog.KindAny:
		attr.Value = slog.StringValue(m.secrets.Redact(flat(attr.Value.Any())))
	case slog.KindBool, slog.KindFloat64, slog.KindInt64, slog.KindUint64, slog.KindGroup, slog.KindLogValuer:
	}
	return attr
}

// flat returns a field's value: text for errors and Stringers, JSON for anything else that is not
// plain.
func flat(v any) string {
	switch v := v.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
