package machine

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// One redactor for all that is logged.
func TestNoTokenIsLogged(t *testing.T) {
	const own = "correcthorse42batterystaple"
	shape := "gh" + "p_" + strings.Repeat("aB3d", 9)
	known := &secrets.Redactor{}
	known.Add(own, "the value of BUILD_API_TOKEN")
	dir := t.TempDir()
	m := &Machine{secrets: known, now: time.Now, dirs: folder.Dirs{State: dir}, cfg: &config.Config{}}
	log, done, err := m.openLog(false)
	if err != nil {
		t.Fatal(err)
	}
	said := "x " + own + " " + shape
	log.Info("m", "text", said, "error", errors.New(said), "list", []string{said}, slog.Group("g", "in", said), "pair", map[string]string{"k": said})
	if err := done(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "logs", "*.jsonl"))
	logged, err := os.ReadFile(files[0])
	if err != nil || !json.Valid(logged) {
		t.Fatalf("%v in %s", err, logged)
	}
	text := string(logged)
	if strings.Contains(text, own) || strings.Contains(text, shape) || !strings.Contains(text, "[redacted: the value of BUILD_API_TOKEN]") {
		t.Error(text)
	}
	if n := strings.Count(text, "[redacted: a GitHub token]"); n != 5 {
		t.Errorf("%d of 5 redacted: %s", n, logged)
	}
}

// A time that is not set is no field of a line; the year 1 says nothing.
func TestNoTimeThatIsNotSetIsLogged(t *testing.T) {
	m := &Machine{secrets: &secrets.Redactor{}}
	var b strings.Builder
	slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: m.logAttr})).Info("m", "until", time.Time{}, "since", time.Unix(0, 0))
	if text := b.String(); strings.Contains(text, "until") || !strings.Contains(text, `"since":"1970-01-01T00:00:00Z"`) {
		t.Error(text)
	}
}

// What is deleted is what is too old or, of all that is kept, the oldest beyond the bound; the newest
// log and files of other names stay.
func TestOldLogs(t *testing.T) {
	all := []string{"2026-01-01.jsonl", "detached-2026-01-01.log", "2026-03-01.0001.jsonl", "2026-03-01.0002.jsonl", "2026-03-01.jsonl", "detached-2026-03-01.log", "launchd.log", "2026-03-01.x.jsonl"}
	day := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		before time.Time
		most   int64
		gone   []string
	}{
		"nothing":            {time.Time{}, 0, nil},
		"age":                {day, 0, all[:2]},
		"unknown clock":      {time.Time{}, 60, nil},
		"size":               {time.Time{}, 35, []string{all[0], all[1], all[5]}},
		"size, by part":      {time.Time{}, 20, []string{all[0], all[1], all[5], all[2]}},
		"the newest is kept": {day.AddDate(1, 0, 0), 1, []string{all[0], all[1], all[5], all[2], all[3]}},
	} {
		dir := t.TempDir()
		for _, n := range all {
			if err := os.WriteFile(filepath.Join(dir, n), []byte("ten bytes\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := dropOldLogs(dir, c.before, c.most); err != nil {
			t.Fatal(err)
		}
		for _, n := range all {
			if _, err := os.Stat(filepath.Join(dir, n)); (err != nil) != slices.Contains(c.gone, n) {
				t.Errorf("%s: %s: %v", name, n, err)
			}
		}
	}
}
