package env

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Earlier returns the turn without the attempt that this pass began.
func (l *Lease) Earlier() work.Turn {
	t := l.Turn
	if l.Attempted {
		t.Attempts--
	}
	return t
}

// Uncommitted returns the turn's event keys for which the branch has no commit yet.
func (l *Lease) Uncommitted() []string {
	return slices.DeleteFunc(slices.Clone(l.Turn.EventKeys), func(key string) bool { return l.Carried[key] })
}

// Committed reports whether the branch has commits for all events of the turn.
func (l *Lease) Committed() bool {
	return len(l.Turn.EventKeys) > 0 && len(l.Uncommitted()) == 0
}

// BegunBy reports whether commits that name these events began the turn's work: they name the event
// that starts the item (a labelling), or, without one in the turn, any of the turn's events.
func (l *Lease) BegunBy(carried map[string]bool) bool {
	for _, e := range l.Events {
		if work.StartsItem(l.Item, e) {
			return carried[e.Key]
		}
	}
	return slices.ContainsFunc(l.Turn.EventKeys, func(key string) bool { return carried[key] })
}

// EarlierAttempts returns a text for the agent: what earlier attempts left on the branch, and why
// the last answer was not used.
func (l *Lease) EarlierAttempts(unused string) string {
	var told []string
	switch {
	case l.Committed():
		told = append(told, "You have done this work already: its commit is on the branch. Only your answer was lost. Look at the commit, and answer as if you had just made it; no further change of files will be committed now.")
	case len(l.Carried) > 0 && len(l.Uncommitted()) < len(l.Turn.EventKeys):
		told = append(told, "You have done a part of this already: its commit is on the branch. Your answer was lost. Look at the branch before you change anything.")
	}
	if unused != "" {
		told = append(told, "Your last answer to this could not be used, and nothing of it was sent: "+unused)
	}
	if l.Turn.LastError != "" {
		told = append(told, l.Turn.LastError)
	}
	return strings.Join(told, "\n\n")
}

// About reports whether one of the turn's events is of a kind.
func (l *Lease) About(kind work.EventKind) bool {
	return slices.ContainsFunc(l.Events, func(e work.Event) bool { return e.Kind == kind })
}

// Approves reports whether people only approved, with a review or line comments. Such a turn may
// reply but pushes nothing over the approved head. A dismissed review asks for nothing, as it may
// have approved.
func (l *Lease) Approves() bool {
	said := slices.DeleteFunc(slices.Clone(l.Events), func(e work.Event) bool { return !e.Kind.IsComment() })
	return len(said) > 0 && !slices.ContainsFunc(said, func(e work.Event) bool {
		return e.Kind != work.EventSummary && e.Kind != work.EventReview || e.State != "APPROVED" && e.State != "DISMISSED"
	})
}

// OnlyReads reports whether the turn discards files that the agent leaves in the checkout. A design
// start does not: its file is written from the answer.
func (l *Lease) OnlyReads() bool {
	return l.Mode() == work.ModeRead && !l.Turn.Kind.Document()
}

// Mode returns whether the turn's agent may change files.
func (l *Lease) Mode() work.Mode {
	if l.Approves() {
		return work.ModeRead
	}
	return l.Turn.Kind.Mode()
}

// Lease is one turn in one slot. The phases of a turn pass it on.
type Lease struct {
	Turn            work.Turn
	Item            work.Item
	Slot            *folder.Slot
	Repo            *Repo
	Events          []work.Event // the turn's, oldest first
	Checkout        folder.Checkout
	Threads         map[int64]github.Thread // read right before the effects, by id of the first comment
	Carried         map[string]bool         // event keys for which the branch has a commit
	Adopted         bool                    // a start turn continues a branch that was pushed before
	Red             []github.Check          // checks of the head, for a turn about checks
	Runs            []github.WorkflowRun    // red workflow runs of the head
	Merge           *git.Merge              // in progress, for a turn about a conflict
	Checks          []github.Check          // all of the head, for a turn that reviews it
	Change          []git.FileChange        // what a reviewed head changes, as it lies beside its checkout; nil: not read
	TestedHead      string                  // the required tests that a reviewed head passed; empty: none ran
	Submodules      []git.Submodule         // fetched for the checkout
	Guarded         git.Guarded             // of a review: the checkout's tree, and its files that differ from the head
	Files           []string                // changed by the turn's commit
	Lines           git.Lines               // of the pull request's diff, for a turn that reviews it
	EventsExhausted bool                    // if the turn ends, its events end too and start no other turn
	EarlierKeys     []string                // event keys of an earlier flow that the agent was also shown
	Proposals       []work.Proposal         // follow-ups that its answer adds to those of the issue
	LostOID         string                  // commit that a force push removed from the branch
	Resumed         bool
	Issue           github.Issue   // as it was read last
	IssueAt         time.Time      // when; zero: not read
	Shown           github.Pull    // of a turn about red checks: its pull request as it was read with them; zero: not read
	Planned         []work.Action  // the turn's actions as this pass last read them
	Opened          github.Pull    // the pull request that this pass opened; zero: none
	Looks           *actions.Looks // for the turn's actions, made beside the reads before its first effect

	Attempted bool    // this pass began an attempt, which still counts
	BegunRuns []int64 // ids of agent runs that this pass began
	Used      bool    // the usage of BegunRuns is unknown in part or not zero

	Told []work.Known // what was known of the usage of its agent's last runs when the newest one began

	Warning string // a problem for the operator that the turn's runs showed; empty: none

	Setup *prompts.Setup // the repository's set-up in the checkout; nil: none

	Images []agent.Image // that the agent is shown

	Model      string // that answered, as the agent's program names it, else the config; empty: unknown
	Disclosure string // line on the pull request that the agent opens, or below the first review of somebody else's; empty: none
	Signature  string // line below the agent's other texts; empty: none
}

// Release frees the slot.
func (l *Lease) Release() { l.Slot.Release() }

// Conflict returns the merge in progress as the agent is shown it; nil: there is none.
func (l *Lease) Conflict() *prompts.Conflict {
	if l.Merge == nil {
		return nil
	}
	return &prompts.Conflict{Base: l.Turn.Base, BaseSHA: l.Merge.Other, HeadSHA: l.Turn.Head, Paths: l.Merge.Paths, Log: l.Merge.Log}
}

// Parents returns the parents of the turn's commit.
func (l *Lease) Parents() []string {
	if l.Merge == nil {
		return []string{l.Turn.Head}
	}
	return []string{l.Turn.Head, l.Merge.Other}
}

// CheckoutTree returns the tree of the checkout if it is not the head's, else "".
func (l *Lease) CheckoutTree() string {
	if l.Merge == nil {
		return ""
	}
	return l.Merge.Tree
}

// Unused returns why the answer of the previous turn was not used; empty if there was no answer or
// it was used.
func Unused(turns []work.Turn, t work.Turn) string {
	var last work.Turn
	for _, earlier := range turns {
		if earlier.ID < t.ID && earlier.ID > last.ID {
			last = earlier
		}
	}
	if last.Step == work.StepSuperseded && len(last.Answer) > 0 {
		return last.LastError
	}
	return ""
}

// TurnEvents returns the events of a turn, oldest first.
func TurnEvents(ctx context.Context, tx *store.Tx, t work.Turn) ([]work.Event, error) {
	all, err := tx.ListItemEvents(ctx, t.ItemID)
	return slices.DeleteFunc(all, func(e work.Event) bool { return e.TurnID != t.ID }), err
}

// PromptBase returns the base commit that a stored prompt names; empty: it is about no conflict.
func PromptBase(stored []byte) string {
	var req Request
	if json.Unmarshal(stored, &req) != nil || req.Context.Conflict == nil {
		return ""
	}
	return req.Context.Conflict.BaseSHA
}

// StoredContext returns the stored context of the turn's agent; zero before it is stored.
func (l *Lease) StoredContext() prompts.Context {
	var req Request
	if json.Unmarshal(l.Turn.Request, &req) != nil {
		return prompts.Context{}
	}
	return req.Context
}

// Request is the input of an agent. It is stored before the first run, so that a repeated run gets
// the same prompt.
type Request struct {
	Prompt  string          `json:"prompt"` // the whole one, for a new session; empty: each part has its own
	Context prompts.Context `json:"context"`
	Parts   []Part          `json:"parts,omitempty"` // the runs of a review of a large change; empty: one run
	Resumed Resumed         `json:"resumed"`

	RunStartComment int64 `json:"run_start_comment_id"` // the newest comment on the issue that it tells of
}

// Part is one of several runs of a review. Its answer is stored once it is there, so that the run is
// not repeated.
type Part struct {
	Prompt  string          `json:"prompt"`
	Context prompts.Context `json:"context"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// Resumed is the prompt for a session that answered an earlier turn; zero: there is none.
type Resumed struct {
	Session string `json:"session"`
	Prompt  string `json:"prompt"`
}

// Sent returns the prompt that is sent first: the session that it is for may turn out to be lost. Of
// a review in parts it returns all.
func (r Request) Sent() string {
	all := []string{r.For(r.Resumed.Session)}
	for _, part := range r.Parts {
		all = append(all, part.Prompt)
	}
	return strings.Join(all, "")
}

// For returns the prompt for a session.
func (r Request) For(session string) string {
	if session != "" && session == r.Resumed.Session {
		return r.Resumed.Prompt
	}
	return r.Prompt
}

// QueuedComments returns comments on an item's issue that no turn has.
func QueuedComments(ctx context.Context, tx *store.Tx, item work.Item) ([]work.Event, error) {
	said, err := tx.ListPendingComments(ctx, item.RepoID, item.ID)
	return slices.DeleteFunc(said, func(e work.Event) bool { return e.Kind != work.EventSource }), err
}

// Due returns the request for the turn's review; false: the turn makes none.
func (l *Lease) Due() (review.Due, bool) {
	for _, e := range l.Events {
		if d, ok := review.DueOf(e); ok {
			return d, true
		}
	}
	return review.Due{}, false
}

// FixDue returns the request for the turn's fix of a review; false: the turn makes none.
func (l *Lease) FixDue() (review.FixDue, bool) {
	for _, e := range l.Events {
		if d, ok := review.FixDueOf(e); ok {
			return d, true
		}
	}
	return review.FixDue{}, false
}

// ReviewPolicy returns today's config for reviews of the turn's pull request.
func (l *Lease) ReviewPolicy() review.Policy { return l.Repo.Settings.ReviewPolicy(l.Item.Flow) }

// Reviews returns the turn's pull request and its stored reviews.
func (p *Env) Reviews(ctx context.Context, l *Lease) (pull work.PullRequest, stored store.Reviews, err error) {
	if pull, err = p.ItemPull(ctx, l); err != nil {
		return pull, stored, err
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		stored, err = tx.GetReviews(ctx, pull.ID)
		return err
	})
	if err != nil {
		err = fmt.Errorf("read the reviews of #%d: %w", pull.Number, err)
	}
	return pull, stored, err
}

// SaveTurn stores the turn's row.
func (p *Env) SaveTurn(ctx context.Context, l *Lease) error {
	l.Turn.UpdatedAt = p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.SaveTurn(ctx, l.Turn) })
	if err != nil {
		return fmt.Errorf("save turn %s: %w", l.Turn.Key, err)
	}
	return nil
}

// Advance stores that the turn has reached a step, unless that was stored with its last action.
func (p *Env) Advance(ctx context.Context, l *Lease, to work.Step) error {
	if l.Turn.Step == to {
		return nil
	}
	err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AdvanceTurn(ctx, l.Turn.ID, l.Turn.Step, to, p.Now()) })
	if err != nil {
		return fmt.Errorf("advance turn %s: %w", l.Turn.Key, err)
	}
	l.Turn.Step = to
	return nil
}

// FirstEffect reports whether an effect of the turn may be on GitHub.
func (p *Env) FirstEffect(ctx context.Context, l *Lease) (bool, error) {
	planned, err := p.TurnActions(ctx, l)
	return err == nil && l.Turn.Begun(planned), err
}

// TurnActions returns the turn's actions in the order in which they are applied.
func (p *Env) TurnActions(ctx context.Context, l *Lease) ([]work.Action, error) {
	return store.Read(ctx, p.Store, func(tx *store.Tx) ([]work.Action, error) { return tx.ListTurnActions(ctx, l.Turn.ID) })
}

// ItemPull returns the newest pull request of the turn's item.
func (p *Env) ItemPull(ctx context.Context, l *Lease) (pull work.PullRequest, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		var ok bool
		if pull, ok, err = tx.FindPullOfItem(ctx, l.Item.ID); err == nil && !ok {
			err = fmt.Errorf("work item %d has no pull request", l.Item.ID)
		}
		return err
	})
	return pull, err
}

// StoreAnswered stores the row of a turn whose agent has answered, with its planned actions and,
// for other machines, its commit.
func (p *Env) StoreAnswered(ctx context.Context, l *Lease, planned []work.Action) error {
	now, bundle := p.Now(), p.Bundle(ctx, l, l.Turn.Commit)
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := p.PutBundle(ctx, tx, l, bundle); err != nil {
			return err
		}
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if err := tx.RefundAttempt(ctx, l.Turn.ID); err != nil { // it answered, so the attempt does not count
			return err
		}
		for _, a := range planned {
			a.PlannedAt = now
			if err := tx.PlanAction(ctx, a); err != nil {
				return err
			}
			if err := tx.AddProposals(ctx, l.Item.ID, work.Proposed(a.Body)); err != nil {
				return err
			}
		}
		return tx.AdvanceTurn(ctx, l.Turn.ID, work.StepClaimed, work.StepAnswered, now)
	})
	if err != nil {
		return fmt.Errorf("store the answer: %w", err)
	}
	l.Turn.Step, l.Turn.Attempts, l.Attempted = work.StepAnswered, max(l.Turn.Attempts-1, 0), false
	return nil
}

// Mark returns the environment entry that every process of a turn's agent carries. It contains a
// hash of the state folder, because two state folders on one machine may know the same turn.
func (p *Env) Mark(t work.Turn) string {
	return "MERGEXO_MARK=" + work.ContentHash(p.Dirs.State) + "-" + t.Key
}
