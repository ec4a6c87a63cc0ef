package tick

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A comment that begins with /mergexo speaks to the tool. It becomes an event
// of a kind of its own wherever it stands, so that it is no feedback, gets no
// eyes and no redirect, and never reaches an agent.

// versions are the kinds and ids under which the versions of a comment are
// known: an edit may make a command of it, or make it none.
func versions(e work.Event) [][2]string {
	if e.Kind != work.EventCommand {
		return [][2]string{{string(e.Kind), e.Source}, {string(work.EventCommand), work.CommandSource(e.Kind, e.Source)}}
	}
	plain := e.Source
	if kind := work.EventKind(e.State); kind == work.EventReview || kind == work.EventSummary {
		plain = plain[1:]
	}
	return [][2]string{{string(e.Kind), e.Source}, {e.State, plain}}
}

// intakeStray takes commands in from issues and pull requests that are not
// worked on; nothing else there is ours to read.
func (h *Comments) intakeStray(c candidate) {
	if c.event = work.AsCommand(c.event); c.event.Kind == work.EventCommand {
		c.pull = false
		h.add(c)
	}
}

// commandVerdict judges a command that is new to the database: whether its
// author may give it, and whether an earlier database's pass did what it says.
func (h *Comments) commandVerdict(ctx context.Context, e work.Event, outcome string) (string, error) {
	switch outcome {
	case "":
		outcome, err := h.obeyedBefore(ctx, e)
		if outcome == "" && err == nil {
			h.commands = append(h.commands, e)
		}
		return outcome, err
	case work.OutcomeNoPermission:
		h.decline(e)
		return work.OutcomeNoCommander, nil
	}
	return outcome, nil
}

// obeyedBefore looks for our answer to a command. Where it stands, the command
// was carried out, whatever this database knows: an old cancel must not act
// again.
func (h *Comments) obeyedBefore(ctx context.Context, e work.Event) (string, error) {
	said, err := h.r.GitHub.CommentsOf(ctx, h.repo.Current, e.Number, e.CreatedAt)
	if err != nil {
		return "", err
	}
	ids := h.p.accounts.ids(h.r.Name.Host)
	for _, c := range said {
		if work.Ours(c.Body, c.Author, ids) {
			h.heed(c.Body)
		}
	}
	if h.handled[e.Key] || h.handled[work.ShortKey(e.Key)] {
		h.obeyed = append(h.obeyed, e)
		return work.OutcomeAnswered, nil
	}
	return "", nil
}

// pausesByCommand are what commands that an earlier database's pass carried out
// began, until their label stood or another command ended them: from then on
// timelines show it.
func (h *Comments) pausesByCommand(numbers []int, shown []work.Pause) (pauses []work.Pause) {
	for i, e := range h.obeyed { // in the order of time
		if !says(e, work.VerbPause, numbers) {
			continue
		}
		p := work.Pause{Number: e.Number, Began: work.StampOf(e), By: e.Author.Login}
		ends := func(at time.Time) {
			if !at.Before(p.Began) && (p.Open() || at.Before(p.Ended)) {
				p.Ended = at
			}
		}
		for _, s := range shown {
			ends(s.Began)
		}
		for _, o := range h.obeyed[i+1:] {
			if says(o, work.VerbResume, numbers) {
				ends(work.StampOf(o))
			}
		}
		if !p.Open() {
			pauses = append(pauses, p)
		}
	}
	return pauses
}

// says reports whether an event is a certain command on one of some numbers.
func says(e work.Event, verb work.Verb, numbers []int) bool {
	cmd, ok := work.ParseCommand(e.Body)
	return ok && e.Kind == work.EventCommand && cmd.Verb == verb && slices.Contains(numbers, e.Number)
}

// resumed ends what pauses last and are ended by a command that this pass is
// going to carry out: what is said after it counts, however soon.
func (h *Comments) resumed(ctx context.Context, numbers []int, pauses []work.Pause) error {
	if !slices.ContainsFunc(pauses, work.Pause.Open) {
		return nil
	}
	commands := h.commands
	err := h.view(ctx, func(tx *store.Tx) error {
		pending, err := tx.ListPendingEvents(ctx, h.repo.ID) // of a pass that died before it planned
		commands = append(pending, commands...)
		return err
	})
	for _, e := range commands {
		at := work.StampOf(e)
		for i, p := range pauses {
			if p.Open() && !at.Before(p.Began) && says(e, work.VerbResume, numbers) {
				pauses[i].Ended = at
			}
		}
	}
	return err
}

// decline tells somebody who may not command that this is so: once in a
// repository, politely, and then never again.
func (h *harvest) decline(e work.Event) {
	if e.Author.ID == 0 {
		return // the account was deleted
	}
	token := work.NoticeToken(h.repo.Key(), 0, "may not command "+strconv.FormatInt(e.Author.ID, 10))
	body := "Thank you, but `/mergexo` commands are for people with write permission on this repository, so nothing was done. " +
		"Please ask one of them to give the command. Further commands will be ignored."
	h.declined = append(h.declined, work.Action{
		RepoID: h.repo.ID, ItemID: e.ItemID, Kind: work.ActionComment, Need: work.NeedCosmetic, Token: token, State: work.ActionPlanned,
		Number: e.Number, Body: work.Mark(body, work.Marks{Token: token}), Why: "a command by " + e.Author.Login + ", who may not give any",
	})
}

// storeDeclined plans each word to a person once, where it was first due: a pass
// whose database was lost finds it there.
func (h *Comments) storeDeclined(ctx context.Context, tx *store.Tx, now time.Time) error {
	slices.SortStableFunc(h.declined, func(a, b work.Action) int { return a.Number - b.Number })
	planned := map[string]bool{}
	for _, a := range h.declined {
		if planned[a.Token] {
			continue
		}
		planned[a.Token] = true
		a.PlannedAt = now
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// strayReview is a diff comment on a pull request that is not ours.
func strayReview(c github.ReviewComment) candidate {
	return reviewEvent(work.PullRequest{Number: c.Pull}, c)
}
