package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// variable is one of the environment in which commands are tried; an empty one is taken out.
type variable struct{ name, value string }

// variables are the environment by which gh, git and gh mergexo find the demo, and
// nothing of the person's own.
func (d grounds) variables() []variable {
	at := func(parts ...string) string { return filepath.Join(append([]string{d.at.home}, parts...)...) }
	list := []variable{
		{"HOME", d.at.home},
		{"XDG_CONFIG_HOME", at(".config")},
		{"XDG_DATA_HOME", at(".local", "share")},
		{"XDG_STATE_HOME", at(".local", "state")},
		{"XDG_CACHE_HOME", at(".cache")},
		{"GH_CONFIG_DIR", d.at.gh},
		{"GH_NO_UPDATE_NOTIFIER", "1"},
		{"MERGEXO_CONFIG", d.at.config},
		{"MERGEXO_DEMO", "1"}, // nothing is scheduled on the machine
		{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GH_TOKEN", ""}, // the login is in GH_CONFIG_DIR
		{"GITHUB_TOKEN", ""},
		{"GH_ENTERPRISE_TOKEN", ""},
		{"GITHUB_ENTERPRISE_TOKEN", ""},
		{"GH_HOST", ""},
		{"GH_REPO", ""},
	}
	for _, pair := range d.env {
		if at, ok := strings.CutPrefix(pair, "HTTP_PROXY="); ok {
			list = append(list, variable{"HTTP_PROXY", at})
		}
	}
	return list
}

// lines are the environment as a shell reads it.
func (w *world) lines() string {
	var b strings.Builder
	for _, v := range w.variable {
		if v.value == "" {
			fmt.Fprintf(&b, "unset %s\n", v.name)
			continue
		}
		fmt.Fprintf(&b, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, "'", `'\''`))
	}
	return b.String()
}

// tell prints how to try commands. The file with the environment appears only
// when it is complete, because scripts wait for it.
func (w *world) tell(opt ServeOptions) error {
	if opt.EnvFile != "" {
		part := opt.EnvFile + ".part"
		if err := errors.Join(os.WriteFile(part, []byte(w.lines()), 0o600), os.Rename(part, opt.EnvFile)); err != nil {
			return fmt.Errorf("write the environment: %w", err)
		}
	}
	d := w.d
	d.say("A simulated GitHub is up, with the repository %s and its issues #%d to #%d. It lives until Ctrl-C.", repoName, bugIssue, jobIssue)
	d.say("\n%s\n", d.out.Bold("In another shell:"))
	if opt.EnvFile == "" {
		fmt.Fprint(d.out.W, indented(w.lines()))
	} else {
		d.exactly("  . " + opt.EnvFile)
	}
	d.exactly("  cd " + w.checkout)
	d.say("\n%s\n", d.out.Bold("Then:"))
	for _, line := range w.tries(opt.Unconfigured) {
		d.exactly("  " + line)
	}
	if _, err := proc.LookPath("gh", opt.Env.Path); err != nil {
		d.say("\nThese need gh, which is not on PATH. Install it: https://cli.github.com")
	}
	d.say("\nYou are %s, who owns the repository, and so are the passes. ann and bob may write to it, %s may not.", operator, stranger)
	d.say("\n%s\n", d.out.Bold("To be one of them, put a token before gh; gh mergexo itself works as "+operator+":"))
	d.exactly(fmt.Sprintf("  GH_TOKEN=%s gh pr comment 4 --body 'Which shells run it?'", githubsim.TokenOf("bob")))
	d.exactly(fmt.Sprintf("  GH_TOKEN=%s gh pr review 4 --approve", githubsim.TokenOf("ann")))
	return nil
}

// tries are commands to begin with.
func (w *world) tries(unconfigured bool) []string {
	list := []string{"gh issue list"}
	if unconfigured {
		list = append(list, "gh mergexo init")
	}
	return append(list,
		fmt.Sprintf("gh issue edit %d --add-label agent:bugfix", bugIssue),
		"gh mergexo tick --dry-run",
		"gh mergexo tick",
		"gh pr list",
		"gh pr comment 4 --body 'Does a test cover this?'",
		"gh mergexo tick",
		"gh mergexo status",
	)
}

// forget removes the file with the environment: what it names is gone.
func (w *world) forget(file string) error {
	if file == "" {
		return nil
	}
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

// serveNotes say how to look around in what was tried.
func serveNotes(d *demo) string {
	return fmt.Sprintf(`# What gh mergexo demo --serve left here

The simulated GitHub is gone; what it and gh mergexo kept is all here:

    home/       the home folder: .config/mergexo/config.toml, the clone greet,
                and the state folder .local/share/mergexo with state.db, logs/, repos/
    github/     the repository as it was on GitHub
    agent.log   a line for each run of the agent

Look around:

    %[1]s status --all --config %[2]s
    git --git-dir %[3]s log --graph --oneline --all
    sqlite3 %[4]s/state.db "select kind, step, runs, reason from turns"
`, d.self, d.at.config, d.repo.GitDir(), d.at.state)
}
