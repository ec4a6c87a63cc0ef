package doctor

import (
	"fmt"
	"strings"
	"time"
)

func repositories(f Facts) []Check {
	var all []Check
	for _, r := range f.Repos {
		all = append(all, repository(r)...)
	}
	return all
}

func repository(r Repo) []Check {
	a := &about{name: r.Name}
	switch {
	case r.Unasked != "":
		a.warn(CodeRepository, "not checked: "+r.Unasked, "")
	case r.Trouble != nil:
		a.fail(CodeRepository, r.Trouble.Says, r.Trouble.Do)
	default:
		present(a, r)
	}
	remembered(a, r)
	return a.all
}

// present checks a repository that could be read.
func present(a *about, r Repo) {
	if strings.EqualFold(r.Current, r.Name) || strings.EqualFold(r.Host+"/"+r.Current, r.Name) {
		a.ok(CodeRepository, "its default branch is "+r.DefaultBranch)
	} else {
		a.warn(CodeRepository, "its name on GitHub is "+r.Current+" now", fmt.Sprintf("write name = %q in its [[repo]]", r.typed()))
	}
	switch {
	case r.Archived:
		a.fail(CodeArchived, "it is archived: nobody can write to it", fmt.Sprintf("gh repo unarchive %s, or remove its [[repo]] from the config", r.typed()))
	case r.Disabled:
		a.fail(CodeArchived, "GitHub has disabled it", "remove its [[repo]] from the config, or ask GitHub")
	case !r.CanPush:
		a.fail(CodeWrite, "the account may not push to it", "ask for write permission, or log in as somebody who has it: gh auth login --hostname "+r.Host)
	default:
		a.ok(CodeWrite, "the account may push")
	}
	reads(a, r)
	labels(a, r)
	rules(a, r)
}

// typed returns the repository as a command or the config takes it: without its host, another one
// with the same name could be meant.
func (r Repo) typed() string {
	if r.Host == "github.com" && !strings.HasPrefix(strings.ToLower(r.Name), "github.com/") {
		return r.Current
	}
	return r.Host + "/" + r.Current
}

func reads(a *about, r Repo) {
	if r.NoIssues {
		a.fail(CodeReads, "issues are switched off, and work starts from an issue", fmt.Sprintf("gh repo edit %s --enable-issues", r.typed()))
	}
	for _, u := range r.Unreadable {
		says := fmt.Sprintf("the token may not read %s: %s", u.What, u.For)
		do := "give it that permission; docs/setup.md#accounts lists what each kind of token needs"
		if u.Needed {
			a.fail(CodeReads, says, do)
		} else {
			a.warn(CodeReads, says, do)
		}
	}
	if !r.NoIssues && len(r.Unreadable) == 0 {
		a.ok(CodeReads, "files, issues, pull requests, checks and statuses")
	}
}

func labels(a *about, r Repo) {
	switch {
	case r.Labels == nil:
	case len(r.Labels.Missing) == 0:
		a.ok(CodeLabels, fmt.Sprintf("all %d exist", r.Labels.Wanted))
	case r.Archived:
	default:
		a.warn(CodeLabels, "missing: "+strings.Join(r.Labels.Missing, ", "), "gh mergexo tick creates them")
	}
}

// remembered checks what passes have recorded.
func remembered(a *about, r Repo) {
	if r.LastError != "" {
		a.warn(CodeReading, "the last pass could not read it: "+r.LastError, "")
	}
	if r.Stopped != "" {
		a.warn(CodeReading, r.Stopped, "look at what landed, then: gh mergexo resume-merging "+r.Name)
	}
	for _, o := range r.Others {
		a.warn(CodeOthers, fmt.Sprintf("another installation wrote as %s, last at %s: both answer the same comments", o.Account, o.At.UTC().Format(time.RFC3339)),
			"remove its [[repo]] from the config of one of them")
	}
}
