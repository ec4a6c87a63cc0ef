package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Repo is one repository. Before a pass has seen it, it has only its name.
type Repo struct {
	Name      string           `json:"name"`           // as the config has it
	SeenAt    terminal.Time    `json:"seenAt"`         // when a pass read it last
	Error     string           `json:"error"`          // of the last reading
	NotBefore terminal.Time    `json:"notBefore"`      // no pass reads it before
	LeftTo    string           `json:"leftTo"`         // the machine to which passes here leave it
	Gone      string           `json:"gone"`           // why no pass works on one that left the config; empty: it is in it
	Stopped   *cli.StoppedView `json:"mergingStopped"` // null: it is not
	Near      []NearLabel      `json:"nearLabels"`     // labels that start nothing

	row    work.Repo
	items  map[work.State]int // how many are in each state
	shared []string           // faults that other repositories may share, printed once
	notes  []string           // what else is to be told of it
}

// NearLabel is a label that starts nothing.
type NearLabel struct {
	Number  int    `json:"number"`
	Label   string `json:"label"`
	Meant   string `json:"meant"`   // the label that it nearly is; empty: it is one, and the issue is closed
	Ignored bool   `json:"ignored"` // it starts nothing while the issue has the label of meant
}

// says tells it, and what to do.
func (l NearLabel) says(repo string) string {
	if l.Meant == "" {
		return fmt.Sprintf("%[1]s#%[2]d is closed, so its label %[3]s starts nothing; to begin: gh issue reopen %[2]d --repo %[1]s", repo, l.Number, terminal.OneLine(l.Label))
	}
	if l.Ignored {
		return fmt.Sprintf("%[1]s#%[2]d is ignored: its label %[3]s starts nothing while it has the label %[4]s; to begin: gh issue edit %[2]d --repo %[1]s --remove-label %[4]s",
			repo, l.Number, terminal.OneLine(l.Label), l.Meant)
	}
	return fmt.Sprintf("%s#%d has the label %s, which does nothing there; set %s instead", repo, l.Number, terminal.OneLine(l.Label), l.Meant)
}

// unreadNumbers tells how much of a repository no pass had the time to read yet.
func unreadNumbers(u store.Unread) string {
	text := fmt.Sprintf("what changed on %d issues and pull requests is not read yet", u.Numbers)
	if !u.Since.IsZero() {
		text += "; the oldest change is of " + work.Stamp(u.Since)
	}
	return text + "; the next pass resumes there"
}

func repoOf(r work.Repo, called string, c store.Counts) Repo {
	return Repo{
		Name: called, SeenAt: terminal.Stamp(r.HeartbeatAt), Error: r.LastError, NotBefore: terminal.Stamp(r.NotBefore), Near: []NearLabel{},
		row: r, items: c.Items, notes: ignored(called, c.Outcomes),
	}
}

// mostUnsent is how many notices of a repository that failed are shown.
const mostUnsent = 3

// unsent returns why notices wait that were tried before.
func unsent(failed []work.Action) (lines []string) {
	for _, a := range failed[:min(len(failed), mostUnsent)] {
		lines = append(lines, fmt.Sprintf("#%d: %s not sent yet: %s", a.Number, a.Kind.Words(), terminal.OneLine(a.LastError)))
	}
	if more := len(failed) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("%s more not sent yet (gh mergexo logs --level warn)", work.Count(more, "notice")))
	}
	return lines
}

// leftShown is how long a replaced repository is shown.
const leftShown = 30 * 24 * time.Hour

// loadLeft reads the repositories that left the config with open work.
func loadLeft(ctx context.Context, tx *store.Tx, cfg *config.Config, known []work.Repo, now time.Time) ([]Repo, error) {
	var left []Repo
	ours := []string{cfg.Path, store.ConfigOf(cli.ThisMachine(cfg), cfg.Path)}
	for _, row := range known {
		_, named := cfg.Repo(row.Name)
		if !slices.Contains(ours, row.NamedBy) {
			continue // named by another config that shares the state folder
		}
		replaced := named && isReplaced(row, known)
		if named && !replaced || replaced && now.Sub(row.RemovedAt) > leftShown {
			continue
		}
		items, err := tx.ListOpenItems(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			continue
		}
		r, kept := repoOf(row, row.Name.FullName(), store.Counts{}), work.Count(len(items), "open work item")
		r.Gone = fmt.Sprintf("%s is not in the config any more; not worked on: %s. To resume, name it in the config again", r.Name, kept)
		switch {
		case slices.ContainsFunc(cfg.Repos, func(r config.Repo) bool {
			return r.Name.Host != row.Name.Host && strings.EqualFold(r.Name.FullName(), row.Name.FullName())
		}):
			r.Gone = fmt.Sprintf("%s of %s: the config names that of another host, which is gh's if it names none; not worked on: %s. To resume: gh auth login --hostname %[2]s, or name it with its host",
				row.Name.FullName(), row.Name.Host, kept)
		case replaced:
			r.Gone = fmt.Sprintf("%s: another repository has had this name since %s; not worked on: %s of the former one, which is gone", r.Name, work.Stamp(row.RemovedAt), kept)
		}
		left = append(left, r)
	}
	return left, nil
}

// isReplaced reports whether another repository has the name now.
func isReplaced(r work.Repo, known []work.Repo) bool {
	return !r.RemovedAt.IsZero() && slices.ContainsFunc(known, func(o work.Repo) bool {
		return o.ID != r.ID && o.RemovedAt.IsZero() && o.Name.Equal(r.Name)
	})
}

// ignored tells of commands, comments and labels that were ignored, by what became of the events.
func ignored(called string, outcomes map[string]int) (notes []string) {
	for _, row := range []struct{ outcome, what, says string }{
		{work.OutcomeNoCommander, "command", "by people without write permission %s ignored"},
		{work.OutcomeTakenOver, "comment", "by a login of the config that is another account now %s ignored, and the log says how to accept it"},
		{work.OutcomeNoLabeller, "label", "by people without triage permission %s ignored"},
	} {
		if n := outcomes[row.outcome]; n > 0 {
			was := "were"
			if n == 1 {
				was = "was"
			}
			notes = append(notes, fmt.Sprintf("%s: %s "+row.says, called, work.Count(n, row.what), was))
		}
	}
	return notes
}

// mostNear is how many labels of a repository that start nothing are shown.
const mostNear = 3

// near tells of labels that start nothing.
func (r Repo) near() (notes []string) {
	for _, l := range r.Near[:min(len(r.Near), mostNear)] {
		notes = append(notes, l.says(r.Name))
	}
	if more := len(r.Near) - mostNear; more > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s more with a label that starts nothing (gh mergexo status --json repositories)", r.Name, work.Count(more, "number")))
	}
	return notes
}

// repoNotes returns what is to be told of the repositories: why they were not read, and when they will be.
func (b Board) repoNotes() []string {
	var shared cli.SharedLines
	var own, left []string
	for _, r := range b.Repos {
		for _, text := range r.shared {
			shared.Add(r.Name, text)
		}
		switch {
		case r.Gone != "":
			left = append(left, terminal.OneLine(r.Gone))
			continue
		case r.row.ID == 0:
			shared.Add(r.Name, "not seen yet")
		case r.LeftTo == "" && r.Error != "":
			shared.Add(r.Name, r.Error)
			if r.NotBefore.After(b.now) {
				shared.Until(r.Error, r.NotBefore.Time)
			}
		}
		own = append(own, r.notes...)
		if r.row.ID != 0 && !r.row.Current.Equal(r.row.Name) {
			left = append(left, fmt.Sprintf("%s is %s now; write that name in the config", r.Name, r.row.Current.FullName()))
		}
	}
	return slices.Concat(shared.Lines(), own, left)
}
