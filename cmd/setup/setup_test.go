package setup

import (
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestRepoOfARemote(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/octo/app.git":        "github.com/octo/app",
		"https://user:secret@GitHub.com/o/a/":    "github.com/o/a",
		"git@github.com:octo/app.git":            "github.com/octo/app",
		"ssh://git@ssh.github.com:443/octo/app":  "github.com/octo/app",
		"ssh://git@ghe.test:2222/octo/app.x.git": "ghe.test/octo/app.x",
		"/srv/git/app.git":                       "",
		"../app":                                 "",
		"https://github.com/octo":                "",
		"file:///srv/git/app.git":                "",
	} {
		got, ok := repoOf(address)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %s, %t", address, got, ok)
		}
	}
}

func TestRemotesInGhsOrder(t *testing.T) {
	const remotes = "zoo\thttps://h/o/zoo (fetch)\norigin\tgit@h:o/fork.git (fetch)\norigin\tgit@h:o/fork.git (push)\nupstream\thttps://h/o/app (fetch)\nlocal\t/srv (fetch)\n"
	names := func(all []work.RepoName) []string { return terminal.Each(all, work.RepoName.FullName) }
	if got := names(named(remotes, "")); !slices.Equal(got, []string{"o/app", "o/fork", "o/zoo"}) {
		t.Errorf("%q", got)
	}
	if got := names(named(remotes, "remote.zoo.gh-resolved base\n")); !slices.Equal(got, []string{"o/zoo"}) {
		t.Errorf("the one that was chosen: %q", got)
	}
}

// A login in an address is neither taken nor told.
func TestNoLoginOfAnAddressIsTold(t *testing.T) {
	for _, typed := range []string{"https://me:hunter2@github.com/octo/app/x", "me:hunter2@octo/app", "https://me:hunter2@github.com/octo/app.git"} {
		repo, err := parseName(typed)
		if err == nil && repo.String() != "github.com/octo/app" || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, %v", repo, err)
		}
	}
}

func TestLinesBreakAtBlanks(t *testing.T) {
	var b strings.Builder
	r := &room{out: terminal.Output{W: &b, TTY: true, Width: 80}}
	r.say("agent: %s; no sandbox: it can read what you can read, and sixteen files more (sandbox = \"none\")", "scripted")
	if got := b.String(); strings.Count(got, "\n") != 2 || slices.Max(terminal.Each(strings.Split(got, "\n"), func(l string) int { return len(l) })) > 80 {
		t.Errorf("%q", got)
	}
	b.Reset()
	r.say("To start work, set a label: gh issue edit NUMBER --repo github.localhost/octo/app --add-label agent:bugfix")
	if want := "To start work, set a label:\ngh issue edit NUMBER --repo github.localhost/octo/app --add-label agent:bugfix\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
