package tick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// journal is what a turn's blob in the mirror says, so that the database may
// be lost after the answer was stored.
type journal struct {
	Version int             `json:"version"`
	Repo    string          `json:"repo"`
	Issue   int             `json:"issue"`
	Flow    work.Flow       `json:"flow"`
	Label   string          `json:"label"`
	LabelID string          `json:"label_event"`
	Number  int             `json:"number"`
	Kind    work.Kind       `json:"kind"`
	Turn    string          `json:"turn"`
	Claimed int64           `json:"claimed_at"` // unix milliseconds
	Branch  string          `json:"branch"`
	Base    string          `json:"base"`
	Head    string          `json:"head"`
	Commit  string          `json:"commit"`
	Events  []string        `json:"events"`
	Agent   string          `json:"agent"`
	Session string          `json:"session"`
	Request json.RawMessage `json:"request"`
	Answer  json.RawMessage `json:"answer"`
	Actions []journalAction `json:"actions"`
}

type journalAction struct {
	Kind   work.ActionKind `json:"kind"`
	Need   work.Need       `json:"need"`
	Token  string          `json:"token"`
	Number int             `json:"number"`
	Target string          `json:"target"`
	Title  string          `json:"title"`
	Body   string          `json:"body"`
	Base   string          `json:"base"`
	Head   string          `json:"head"`
	Why    string          `json:"why"`
}

func encodeJournal(l *lease, planned []work.Action) ([]byte, error) {
	t := l.turn
	j := journal{
		Version: 1, Repo: l.remote.Name.String(), Issue: l.item.Number, Flow: l.item.Flow, Label: l.item.Label, LabelID: l.item.LabelEvent,
		Number: t.Number, Kind: t.Kind, Turn: t.Key, Claimed: t.ClaimedAt.UnixMilli(), Branch: t.Branch, Base: t.Base, Head: t.Head,
		Commit: t.Commit, Events: t.EventKeys, Agent: t.Agent, Session: t.Session, Request: t.Request, Answer: t.Answer,
	}
	for _, a := range planned {
		j.Actions = append(j.Actions, journalAction{a.Kind, a.Need, a.Token, a.Number, a.Target, a.Title, a.Body, a.Base, a.Head, a.Why})
	}
	b, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("encode the journal: %w", err)
	}
	return b, nil
}

func decodeJournal(b []byte) (journal, error) {
	var j journal
	if err := json.Unmarshal(b, &j); err != nil {
		return journal{}, fmt.Errorf("decode a journal: %w", err)
	}
	if j.Version != 1 {
		return journal{}, fmt.Errorf("a journal of version %d, which this program does not know", j.Version)
	}
	return j, nil
}

// fill takes a turn's answer over from its journal.
func (j journal) fill(t *work.Turn) {
	t.Branch, t.Base, t.Head, t.Commit = j.Branch, j.Base, j.Head, j.Commit
	t.Agent, t.Session, t.Request, t.Answer = j.Agent, j.Session, j.Request, j.Answer
	t.Runs = max(t.Runs, 1)
}

// planned are the actions that the journal's answer asks for.
func (j journal) planned(t work.Turn, now time.Time) []work.Action {
	var out []work.Action
	for i, a := range j.Actions {
		out = append(out, work.Action{
			RepoID: t.RepoID, TurnID: t.ID, ItemID: t.ItemID, Position: i, Kind: a.Kind, Need: a.Need, Token: a.Token, State: work.ActionPlanned,
			Number: a.Number, Target: a.Target, Title: a.Title, Body: a.Body, Base: a.Base, Head: a.Head, Why: a.Why, PlannedAt: now,
		})
	}
	return out
}

// readJournals finds the turns that a lost database knew: answered, and not
// all of their effects sent. Whatever was sent is found on GitHub again.
func (h *Rebuild) readJournals(ctx context.Context) error {
	if !h.adopting && !h.begunLate() {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // git alone is asked
	if err := h.p.Preflight(ctx); err != nil {
		return nil //nolint:nilerr // without git nothing is claimed either, and that says so
	}
	keys, err := h.r.mirror().Journals(ctx)
	if err != nil {
		return h.isolate(err, "read the journals")
	}
	newest := map[int]journal{}
	for _, key := range keys {
		b, ok, err := h.r.mirror().Journal(ctx, key)
		if err != nil || !ok {
			return errors.Join(err, ctx.Err())
		}
		j, err := decodeJournal(b)
		if err := h.isolate(err, "read journal %s", key); err != nil {
			return err
		}
		if err == nil && j.Claimed >= newest[j.Issue].Claimed {
			newest[j.Issue] = j
		}
	}
	for _, j := range newest {
		wanted, err := h.unfinished(ctx, j)
		if err != nil {
			return err
		}
		if wanted {
			h.journals = append(h.journals, j)
		}
	}
	return nil
}

// begunLate reports whether work begins here that an earlier pass had no time for:
// after a database was lost, perhaps.
func (h *Rebuild) begunLate() bool {
	return slices.ContainsFunc(h.known.backlog, func(n int) bool {
		item, ok := h.items[n]
		return ok && item.ID == 0
	})
}

// unfinished reports whether a journal's turn has to be carried on.
func (h *Rebuild) unfinished(ctx context.Context, j journal) (bool, error) {
	var known bool
	err := h.view(ctx, func(tx *store.Tx) error {
		var err error
		_, known, err = tx.FindTurn(ctx, j.Turn)
		return err
	})
	item, tracked := h.items[j.Issue]
	if err != nil || known || !tracked || h.p.inFlight(j.Turn) {
		return false, err
	}
	if _, promoted := h.promoted[j.Issue]; promoted {
		return j.Kind == work.KindImplementationStart, nil
	}
	if j.Kind.Start() {
		return item.State == work.StatePending && item.LabelEvent == j.LabelID, nil
	}
	if h.adopted[j.Number] != j.Issue {
		return false, nil
	}
	return slices.ContainsFunc(j.Events, func(key string) bool { return !h.handled[key] }), nil
}

// storeJournal makes the rows of a turn that was found again. The next pass
// resumes it like any other that was left answered.
func (h *Rebuild) storeJournal(ctx context.Context, tx *store.Tx, j journal) error {
	claimed, item := time.UnixMilli(j.Claimed), h.items[j.Issue].ID
	if p, ok := h.promoted[j.Issue]; ok {
		item = p.item.ID
	}
	turn := work.Turn{
		RepoID: h.repo.ID, ItemID: item, Number: j.Number, Kind: j.Kind, Key: j.Turn, Step: work.StepAnswered,
		Reason: "found again in the mirror's journal", EventKeys: j.Events, ClaimedAt: claimed, UpdatedAt: h.now(),
	}
	j.fill(&turn)
	id, err := tx.AddTurn(ctx, turn)
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	if err != nil {
		return err
	}
	turn.ID = id
	run := work.Run{Turn: id, Attempt: true, Agent: j.Agent, Session: j.Session, Began: claimed, Ended: claimed, Unknown: true}
	if _, err := tx.AddRun(ctx, run); err != nil {
		return err
	}
	if err := h.assignJournal(ctx, tx, j, id); err != nil {
		return err
	}
	for _, a := range j.planned(turn, h.now()) {
		if _, err := tx.AddAction(ctx, a); err != nil {
			return err
		}
	}
	return h.p.notices.move(ctx, tx, work.Move{Item: turn.ItemID, Cause: work.CauseAdopted, To: work.StateRunning}, h.now())
}

func (h *Rebuild) assignJournal(ctx context.Context, tx *store.Tx, j journal, turnID int64) error {
	pending, err := tx.ListPendingEvents(ctx, h.repo.ID)
	if err != nil {
		return err
	}
	var ids []int64
	for _, e := range pending {
		if e.TurnID == 0 && slices.Contains(j.Events, e.Key) {
			ids = append(ids, e.ID)
		}
	}
	return tx.AssignEvents(ctx, turnID, ids)
}

// readBack takes over what the mirror's journal says of a claimed turn: its
// agent has answered, and a database that is gone knew it.
func (p *Restorer) readBack(ctx context.Context, l *lease) error {
	b, ok, err := l.remote.mirror().Journal(ctx, l.turn.Key)
	if err != nil || !ok {
		return err
	}
	j, err := decodeJournal(b)
	if err != nil {
		return err
	}
	if j.Commit != "" && !l.remote.mirror().Has(ctx, j.Commit) {
		return nil // the agent works again
	}
	j.fill(&l.turn)
	if err := p.storeAnswered(ctx, l, j.planned(l.turn, p.Now())); err != nil {
		return err
	}
	p.changed(l, "found again", work.Short(l.turn.Commit))
	return nil
}
