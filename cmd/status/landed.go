package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// loadMerged reads our merge of the pull request's head.
func (s *Story) loadMerged(ctx context.Context, tx *store.Tx) error {
	if !s.HasPull() {
		return nil
	}
	m, found, err := tx.FindMerge(ctx, s.Pull.ID, s.Pull.HeadOID)
	if found {
		s.merged = &m
	}
	if err == nil && len(m.Red) > 0 {
		_, s.revert, err = landedOf(ctx, tx, s.Repo, s.Pull)
	}
	return err
}

// mergeHead are the lines about the merge above its gates.
func (s Story) mergeHead(out terminal.Output) [][2]string {
	lines := [][2]string{{"merge", s.mergeIs()}, {"merge queue", s.queueIs()}}
	if m := s.merged; m != nil && m.Stage == merging.Landed {
		lines = append(lines, [2]string{"merged", mergedAs(*m) + ", " + out.When(m.LandedAt, s.Now)}, [2]string{"what landed", compared(*m)}, [2]string{"base after it", watched(*m, s.Now)}, [2]string{"taken back by", s.revert})
	}
	for i := range lines {
		lines[i][1] = out.LocalTimes(terminal.OneLine(lines[i][1]))
	}
	return lines
}

// printGates prints the merge gates, the closed ones with what opens them.
func (s Story) printGates(out terminal.Output) error {
	var rows [][]string
	for _, g := range s.gates() {
		if !out.TTY {
			rows = append(rows, []string{"gate", string(g.code), string(g.is), g.why, g.opens})
			continue
		}
		line := g.is.mark() + " " + string(g.code) + "\n"
		if g.why != "" {
			said := strings.TrimSuffix(g.why+" → "+g.opens, " → ")
			line = out.Labelled("", fmt.Sprintf("%s %-18s", g.is.mark(), g.code), out.LocalTimes(said))
		}
		if _, err := fmt.Fprint(out.W, line); err != nil {
			return err
		}
	}
	if out.TTY || len(rows) == 0 {
		return nil
	}
	return out.Table(nil, rows)
}

// mergedAs is the method of our merge and its commit.
func mergedAs(m merging.Merge) string {
	how := string(m.Method)
	if how == "" {
		how = "by the merge queue"
	}
	return fmt.Sprintf("%s as %s into %s", how, short(m.Commit), m.Base)
}

// compared tells whether the landed commit is the approved one.
func compared(m merging.Merge) string {
	switch {
	case m.Differs != "":
		return fmt.Sprintf("NOT what was approved as %s: %s", short(m.Head), m.Differs)
	case m.Landed == "":
		return "not compared with what was approved"
	}
	return "compared: the same as what was approved as " + short(m.Head)
}

// watched is the state of the base since our merge.
func watched(m merging.Merge, now time.Time) string {
	switch {
	case len(m.Red) > 0:
		return "red: " + strings.Join(m.Red, ", ")
	case m.WatchUntil.IsZero():
		return ""
	case m.WatchUntil.After(now):
		return "its checks are watched until " + work.Stamp(m.WatchUntil)
	}
	return "no check turned red while it was watched"
}
