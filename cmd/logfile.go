package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/tick"
)

// openLog opens the day's log, JSON lines under logs/. Passes that run side by
// side append to the same file, a line a write.
func (m *machine) openLog(a *app, dryRun bool) (*slog.Logger, func() error, error) {
	if dryRun {
		return slog.New(slog.DiscardHandler), func() error { return nil }, nil
	}
	dir := filepath.Join(m.dirs.State, "logs")
	if err := writable(dir); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, a.now().UTC().Format(logDay)+".jsonl")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		dropOldLogs(dir, a.now().Add(-logLife))
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w; set runtime.state_dir in the config to a folder that you may write to", err)
	}
	h := slog.NewJSONHandler(jsonLines{f}, &slog.HandlerOptions{ReplaceAttr: m.redactAttr})
	return slog.New(h).With("pass", fmt.Sprintf("%d-%d", a.now().UnixMilli(), os.Getpid())), f.Close, nil
}

const (
	logDay  = "2006-01-02"
	logLife = 30 * 24 * time.Hour
)

// dropOldLogs removes the logs of days before a time, once a day. What is not
// named like a day's log is not ours to remove.
func dropOldLogs(dir string, before time.Time) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return
	}
	for _, name := range names {
		day, err := time.Parse(logDay, strings.TrimSuffix(filepath.Base(name), ".jsonl"))
		if err == nil && day.Before(before) {
			_ = os.Remove(name) // tidiness; tomorrow again
		}
	}
}

// redactAttr keeps secrets out of the log.
func (m *machine) redactAttr(_ []string, attr slog.Attr) slog.Attr {
	switch v := attr.Value.Any().(type) {
	case string:
		attr.Value = slog.StringValue(m.secrets.Redact(v))
	case error:
		attr.Value = slog.StringValue(m.secrets.Redact(v.Error()))
	default:
		if attr.Value.Kind() == slog.KindAny {
			attr.Value = slog.StringValue(m.secrets.Redact(fmt.Sprint(v)))
		}
	}
	return attr
}

// progress prints a line for each change of a turn's state.
func (a *app) progress() func(tick.TurnChange) {
	return func(c tick.TurnChange) { printChange(a.env.Stderr, c) }
}

func printChange(w io.Writer, c tick.TurnChange) {
	line := fmt.Sprintf("%s#%d  %s  %s", c.Repo, c.Number, c.Kind, c.What)
	if c.Detail != "" {
		line += "  " + oneLine(c.Detail)
	}
	fmt.Fprintln(w, line)
}
