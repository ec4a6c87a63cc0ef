package tick

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// fillFollowups reads what items without a pull request wait for.
func fillFollowups(ctx context.Context, tx *store.Tx, v *View) error {
	v.Followups = map[int64]work.Followup{}
	for _, i := range v.Items {
		if _, opened := v.Pulls[i.ID]; opened {
			continue
		}
		f, ok, err := tx.FindFollowup(ctx, i.ID)
		if err != nil {
			return err
		}
		if ok {
			v.Followups[i.ID] = f
		}
	}
	return nil
}

// standsStill reports whether the item waits for a person.
func (r *router) standsStill() bool {
	return r.item.State == work.StateBlocked || r.item.State == work.StateAwaitingIssueFollowup
}

// fed reports whether a turn had the event that left the item standing still.
// A label asks once; set anew it asks again.
func (r *router) fed(e work.Event) bool {
	return e.ID <= r.v.Followups[r.item.ID].EventCursor
}

// unheard are the comments on the issue that no turn was fed.
func (r *router) unheard() []work.Event {
	_, waited := r.v.Followups[r.item.ID]
	return slices.DeleteFunc(slices.Clone(r.events), func(e work.Event) bool {
		if e.Kind != work.EventSource {
			return true
		}
		if waited {
			return r.fed(e)
		}
		return !e.SeenAt.After(r.item.Since)
	})
}

// whyStill says what an item without a turn waits for.
func (r *router) whyStill(unheard []work.Event) string {
	why := string(r.item.State) + ": " + r.item.Reason
	if len(unheard) > 0 {
		why = fmt.Sprintf("%s, and enable_issue_comment_routing is false; %s", work.Count(len(unheard), "comment"), why)
	}
	return why
}

// beginAnew forgets what the item waited for when the label was set anew.
func beginAnew(ctx context.Context, tx *store.Tx, planned PlannedTurn) error {
	f, waited, err := tx.FindFollowup(ctx, planned.Item.ID)
	if err != nil || !waited {
		return err
	}
	anew := func(e work.Event) bool { return work.Begins(planned.Item, e) && e.ID > f.EventCursor }
	if !slices.ContainsFunc(planned.Events, anew) {
		return nil
	}
	return tx.DropFollowup(ctx, planned.Item.ID)
}
