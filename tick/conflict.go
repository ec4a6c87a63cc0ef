package tick

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// conflictEvent notes that a pull request cannot be merged: once for a head,
// and again when it could be meanwhile.
func (h *Pulls) conflictEvent(ctx context.Context, old, pull work.PullRequest, about func(work.EventKind, string) work.Event) error {
	if pull.Mergeable != work.Conflicting || old.Mergeable == work.Conflicting && old.HeadOID == pull.HeadOID {
		return nil
	}
	e := about(work.EventConflict, "")
	var known bool
	err := h.view(ctx, func(tx *store.Tx) (err error) {
		known, err = tx.HasEvent(ctx, h.repo.ID, e.Key)
		return err
	})
	if err != nil {
		return err
	}
	if known {
		e = about(work.EventConflict, fmt.Sprintf("since %d", h.now().Unix()))
	}
	h.add(candidate{event: e, pull: true})
	return nil
}

// beginMerge merges the base into the head, in the mirror: the agent finds that
// merge in progress. One that is clean needs neither it nor a commit: GitHub
// has not seen yet that the two merge.
func (p *Briefs) beginMerge(ctx context.Context, l *lease) error {
	m := l.remote.mirror()
	heads, err := m.RemoteHeads(ctx, l.turn.Base)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	base, ok := heads[l.turn.Base]
	if !ok {
		return &work.BlockedError{
			Reason: fmt.Sprintf("the base branch %s is gone from the remote", l.turn.Base),
			Hint:   "restore it, or give the pull request another base, then comment on the pull request",
		}
	}
	if err := m.Fetch(ctx, base); err != nil {
		return fmt.Errorf("fetch %s: %w", base, err)
	}
	merge, err := m.Merge(ctx, l.turn.Head, base)
	if err != nil {
		return err
	}
	if merge.Clean() {
		if l.about(work.EventCheck) {
			return nil
		}
		return &work.CancelledError{Reason: fmt.Sprintf("it merges cleanly into %s by now", l.turn.Base)}
	}
	l.merge = &merge
	if toldBase(l.turn.Request) != base {
		l.turn.Request = nil // the prompt names another one
	}
	return nil
}

// toldBase is the base commit that a stored prompt speaks of.
func toldBase(stored []byte) string {
	var req request
	if json.Unmarshal(stored, &req) != nil || req.Context.Conflict == nil {
		return ""
	}
	return req.Context.Conflict.BaseSHA
}

// conflict is what the agent is told of the merge in progress.
func (l *lease) conflict() *prompts.Conflict {
	if l.merge == nil {
		return nil
	}
	return &prompts.Conflict{Base: l.turn.Base, BaseSHA: l.merge.Other, HeadSHA: l.turn.Head, Paths: l.merge.Paths, Log: l.merge.Log}
}

// parents are those of the turn's commit.
func (l *lease) parents() []string {
	if l.merge == nil {
		return []string{l.turn.Head}
	}
	return []string{l.turn.Head, l.merge.Other}
}

// from is the tree that the checkout began as, when it is not the head's.
func (l *lease) from() string {
	if l.merge == nil {
		return ""
	}
	return l.merge.Tree
}
