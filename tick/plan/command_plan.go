package plan

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// ForCommand executes a command from the command line. e is the event that records it.
func ForCommand(v known.Snapshot, item known.Item, e work.Event, cmd work.Command) (Reply, Plan) {
	made := Plan{Repo: v.Repo}
	r := plannerOf(v, &made, item)
	r.item.Events = known.Without(r.item.Events, func(other work.Event) bool { return other.Kind == work.EventCommand })
	at := e.CreatedAt.Truncate(time.Second) // in whole seconds, like GitHub's times
	inv := invocation{Command: cmd, by: e.Author.Login, account: e.Author, at: at, number: e.Number, key: e.Key, onPull: r.item.HasPull() && e.Number == r.item.Pull.Number}
	if r.commander().opening(e) {
		return Reply{Said: "The pull request is being opened. Repeat the command once it is open.", Refused: true}, made
	}
	rep := r.commander().execute(inv)
	for _, a := range rep.sent {
		made.add(change.Notice{Action: a})
	}
	if !slices.ContainsFunc(rep.sent, func(a work.Action) bool { return a.Kind == work.ActionClose }) {
		e.ProcessedAt, e.Outcome = v.Now, work.OutcomeAnswered
	}
	made.add(change.LocalCommand{Event: e})
	return rep, made
}
