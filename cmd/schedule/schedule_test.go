package schedule

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/schedule"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The folders of PATH that the job gets are those that are there when it starts.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	bin, tools, shell := filepath.Join(dir, "bin"), filepath.Join(dir, "tools"), filepath.Join(dir, "fnm_multishells", "123")
	for _, d := range []string{bin, tools, filepath.Dir(shell)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(tools, shell); err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.EvalSymlinks(tools)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{shell, bin, "relative", filepath.Join(dir, "none"), bin + "/", "/usr/bin"}, ":")
	all, needed := folders(path, []machine.Program{{Name: "agent", Path: filepath.Join(shell, "agent")}, {Name: "gone"}})
	there := slices.DeleteFunc([]string{"/usr/local/bin", "/bin"}, func(d string) bool { return lasting(d) == "" })
	if want := append([]string{tools, bin, "/usr/bin"}, there...); !slices.Equal(all, want) {
		t.Errorf("all are %q, want %q", all, want)
	}
	if want := append([]string{tools, "/usr/bin"}, there...); !slices.Equal(needed, want) {
		t.Errorf("needed are %q, want %q", needed, want)
	}
}

// No secret of the environment is in the job: not by its name, not in a proxy's address.
func TestNoSecretInTheJob(t *testing.T) {
	env := environ.Of([]string{
		"HOME=/home/op", "PATH=/usr/bin", "GH_TOKEN=gho_secret", "ANTHROPIC_API_KEY=sk-secret", "HTTPS_PROXY=http://me:secret@proxy:8080", "HTTP_PROXY=me:secret@proxy:8080", "https_proxy=http://proxy:8080",
		"http_proxy=http://me:secret%@proxy:8080",
		"XDG_DATA_HOME=/data@home", "EDITOR=vi",
	})
	cfg := &config.Config{Agents: map[string]config.Agent{"claude": {Name: "claude", Adapter: "command", Command: []string{"/a"}, EnvPass: []string{"ANTHROPIC_API_KEY", "UNSET"}}}}
	cfg.Runtime.Agent, cfg.Runtime.StateDir = "claude", "/state"
	p, err := newPlan(cfg, env, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pairs := p.job.Pairs()
	if strings.Contains(strings.Join(pairs, "\n"), "secret") || !slices.Contains(pairs, "https_proxy=http://proxy:8080") || !slices.Contains(pairs, "XDG_DATA_HOME=/data@home") || len(pairs) != 4 {
		t.Errorf("the job has %q", pairs)
	}
	if got := p.withheld(env); !slices.Equal(got, []string{"GH_TOKEN", "ANTHROPIC_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy"}) {
		t.Errorf("withheld are %q", got)
	}
	if !p.job.Default || p.job.Name() != "gh-mergexo" {
		t.Errorf("the usual config makes %q", p.job.Name())
	}
}

// A PATH that is too long for cron is cut to what the job needs; systemd takes it whole.
func TestLongPathFits(t *testing.T) {
	long := strings.Repeat("/some/long/folder:", 80)
	p := plan{short: "/usr/bin"}
	p.job = schedule.Job{Config: "/c", Default: true, Gh: "/usr/bin/gh", Every: time.Minute, Env: []schedule.Var{{Name: "PATH", Value: long}}}
	for k, want := range map[schedule.Kind]string{schedule.Cron: "/usr/bin", schedule.Systemd: long} {
		s, err := p.machine.Of(k)
		if err != nil {
			t.Fatal(err)
		}
		if j, err := p.fit(s, p.job); err != nil || j.Get("PATH") != want {
			t.Errorf("%s: %q, %v", k, j.Get("PATH"), err)
		}
	}
}

// What keeps passes from being repeated is said, each with what ends it.
func TestWarnings(t *testing.T) {
	none := &work.MachineError{Err: errors.New("no scheduler works here"), Do: "install cron"}
	for name, c := range map[string]struct {
		st   State
		want []string
	}{
		"well":           {State{Scheduler: schedule.Cron, Every: time.Minute, Active: true}, nil},
		"none":           {State{}, []string{"gh mergexo has installed no schedule here"}},
		"none possible":  {State{None: none}, []string{"no scheduler works here"}},
		"two":            {State{Scheduler: schedule.Cron, Every: time.Minute, Differs: []string{"a", "b"}}, []string{"cron starts a pass every 1m, and a", "cron starts a pass every 1m, and b"}},
		"no cron daemon": {State{Scheduler: schedule.Cron, Every: time.Minute, CronSleeps: true}, []string{cronSleeps.Says}},
	} {
		var got []string
		for _, w := range c.st.Warnings() {
			if got = append(got, w.Says); w.Do == "" {
				t.Errorf("%s: %q has no remedy", name, w.Says)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
