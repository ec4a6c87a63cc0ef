package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A comment that begins with /mergexo is a command. It becomes an event of its own kind, on any
// issue or pull request, so that it is not feedback, gets no 👀 and no redirect, and never reaches
// an agent.

// intakeUntracked ingests commands from issues and pull requests that we do not work on. Other
// comments there are ignored.
func (h *reading) intakeUntracked(c candidate) {
	if c.event = work.AsCommand(c.event); c.event.Kind == work.EventCommand {
		c.pull = false
		h.add(c)
	}
}

// commandVerdict judges a command that is new to the database: whether its author may give it, and
// whether it was carried out before the database was lost. ignored says why its text does not count.
func (h *reading) commandVerdict(ctx context.Context, e work.Event, outcome, ignored string) (string, error) {
	switch outcome {
	case "":
		outcome, err := h.obeyedBefore(ctx, e)
		if outcome == "" && err == nil {
			outcome = ignored
		}
		if outcome == "" && err == nil {
			outcome, err = h.mayMerge(ctx, e)
		}
		if outcome == "" && err == nil {
			h.commands = append(h.commands, e)
		}
		return outcome, err
	case work.OutcomeNoPermission:
		h.declineCommand(e)
		return work.OutcomeNoCommander, nil
	}
	return outcome, nil
}

// mayMerge declines a merge command whose author may not push to the repository. allowed_users
// grants other commands, but not this one.
func (h *reading) mayMerge(ctx context.Context, e work.Event) (string, error) {
	if !isCommand(e, work.VerbMerge, []int{e.Number}) {
		return "", nil
	}
	may, err := h.permissions.mayNow(ctx, e.Author, false)
	if err != nil || may {
		return "", err
	}
	h.declineMerge(e)
	return work.OutcomeNoCommander, nil
}

// obeyedBefore looks for our answer to a command. If there is one, the command was carried out,
// even if this database does not know it: an old cancel must not act again.
func (h *reading) obeyedBefore(ctx context.Context, e work.Event) (string, error) {
	said, err := h.commentsOf(ctx, e.Number, e.CreatedAt)
	if err != nil {
		return "", err
	}
	ids := h.env.Accounts.Operators(h.repo.Name.Host)
	for _, c := range said {
		if work.Ours(c.Body, c.Author, ids) {
			h.noteOwn(c.Body, c.CreatedAt, c.URL)
		}
	}
	if h.answered(e.Key) || h.answered(work.ShortKey(e.Key)) {
		h.obeyed = append(h.obeyed, e)
		return work.OutcomeAnswered, nil
	}
	return "", nil
}

// pausesByCommand returns the pauses begun by commands that were carried out before the database
// was lost. Each ends when its label was set, as timelines show the pause from then on, when the label was
// removed that paused already, or when another command ended it.
func (h *reading) pausesByCommand(numbers []int, shown []work.Pause) (pauses []work.Pause) {
	for i, e := range h.obeyed { // oldest first
		if !isCommand(e, work.VerbPause, numbers) {
			continue
		}
		p := work.Pause{Number: e.Number, Began: work.StampOf(e), By: e.Author.Login}
		ends := func(at time.Time) {
			if !at.Before(p.Began) && (p.Open() || at.Before(p.Ended)) {
				p.Ended = at
			}
		}
		for _, s := range shown {
			if ends(s.Began); !s.Open() && s.Covers(p.Began) {
				ends(s.Ended)
			}
		}
		for _, o := range h.obeyed[i+1:] {
			if isCommand(o, work.VerbResume, numbers) {
				ends(work.StampOf(o))
			}
		}
		if !p.Open() {
			pauses = append(pauses, p)
		}
	}
	return pauses
}

// isCommand reports whether an event is a command with the verb on one of the numbers.
func isCommand(e work.Event, verb work.Verb, numbers []int) bool {
	cmd, ok := work.ParseCommand(e.Body)
	return ok && e.Kind == work.EventCommand && cmd.Verb == verb && slices.Contains(numbers, e.Number)
}

// resumed ends the open pauses that a command of this pass will end: every comment after that
// command counts, however soon it came.
func (h *reading) resumed(ctx context.Context, numbers []int, pauses []work.Pause) error {
	if !slices.ContainsFunc(pauses, work.Pause.Open) {
		return nil
	}
	pending, err := h.lookups.pendingCommands(ctx, h) // left by a pass that died before it planned
	for _, e := range slices.Concat(pending, h.commands) {
		at := work.StampOf(e)
		for i, p := range pauses {
			if p.Open() && !at.Before(p.Began) && isCommand(e, work.VerbResume, numbers) {
				pauses[i].Ended = at
			}
		}
	}
	return err
}

// storeDeclined plans each answer to a declined person once, where it was first due: after the
// database is lost, a pass finds it there again.
func (h *reading) storeDeclined(ctx context.Context, tx *store.Tx, now time.Time) error {
	slices.SortStableFunc(h.declined, func(a, b work.Action) int { return a.Number - b.Number })
	for _, a := range h.declined {
		before, planned, err := tx.GetAction(ctx, a.Token)
		if err != nil {
			return err
		}
		if planned && before.State != work.ActionVoid {
			continue
		}
		a.PlannedAt = now
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
