package schedule

import (
	"os"
	"path/filepath"
	"testing"
)

// Nothing is said about cron where processes cannot be seen.
func TestCronSleeps(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"no processes":  {nil, false},
		"hidden ones":   {map[string]string{"proc/77/comm": "sh\n"}, false},
		"no daemon":     {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "crontab\n", "proc/8/comm": "sh\n", "proc/8/cmdline": "sh\x00cron\x00"}, true},
		"Debian's":      {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "cron\n"}, false},
		"cronie":        {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "crond\n"}, false},
		"busybox":       {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "busybox\n", "proc/7/cmdline": "/bin/busybox\x00crond\x00-f\x00"}, false},
		"first process": {map[string]string{"proc/1/comm": "crond\n"}, false},
		"systemd-cron":  {map[string]string{"proc/1/comm": "systemd\n", "run/systemd/system/x": "", "usr/lib/systemd/system/cron.target": ""}, false},
	} {
		root := t.TempDir()
		for at, text := range c.files {
			at = filepath.Join(root, filepath.FromSlash(at))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := CronSleeps(root); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Jobs of a launchd without a session at the screen find the keychain locked.
func TestAtScreen(t *testing.T) {
	for domain, want := range map[string]bool{"gui": true, "user": false, "none": false} {
		dir := t.TempDir()
		script := "#!/bin/sh\ncase $2 in " + domain + "/*) exit 0 ;; esac\nexit 113\n"
		if err := os.WriteFile(filepath.Join(dir, "launchctl"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := (Machine{Path: dir}).AtScreen(t.Context()); got != want {
			t.Errorf("%s: %v", domain, got)
		}
	}
}
