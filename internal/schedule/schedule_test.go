package schedule

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"howett.net/plist"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// hard are parts of paths with a special meaning to a shell, to cron, in XML or in a unit.
var hard = []string{"a", "Z", "9", " ", "%", "%%", `\`, `\\`, `\%`, "'", `"`, "`", "$", "$HOME", "&", "<", ">", "]]>", "--", "&amp;", "#", ";", "|", "*", "~", "!", "(", "{", "é", "日", "=", "-", "@", "+", ":", ",", "."}

func paths(t *rapid.T, name string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom(hard), 1, 8).Draw(t, name)
	return "/" + strings.Join(parts, "")
}

func jobs(t *rapid.T, k Kind) Job {
	every := rapid.SampledFrom([]time.Duration{time.Minute, 5 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}).Draw(t, "every")
	if k != Cron {
		every = time.Duration(rapid.IntRange(10, 86400).Draw(t, "seconds")) * time.Second
	}
	j := Job{
		Config: paths(t, "config"), Default: rapid.Bool().Draw(t, "default"), Gh: strings.ReplaceAll(paths(t, "gh"), "=", ""), Logs: paths(t, "logs"), Every: every, Since: noon,
		Env: []Var{{"PATH", paths(t, "path")}, {"HOME", paths(t, "home")}},
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"GH_HOST", "XDG_DATA_HOME", "NO_PROXY"}), 0, 3, func(s string) string { return s }).Draw(t, "names") {
		j.Env = append(j.Env, Var{name, strings.Join(rapid.SliceOfN(rapid.SampledFrom(hard), 1, 4).Draw(t, name), "")})
	}
	return j
}

var intervals = map[Kind]func(time.Duration) string{Cron: cronBegins, Systemd: onUnitActive, Launchd: startInterval}

// A job is read back as it was written.
func TestReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for k := range forms {
			j := jobs(t, k)
			if err := j.check(); err != nil {
				t.Fatal(err)
			}
			s, err := Machine{}.Of(k)
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.Files(j)
			if _, long := errors.AsType[*TooLongError](err); long {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			got := jobOf(all[len(all)-1], intervals[k])
			if !(Installed{Job: got, Files: all}).Same(s, j) {
				t.Errorf("%s: %+v is not what is installed", k, j)
			}
			if got.Gh != j.Gh || got.Every != j.Every || !slices.Equal(got.Env, j.Env) || !got.Since.Equal(j.Since) {
				t.Errorf("%s: %+v was read as %+v", k, j, got)
			}
		}
	})
}

// The command that cron passes to a shell starts the job with its arguments and environment,
// whether or not this cron turns two backslashes into one.
func TestTheShellReadsCronsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := jobs(t, Cron)
		block, err := cronBlock(j)
		if err != nil {
			t.Skip(err)
		}
		line := strings.SplitN(strings.Split(block, "\n")[2], " ", 6)[5]
		words := slices.Concat([]string{"/usr/bin/env"}, j.Pairs(), j.Command(Cron))
		for name, read := range map[string]func(string) string{"Debian's": func(s string) string { return asCron(s, "%") }, "ISC's": func(s string) string { return asCron(s, `%\`) }} {
			out, err := exec.Command("/bin/sh", "-c", "for w in "+read(line)+`; do printf '%s\n' "$w"; done`).Output()
			if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err != nil || !slices.Equal(got, words) {
				t.Errorf("%s cron: %q gave %q, want %q: %v", name, line, got, words, err)
			}
		}
	})
}

// asCron is cron's reading of a command: a % ends it, unless a backslash precedes it. The backslash
// before a named character is removed.
func asCron(command, named string) string {
	var b strings.Builder
	for i := 0; i < len(command); i++ {
		switch {
		case command[i] == '\\' && i+1 < len(command) && strings.ContainsRune(named, rune(command[i+1])):
			i++
		case command[i] == '%':
			return b.String()
		case command[i] == '\\' && i+1 < len(command):
			b.WriteByte(command[i])
			i++
		}
		b.WriteByte(command[i])
	}
	return b.String()
}

// Whatever a crontab contains, all but the job's block stays the same byte for byte.
func TestTheRestOfACrontabStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"", "# mine", "MAILTO=x", "* * * * * echo \\%", "\t@daily x  ", "# gh-mergexo", "# gh-mergexo begin 00000000", "# gh-mergexo end 00000000", "# gh-mergexo beginning", "é\r"})).Draw(t, "lines")
		tab := strings.Join(lines, "\n")
		if tab != "" {
			tab += "\n"
		}
		j := jobs(t, Cron)
		j.Env = []Var{{"PATH", "/bin"}}
		block, err := cronBlock(j)
		if err != nil {
			t.Fatal(err)
		}
		with, err := intoCron(j, tab, block)
		if err != nil {
			t.Fatal(err)
		}
		more := rapid.SampledFrom([]string{"", "# below\n"}).Draw(t, "below")
		j.Every = time.Hour
		changed, err := cronBlock(j)
		if err != nil {
			t.Fatal(err)
		}
		again, err := intoCron(j, with+more, changed)
		if err != nil {
			t.Fatal(err)
		}
		before, found, after, err := cutCron(j, again)
		if err != nil || found != changed || before+after != tab+more {
			t.Errorf("%q became %q, with %q: %v", tab+more, before+after, found, err)
		}
		other := j
		other.Config, other.Default = j.Config+"x", false
		if _, of, _, err := cutCron(other, again); err != nil || of != "" {
			t.Errorf("the block of another config is %q: %v", of, err)
		}
	})
}

func TestABrokenBlockIsLeftAlone(t *testing.T) {
	j := Job{Default: true}
	for _, tab := range []string{"# gh-mergexo begin\n", "# gh-mergexo end\n", "# gh-mergexo end\n# gh-mergexo begin\n", "# gh-mergexo begin\n# gh-mergexo begin\n# gh-mergexo end\n", "# gh-mergexo begin\n# gh-mergexo end\n# gh-mergexo end\n"} {
		if _, err := intoCron(j, tab, "block\n"); err == nil || !strings.Contains(err.Error(), "crontab -e") {
			t.Errorf("%q: %v", tab, err)
		}
	}
	if got, err := intoCron(j, "x", "block\n"); err != nil || got != "x\nblock\n" {
		t.Errorf("without a line's end: %q, %v", got, err)
	}
}

// A parser of property lists reads the job as launchd does.
func TestPropertyListIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := jobs(t, Launchd)
		var got struct {
			Label                string
			ProgramArguments     []string
			EnvironmentVariables map[string]string
			StartInterval        int
			RunAtLoad            bool
			AbandonProcessGroup  bool
			StandardOutPath      string
			StandardErrorPath    string
		}
		format, err := plist.Unmarshal([]byte(property(j)), &got)
		if err != nil || format != plist.XMLFormat {
			t.Fatal(err)
		}
		env := map[string]string{}
		for _, v := range j.Env {
			env[v.Name] = v.Value
		}
		log := filepath.Join(j.Logs, "launchd.log")
		if got.Label != j.label() || !slices.Equal(got.ProgramArguments, j.Command(Launchd)) || !maps.Equal(got.EnvironmentVariables, env) ||
			got.StartInterval != int(j.Every/time.Second) || !got.RunAtLoad || !got.AbandonProcessGroup || got.StandardOutPath != log || got.StandardErrorPath != log {
			t.Errorf("%+v was read as %+v", j, got)
		}
	})
}

// systemd itself accepts the units.
func TestUnitsAreVerified(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	dir := t.TempDir()
	gh := filepath.Join(dir, `g h%$'"\é`)
	if err := os.WriteFile(gh, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	j := Job{Config: `/a b%c$HOME/"x"\y\`, Gh: gh, Every: 90 * time.Second, Since: noon, Env: []Var{{"PATH", `/x y:/50%:/$HOME:/"q":/back\slash`}, {"HOME", dir}}}
	service, timer := j.unitNames()
	for name, text := range map[string]string{service: unitService(j), timer: unitTimer(j)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{service, timer} {
		c := exec.Command(verify, "verify", "--user", "--man=no", filepath.Join(dir, name))
		c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), name) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestEvery(t *testing.T) {
	for _, c := range []struct {
		k     Kind
		every time.Duration
		says  string
	}{
		{Cron, time.Minute, ""},
		{Cron, 20 * time.Minute, ""},
		{Cron, 8 * time.Hour, ""},
		{Cron, 24 * time.Hour, ""},
		{Cron, 30 * time.Second, "not more often"},
		{Systemd, 30 * time.Second, ""},
		{Launchd, 10 * time.Second, ""},
		{Launchd, 9 * time.Second, "10s or more"},
		{Systemd, 1500*time.Millisecond + 10*time.Second, "whole seconds"},
		{Cron, 90 * time.Second, "the same minutes of each hour"},
		{Cron, 7 * time.Minute, "the same minutes of each hour"},
		{Cron, 90 * time.Minute, "the same minutes of each hour"},
		{Cron, 5 * time.Hour, "the same minutes of each hour"},
		{Systemd, 25 * time.Hour, "24h or less"},
	} {
		err := CheckEvery(c.k, c.every)
		if c.says == "not more often" {
			c.says = "at most once a minute"
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s every %s: %v, want %q", c.k, c.every, err, c.says)
		}
	}
}

// A pass that would find another config by itself gets --config.
func TestTheConfigIsNamedWhereAnotherOneWouldBeFound(t *testing.T) {
	j := Job{Config: "/home/op/.config/mergexo/config.toml", Default: true, Gh: "/gh"}
	for dir, want := range map[string]string{"": "/gh mergexo tick", "/home/op/.config": "/gh mergexo tick", "/other": "/gh mergexo tick --config " + j.Config} {
		if j.Env = nil; dir != "" {
			j.Env = []Var{{"XDG_CONFIG_HOME", dir}}
		}
		if got := strings.Join(j.Command(Cron), " "); got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
	}
}

// Times that somebody wrote by hand are unknown: the job then differs from any that install writes.
func TestAnotherInterval(t *testing.T) {
	j := Job{Config: "/c", Default: true, Gh: "/gh", Every: 5 * time.Minute, Since: noon}
	for k, edit := range map[Kind][2]string{Cron: {"*/5 ", "*/7 "}, Systemd: {"=300s", "=420s"}, Launchd: {">300<", ">420<"}} {
		s, err := Machine{}.Of(k)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Files(j)
		if err != nil {
			t.Fatal(err)
		}
		f := &all[len(all)-1]
		f.Text = strings.Replace(f.Text, edit[0], edit[1], 1)
		found := Installed{Job: jobOf(*f, intervals[k]), Files: all}
		if found.Job.Gh != "/gh" || found.Job.Every != 0 {
			t.Errorf("%s: read %+v", k, found.Job)
		}
		if found.Same(s, j) {
			t.Errorf("%s: it is taken for ours", k)
		}
		f.Text = strings.Replace(f.Text, "{", "", 1)
		if got := jobOf(*f, intervals[k]); got.Gh != "" || got.Every != 0 {
			t.Errorf("%s: without a header, read %+v", k, got)
		}
	}
}

func TestWhatNoSchedulerTakes(t *testing.T) {
	good := Job{Config: "/c", Gh: "/gh", Env: []Var{{"PATH", "/bin"}}}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for says, change := range map[string]func(*Job){
		"absolute":   func(j *Job) { j.Gh = "gh" },
		"line break": func(j *Job) { j.Config = "/a\nb" },
		"not text":   func(j *Job) { j.Env = []Var{{"PATH", "/\xff"}} },
		"has a =":    func(j *Job) { j.Gh = "/a=b/gh" },
	} {
		j := good
		change(&j)
		if err := j.check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	good.Default, good.Every = true, time.Minute
	good.Env = []Var{{"PATH", strings.Repeat("/long", 250)}}
	if _, err := cronBlock(good); err == nil || !strings.Contains(err.Error(), "cron takes") {
		t.Error(err)
	}
}
