package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/tick"
)

// One redactor for all that is printed and logged.
func TestNoTokenIsPrintedOrLogged(t *testing.T) {
	const own = "correcthorse42batterystaple"
	shape := "gh" + "p_" + strings.Repeat("aB3d", 9)
	t.Setenv("BUILD_API_TOKEN", own)
	var stderr bytes.Buffer
	if code := Main(Env{Args: []string{own + " " + shape}, Stdout: &bytes.Buffer{}, Stderr: &stderr}); code != exitError {
		t.Errorf("code %d", code)
	}
	a := &app{now: time.Now}
	dir := t.TempDir()
	m := &machine{secrets: a.secrets(), dirs: tick.Dirs{State: dir}, cfg: &config.Config{}}
	log, done, err := m.openLog(a, false)
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
	for name, text := range map[string]string{"stderr": stderr.String(), "log": string(logged)} {
		if strings.Contains(text, own) || strings.Contains(text, shape) || !strings.Contains(text, "[redacted: the value of BUILD_API_TOKEN]") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if n := strings.Count(string(logged), "[redacted: a GitHub token]"); n != 5 {
		t.Errorf("%d of 5 redacted: %s", n, logged)
	}
}

func TestWhatAnAgentPrintsIsMasked(t *testing.T) {
	var known secrets.Redactor
	known.Add("known-token-12345", "gh's token")
	m := &machine{secrets: &known, env: config.EnvOf([]string{"MODEL_KEY=mk-123", "MODE=on"})}
	if got := m.masking([]string{"MODEL_KEY", "MODE"})("mk-123 on known-token-12345"); got != "[MODEL_KEY] on [redacted: gh's token]" {
		t.Errorf("got %q", got)
	}
}
