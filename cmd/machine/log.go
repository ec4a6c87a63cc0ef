package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
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
	path := filepath.Join(dir, m.now().UTC().Format(logDay)+".jsonl")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		dropOldLogs(dir, m.now().Add(-logLife))
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w; %s", err, work.AnotherFolder)
	}
	h := slog.NewJSONHandler(terminal.JSONLines(f), &slog.HandlerOptions{ReplaceAttr: m.logAttr})
	return slog.New(h).With("pass", fmt.Sprintf("%d-%d", m.now().UnixMilli(), os.Getpid())), f.Close, nil
}

const (
	logDay      = "2006-01-02"
	detachedDay = "detached-" + logDay + ".log" // the output of detached passes
	logLife     = 30 * 24 * time.Hour
)

// dropOldLogs removes the logs of days before a time, once a day. Files not named like a day's log
// are kept.
func dropOldLogs(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		for _, named := range []string{logDay + ".jsonl", detachedDay} {
			day, err := time.Parse(named, e.Name())
			if err == nil && day.Before(before) {
				_ = os.Remove(filepath.Join(dir, e.Name())) // an error is ignored: the next day's first pass tries again
			}
		}
	}
}

// logAttr makes a field fit for the log: no secrets, times in UTC, no nesting, so that every line
// is one flat object.
func (m *Machine) logAttr(_ []string, attr slog.Attr) slog.Attr {
	switch attr.Value.Kind() {
	case slog.KindTime:
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
