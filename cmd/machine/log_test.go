package machine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOldLogsAreDropped(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"2026-01-01.jsonl", "2026-11-20.jsonl", "detached-2026-01-01.log", "detached-2026-11-20.log", "detached.log", "notes.jsonl", "2026-01-01.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dropOldLogs(dir, time.Date(2026, 10, 22, 0, 0, 0, 0, time.UTC))
	for name, kept := range map[string]bool{"2026-01-01.jsonl": false, "2026-11-20.jsonl": true, "detached-2026-01-01.log": false, "detached-2026-11-20.log": true, "detached.log": true, "notes.jsonl": true, "2026-01-01.log": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != kept {
			t.Errorf("%s: kept %v, want %v", name, err == nil, kept)
		}
	}
}
