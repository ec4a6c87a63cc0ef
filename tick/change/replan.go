package change

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Replan begins the work item that changes a merged roadmap. There is one at a time: before its agent begins, it gets
// the reasons of others, too. Each source makes one once.
type Replan struct {
	Roadmap int64        // its first item
	Source  string       // what asks for it: the key of a command, or of the turn's issue below it
	By      work.Account // who asks; none: an agent
	Why     string
	URL     string
	Say     *work.Action // a comment that says so; nil: whoever asks is answered elsewhere
	Words
}

// Apply is part of Change.
func (c Replan) Apply(ctx context.Context, tx *Tx) error {
	first, err := tx.GetItem(ctx, c.Roadmap)
	if err != nil {
		return err
	}
	m, ok, err := tx.FindRoadmap(ctx, first.ID)
	if err != nil || !ok || m.State.Over() {
		return err
	}
	newest, _, err := tx.FindItem(ctx, first.RepoID, first.Number)
	waits := newest.Parent == first.ID && newest.State == work.StatePending
	if err != nil || newest.State.Open() && !waits || first.State != work.StateMerged {
		return err
	}
	hash := work.ContentHash(string(work.EventReplan), c.Source)
	e := work.Event{
		RepoID: first.RepoID, Number: first.Number, Kind: work.EventReplan, Source: hash[:16], Hash: hash, Author: c.By, Body: c.Why, URL: c.URL,
		CreatedAt: tx.Now, UpdatedAt: tx.Now, SeenAt: tx.Now,
	}
	e.Key = work.EventKey(e.Number, e.Kind, e.Source, e.Hash)
	if known, err := tx.HasEvent(ctx, first.RepoID, e.Key); err != nil || known {
		return err
	}
	if e.ItemID = newest.ID; !waits {
		next := newest.Next(work.FlowRoadmap, work.StatePending, tx.Now)
		next.Parent, next.Document, next.DecisionSummary = first.ID, m.Document, newest.DecisionSummary
		e.ItemID, err = tx.AddItem(ctx, next)
	}
	if err == nil {
		err = tx.MarkTable(ctx, first.ID)
	}
	if err != nil {
		return fmt.Errorf("begin the change of the roadmap of #%d: %w", first.Number, err)
	}
	if _, err := tx.AddEvent(ctx, e); err != nil || c.Say == nil {
		return err
	}
	return Notice{Action: *c.Say}.Apply(ctx, tx)
}
