// This file finds settings that are valid but have no effect, or probably not the intended
// one.

package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Doubts returns the doubts about a config, one per line.
func Doubts(c *Config) []string {
	var all []string
	for _, r := range c.Repos {
		say := func(format string, args ...any) {
			all = append(all, c.Called(r.Name)+": "+fmt.Sprintf(format, args...))
		}
		m := r.Review.Merge
		switch {
		case m.Auto && !merges(r):
			say("auto_merge has no effect: no reviewer reviews its pull requests, and require_human_approval is false")
		case !m.Auto && len(m.Critical) > 0:
			say("critical_paths has no effect: auto_merge is false")
		}
		for _, set := range []struct {
			key   string
			globs []string
		}{{"critical_paths", m.Critical}, {"review_unread", m.Unread}, {"protected_paths", r.ProtectedPaths}} {
			for _, glob := range set.globs {
				if looksLikeFolder(glob) {
					say("%s has %q, which means a file of that name alone; write %q for what is in a folder", set.key, glob, glob+"/**")
				}
			}
		}
		all = append(all, reviewers(c, r)...)
	}
	return all
}

// merges reports whether gh mergexo merges pull requests of any flow.
func merges(r Repo) bool {
	for _, flow := range work.Flows() {
		if r.MergePolicy(flow).Auto {
			return true
		}
	}
	return false
}

// looksLikeFolder reports a glob that was probably meant for the content of a folder: a word in
// lower case without an extension.
func looksLikeFolder(glob string) bool {
	return glob == strings.ToLower(glob) && !strings.ContainsAny(glob, "*?[{.")
}

// reviewers returns the doubts about the reviewers of a repository.
func reviewers(c *Config, r Repo) []string {
	if !r.Review.Enabled {
		return nil
	}
	var all []string
	looking := 0
	for _, x := range r.Reviewers {
		if len(x.Flows) > 0 {
			looking++
		}
		if !x.Human && x.Persona == "" {
			all = append(all, fmt.Sprintf("%s: reviewer %q has no persona, and looks at what every reviewer looks at; set persona", c.Called(r.Name), x.Name))
		}
	}
	if looking == 0 && !r.Review.RequireHuman {
		all = append(all, c.Called(r.Name)+": nobody reviews its pull requests: flows of all reviewers is []; take it out where one is to look by itself")
	}
	return all
}

// AuthorDoubts lists the reviewers who are gh's own account on their host: it opens the pull
// requests, and GitHub accepts no verdict from a pull request's author.
func AuthorDoubts(c *Config, login func(host string) string) []string {
	var all []string
	for _, r := range c.Repos {
		for _, x := range r.Reviewers {
			if !r.Review.Enabled || !x.Human || !strings.EqualFold(x.Login, login(r.Name.Host)) {
				continue
			}
			all = append(all, fmt.Sprintf("reviewer %q of %s is %s, the account that gh is logged in as: GitHub accepts no verdict on one's own pull requests; "+
				"theirs is `/mergexo approve` in a comment, or gh mergexo approve", x.Name, c.Called(r.Name), x.Login))
		}
	}
	return all
}

// Doubts returns what the config names for a used agent but this machine lacks: a path let into its
// sandbox, a variable passed on to it. These are no errors: a folder may be created later, and cron
// has another environment. But nothing else reveals a misspelt name.
func (c *Config) Doubts(env environ.Env, a Agent) []string {
	var all []string
	absent := func(where, key string, paths []string) {
		for _, path := range paths {
			if _, err := os.Stat(path); err != nil {
				all = append(all, fmt.Sprintf("%s of %s names %q, which is not there", key, where, path))
			}
		}
	}
	where := "[agents." + a.Name + "]"
	absent("[runtime]", "readable", c.Runtime.Readable)
	absent(where, "writable", a.Writable)
	for _, name := range a.EnvPass {
		if _, ok := env.Lookup(name); !ok {
			all = append(all, fmt.Sprintf("env_pass of %s names %s, which is not set in this environment", where, name))
		}
	}
	return all
}
