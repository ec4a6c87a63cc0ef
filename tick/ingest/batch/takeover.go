package batch

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Takeover is what the timeline of an issue or a pull request shows of pauses.
type Takeover struct {
	Pauses []work.Pause
	freed  time.Time // when the label was last taken away; zero while it stands
}

// TakeoverOf reads the pauses off a timeline. A list and a timeline are read
// one after the other, and either may lag: on says whether the list shows the
// label, and at what stamp.
func TakeoverOf(number int, timeline []github.TimelineEvent, label string, on bool, at time.Time) Takeover {
	var t Takeover
	lasts := func() bool { return len(t.Pauses) > 0 && t.Pauses[len(t.Pauses)-1].Open() }
	for _, e := range timeline {
		if !strings.EqualFold(e.Label, label) {
			continue
		}
		switch {
		case e.Event == "labeled" && !lasts():
			t.Pauses = append(t.Pauses, work.Pause{Number: number, LabelID: e.ID, Began: e.CreatedAt, By: e.Actor.Login})
		case e.Event == "unlabeled" && lasts():
			t.Pauses[len(t.Pauses)-1].Ended, t.freed = e.CreatedAt, e.CreatedAt
		}
	}
	switch {
	case on && !lasts(): // the timeline lags
		t.Pauses = append(t.Pauses, work.Pause{Number: number, Began: at, By: "somebody"})
	case !on && lasts() && at.After(t.Pauses[len(t.Pauses)-1].Began): // it lags, too; or the label was deleted
		t.Pauses[len(t.Pauses)-1].Ended, t.freed = at, at
	}
	if lasts() {
		t.freed = time.Time{}
	}
	return t
}

// Store stores what a timeline shows. The label that is taken away ends what a
// command began, too: GitHub has the last word.
func (t Takeover) Store(ctx context.Context, tx *store.Tx, repoID int64, number int) error {
	for _, p := range t.Pauses {
		p.RepoID = repoID
		put := tx.PutPause
		if p.LabelID == 0 {
			put = tx.BeginPause
		}
		if err := put(ctx, p); err != nil {
			return err
		}
	}
	if t.freed.IsZero() {
		return nil
	}
	return tx.EndPauses(ctx, repoID, number, store.PausesByCommand, t.freed)
}

// Versions are the kinds and ids under which the versions of a comment are
// known: an edit may make a command of it, or make it none.
func Versions(e work.Event) [][2]string {
	if e.Kind != work.EventCommand {
		return [][2]string{{string(e.Kind), e.Source}, {string(work.EventCommand), work.CommandSource(e.Kind, e.Source)}}
	}
	plain := e.Source
	if kind := work.EventKind(e.State); kind == work.EventReview || kind == work.EventSummary {
		plain = plain[1:]
	}
	return [][2]string{{string(e.Kind), e.Source}, {e.State, plain}}
}

// writes reports whether an action makes a comment of a kind.
func writes(a work.ActionKind, kind work.EventKind) bool {
	if kind == work.EventReview {
		return a == work.ActionReply
	}
	return (kind == work.EventIssue || kind == work.EventSource) && (a == work.ActionComment || a == work.ActionSticky)
}

func changed(a work.Action, body string) bool {
	marks, marked := work.ParseMarks(body)
	if a.Kind == work.ActionSticky {
		return !marked || marks.Token != a.Token
	}
	return strings.TrimSpace(work.Normalise(a.Body)) != strings.TrimSpace(body)
}
