// Package looks describes how each repository of the config is watched, when it is read next, and
// which repositories the config no longer names.
package looks

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulse"
)

// Repo is how one repository is watched.
type Repo struct {
	Manner pulse.Manner // empty: no pass has seen the repository yet
	Next   time.Time    // when it is read next; zero: in the next pass
	First  *First       // progress of the first reading of its pull requests; nil: not in progress
}

// First is the progress of the first reading of a repository's open pull requests.
type First struct {
	LookedAt int `json:"lookedAt"` // how many were read so far; the next pass continues there
	Open     int `json:"open"`     // how many are open

	says string
}

// Repos returns how a repository is watched.
type Repos func(work.Repo) Repo

// Load reads what that depends on: how many repositories of a host this machine watches, and which
// of them GitHub hides from the pulse query. Next is the next reading after now.
func Load(ctx context.Context, tx *store.Tx, cfg *config.Config, known []work.Repo, now time.Time) (Repos, error) {
	hidden, err := tx.ListHidden(ctx)
	if err != nil {
		return nil, err
	}
	first, err := tx.ListWalks(ctx, work.FirstLookList)
	if err != nil {
		return nil, err
	}
	ours := map[string]int{}
	for _, c := range cfg.Repos {
		ours[c.Name.Host]++
	}
	return func(r work.Repo) Repo {
		if r.NodeID == "" {
			return Repo{}
		}
		manner, next := pulse.Watch(r, ours[r.Name.Host], hidden[r.ID], cfg.Runtime.MinInterval, now)
		w := Repo{Manner: manner, Next: next}
		if at, underWay := work.ParseFirstLook(first[r.ID]); underWay {
			w.First = &First{at.LookedAt(), at.All, at.Resumes()}
		}
		return w
	}, nil
}

// Lines collects messages about several repositories.
type Lines struct {
	hidden cli.SharedLines
	first  cli.SharedLines
	pulsed map[string]*pulsed // by host
}

// pulsed are the repositories of one host that the pulse query watches.
type pulsed struct {
	n          int
	last, next time.Time // of the repository that was read longest ago
}

// Add adds a repository; called is its name in messages.
func (l *Lines) Add(called string, r work.Repo, w Repo) {
	if w.First != nil {
		l.first.Add(called, w.First.says)
	}
	switch w.Manner {
	case pulse.ByTurn:
		l.hidden.Add(called, "GitHub does not say whether something changed there: read in turn, beside the others")
	case pulse.ByPulse:
		if l.pulsed == nil {
			l.pulsed = map[string]*pulsed{}
		}
		p := l.pulsed[r.Name.Host]
		if p == nil {
			p = &pulsed{last: r.LookedAt(), next: w.Next}
			l.pulsed[r.Name.Host] = p
		}
		if p.n++; r.LookedAt().Before(p.last) {
			p.last, p.next = r.LookedAt(), w.Next
		}
	case pulse.EachPass:
	}
}

// Print prints the progress of first readings, the repositories hidden from the pulse query and, on
// a terminal, how many repositories the pulse query watches.
func (l *Lines) Print(out terminal.Output, notes io.Writer, now time.Time) {
	for _, line := range slices.Concat(l.first.Lines(), l.hidden.Lines()) {
		fmt.Fprintln(notes, line)
	}
	if !out.TTY {
		return
	}
	for _, host := range slices.Sorted(maps.Keys(l.pulsed)) {
		fmt.Fprintln(notes, out.LocalTimes(l.pulsed[host].says(host, now)))
	}
}

func (p pulsed) says(host string, now time.Time) string {
	line := fmt.Sprintf("%d repositories of %s are watched by pulse: one query for each hundred says which changed", p.n, host)
	if !p.last.IsZero() {
		line += ", asked " + terminal.Age(p.last, now) + " ago"
	}
	if p.next.After(now) {
		return line + ", and again at " + work.Stamp(p.next)
	}
	return line + ", and again by the next pass"
}
