package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind names a scheduler.
type Kind string

// The schedulers.
const (
	Launchd Kind = "launchd"
	Systemd Kind = "systemd"
	Cron    Kind = "cron"
)

// Job is what a scheduler repeats: gh with its arguments and its environment.
type Job struct {
	Config  string // absolute path of the config; each config has its own job
	Default bool   // passes find it without --config, in ~/.config
	Gh      string // absolute path
	Every   time.Duration
	Env     []Var     // the whole environment: PATH and HOME first
	Logs    string    // folder for the job's output, if the scheduler writes one
	Since   time.Time // when it was written, to the second
}

// Var is an environment variable.
type Var struct{ Name, Value string }

// Get returns a variable's value.
func (j Job) Get(name string) string {
	for _, v := range j.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// With returns the job with another value of a variable.
func (j Job) With(name, value string) Job {
	env := make([]Var, len(j.Env))
	for i, v := range j.Env {
		if env[i] = v; v.Name == name {
			env[i].Value = value
		}
	}
	j.Env = env
	return j
}

// Pairs returns the environment as NAME=value pairs.
func (j Job) Pairs() []string {
	all := make([]string, len(j.Env))
	for i, v := range j.Env {
		all[i] = v.Name + "=" + v.Value
	}
	return all
}

// Command returns what a scheduler starts. A scheduler that skips a run while the job is active
// gets a job that ends at once and leaves the pass running.
func (j Job) Command(k Kind) []string {
	line := []string{j.Gh, "mergexo", "tick"}
	if k != Cron {
		line = append(line, "--detach")
	}
	elsewhere := j.Get("XDG_CONFIG_HOME") // then passes look for the config there
	if !j.Default || elsewhere != "" && filepath.Join(elsewhere, "mergexo", "config.toml") != j.Config {
		line = append(line, "--config", j.Config)
	}
	return line
}

// id distinguishes the jobs of several configs; empty for the default config.
func (j Job) id() string {
	if j.Default {
		return ""
	}
	sum := sha256.Sum256([]byte(j.Config))
	return hex.EncodeToString(sum[:4])
}

// Name is the job's name in its scheduler.
func (j Job) Name() string {
	if id := j.id(); id != "" {
		return "gh-mergexo-" + id
	}
	return "gh-mergexo"
}

// check rejects values that no scheduler accepts.
func (j Job) check() error {
	if !filepath.IsAbs(j.Gh) || !filepath.IsAbs(j.Config) {
		return errors.New("a scheduler needs absolute paths of gh and of the config")
	}
	if strings.Contains(j.Gh, "=") {
		return fmt.Errorf("the path of gh, %q, has a = in it, which a scheduler would read as a variable: link gh into another folder", j.Gh)
	}
	for _, s := range append([]string{j.Gh, j.Config, j.Logs}, j.Pairs()...) {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return fmt.Errorf("%q contains a line break or is not text, which no scheduler accepts", s)
		}
	}
	return nil
}

// written begins the line that marks a file or block as ours. It ends with the job.
const written = "Written by gh mergexo schedule install; gh mergexo schedule remove takes it away. Job: "

func (j Job) header() string {
	text, _ := json.Marshal(j)                                         // strings, a time and a number always encode
	return written + strings.ReplaceAll(string(text), "--", `-\u002d`) // which would end a comment in XML
}

// jobOf returns the job for which install wrote a file. Every is 0 if the file does not have its
// interval: somebody edited it. The job is empty if the header is not ours.
func jobOf(f File, interval func(time.Duration) string) (j Job) {
	_, header, _ := strings.Cut(f.Text, written)
	if json.NewDecoder(strings.NewReader(header)).Decode(&j) != nil {
		return Job{}
	}
	if !strings.Contains(f.Text, interval(j.Every)) {
		j.Every = 0
	}
	return j
}
