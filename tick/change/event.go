package change

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// FinishEvents marks events as processed without a turn.
type FinishEvents struct {
	Events  []int64
	Outcome string
	Words
}

// Apply is part of Change.
func (c FinishEvents) Apply(ctx context.Context, tx *Tx) error {
	return tx.FinishEvents(ctx, c.Events, c.Outcome, tx.Now)
}

// Command adds an executed command to the history.
type Command struct {
	Item    int64 // 0: there is no item
	Number  int
	Command work.Command
	By      string
	Words
}

// Apply is part of Change.
func (c Command) Apply(ctx context.Context, tx *Tx) error {
	detail := c.Command.Named() + " by " + c.By
	if c.Command.Wrong != "" {
		detail = c.By + ": " + c.Command.Named()
	}
	return tx.AddHistory(ctx, work.History{RepoID: tx.Repo.ID, ItemID: c.Item, Number: c.Number, At: tx.Now, What: "command", Detail: detail})
}

// LocalCommand stores a command from the command line as an event.
type LocalCommand struct {
	Event work.Event
	Words
}

// Apply is part of Change.
func (c LocalCommand) Apply(ctx context.Context, tx *Tx) error {
	_, err := tx.AddEvent(ctx, c.Event)
	return err
}

// RetryShelved makes a shelved event pending again.
type RetryShelved struct {
	Key string
	Words
}

// Apply is part of Change.
func (c RetryShelved) Apply(ctx context.Context, tx *Tx) error {
	return tx.ReopenEvent(ctx, tx.Repo.ID, c.Key, work.OutcomeShelved, tx.Now)
}
