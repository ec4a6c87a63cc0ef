package machine

import (
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
