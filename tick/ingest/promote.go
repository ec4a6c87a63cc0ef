package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// followDesign promotes a design or roadmap that was merged. Of a roadmap that was merged before the database knew it,
// it reads the document that the base branch has now: the database had applied what was merged since, too, and what
// was made for that is no removed part of the first document.
func (h *reading) followDesign(ctx context.Context, r pullRead, pull work.PullRequest) error {
	run := 0
	if mark, marked := work.ParsePullMark(r.Body); marked {
		run = cmp.Or(mark.Run, r.Number)
	}
	switch {
	case pull.State != work.PullMerged, !r.over && (pull.ItemID == 0 || r.old.State == work.PullMerged): // adopted while it was open, or not merged now
		return nil
	case r.item.Flow == work.FlowDesign:
		return h.promote(ctx, r.item, pull)
	case r.item.Flow != work.FlowRoadmap:
		return nil
	case r.over:
		return h.promoteRoadmapAt(ctx, r.item, pull, pull.Base, run, r.since)
	}
	return h.promoteRoadmapAt(ctx, r.item, pull, cmp.Or(pull.MergeCommit, pull.Base), h.runOf(ctx, r.item, pull), h.now())
}

// promote reads from a merged design what its implementation needs.
func (h *reading) promote(ctx context.Context, design work.Item, pull work.PullRequest) error {
	pull.MergeCommit = cmp.Or(pull.MergeCommit, pull.HeadOID) // GitHub may name no merge; a branch may move
	doc, path, err := h.findDocument(ctx, design, pull, pull.MergeCommit)
	if err != nil {
		return fmt.Errorf("read the design of #%d: %w", design.Number, err)
	}
	fields, faults := prompts.ParseDocument(doc)
	next := design.Next(work.FlowImplementation, work.StateReady, h.now())
	if next.DesignPull, next.DesignCommit = pull.Number, pull.MergeCommit; len(doc) > 0 {
		next.Document = path
	} else {
		next.Document = ""
	}
	next = asDesigned(next, fields, h.repo.Name)
	// The event that asks for the implementation stays pending, like a label, until the turn that it begins has ended.
	now, source := h.now(), strconv.Itoa(pull.Number)
	trigger := newEvent(0, design.Number, work.EventMerged, source, work.ContentHash(string(work.EventMerged), source))
	trigger.URL, trigger.CreatedAt, trigger.UpdatedAt = pull.URL, now, now
	implemented := len(faults) == 0 && fields.Status == prompts.Implemented
	h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
		next.Parent = cmp.Or(design.ID, h.itemID(design.Number)) // a design that was adopted has its row by now
		if implemented {
			return ignoreStale(h.notices.Move(ctx, tx, work.Move{Item: next.Parent, Cause: work.CausePullMerged, To: work.StateCompleted}, now)) // it is closed already
		}
		return h.storePromotion(ctx, tx, next, trigger, faults, now)
	})
	return nil
}

// ignoreStale drops the error of a change that somebody made before.
func ignoreStale(err error) error {
	if errors.Is(err, store.ErrStale) {
		return nil
	}
	return err
}

// findDocument reads the document at path. If people moved it, it reads the pull request's own
// instead; without path: it has none.
func (h *reading) findDocument(ctx context.Context, item work.Item, pull work.PullRequest, at string) ([]byte, string, error) {
	path := cmp.Or(item.Document, work.DocumentPath(item.Flow, item.Number, item.Title))
	others := func() ([]string, error) { return h.repo.GitHub.PullFiles(ctx, h.row.Current, pull.Number) }
	return h.findFile(ctx, path, at, others, func(path string) bool { return work.IsDocument(item.Flow, path, item.Number) })
}

// findFile reads the file at path, or the first of others that fits; without path: there is none.
func (h *reading) findFile(ctx context.Context, path, at string, others func() ([]string, error), fits func(string) bool) ([]byte, string, error) {
	file, ok, err := h.repo.GitHub.File(ctx, h.row.Current, path, at)
	if err != nil || ok {
		return file, path, err
	}
	paths, err := others()
	for _, path := range paths {
		if err != nil || !fits(path) {
			continue
		}
		if file, ok, err = h.repo.GitHub.File(ctx, h.row.Current, path, at); ok {
			return file, path, err
		}
	}
	return nil, "", err
}

// asDesigned gives an implementation what the design's front matter says.
func asDesigned(item work.Item, f prompts.DocumentFields, r work.RepoName) work.Item {
	item.TouchPaths, item.Size, item.DependsOn = f.TouchPaths, f.EstimatedSize, nil
	if f.Priority != 0 {
		item.Priority = f.Priority
	}
	for _, line := range f.DependsOn {
		d, ok := work.ParseDependency(line, r)
		itself := d.String() == (work.Dependency{Repo: r, Number: item.Number}).String()
		if ok && !itself && !slices.Contains(item.DependsOn, d.String()) && len(item.DependsOn) <= work.MostDependencies {
			item.DependsOn = append(item.DependsOn, d.String())
		}
	}
	return item
}

// whyFaults is why an implementation does not begin whose design has faults: what it depends on is not
// known.
func (h *reading) whyFaults(path string, faults []document.Fault) work.Reason {
	why := work.Reason{Kind: work.WhyDesignFaults, Name: path, Names: document.Strings(faults)}
	return why.Map(h.secrets.Redact)
}

// readDesigns reads the designs whose faults stop their implementations again from the default branch,
// in passes that read something new of the repository.
func (h *reading) readDesigns(ctx context.Context) error {
	for _, item := range h.due.designs {
		if item.State != work.StateBlocked || item.Reason.Kind != work.WhyDesignFaults {
			continue
		}
		doc, ok, err := h.repo.GitHub.File(ctx, h.row.Current, item.Document, h.row.DefaultBranch)
		if err != nil {
			return fmt.Errorf("read the design of #%d: %w", item.Number, err)
		}
		fields, faults := prompts.ParseDocument(doc)
		if !ok { // people moved or deleted it: a comment starts the implementation
			continue
		}
		item = asDesigned(item, fields, h.repo.Name)
		h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error {
			m := work.Move{Item: item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: h.whyFaults(item.Document, faults)}
			if len(faults) == 0 {
				if err := tx.SetDesign(ctx, item); err != nil {
					return err
				}
				m = work.Move{Item: item.ID, Cause: work.CauseResumed, To: work.StateReady}
			}
			return ignoreStale(h.notices.Move(ctx, tx, m, now)) // a person resumed it
		})
	}
	return nil
}

// storePromotion adds the implementation of a merged design, in one transaction with the merge: a killed pass neither
// loses nor repeats it. A deferred pull request is seen as merged again.
func (h *reading) storePromotion(ctx context.Context, tx *store.Tx, item work.Item, trigger work.Event, faults []document.Fault, now time.Time) error {
	known, err := tx.HasEvent(ctx, h.row.ID, trigger.Key)
	if err != nil || known {
		return err
	}
	item.ID = 0
	if item.ID, err = tx.AddItem(ctx, item); err != nil {
		return err
	}
	trigger.RepoID, trigger.ItemID, trigger.SeenAt = h.row.ID, item.ID, now
	if _, err := tx.AddEvent(ctx, trigger); err != nil {
		return err
	}
	// What people wrote on the issue since the design was merged moves to the implementation, and all pending commands:
	// a pause that arrives with the merge is for the implementation. Comments that we redirected to the design's pull
	// request stay.
	pending, err := tx.ListPendingEvents(ctx, h.row.ID)
	if err != nil {
		return err
	}
	var ids []int64
	for _, e := range pending {
		if e.ItemID == item.Parent && e.Kind == work.EventCommand {
			ids = append(ids, e.ID)
		}
		if e.ItemID != item.Parent || e.Kind != work.EventSource || e.TurnID != 0 {
			continue
		}
		_, redirected, err := tx.GetAction(ctx, work.RedirectToken(h.row.Key(), e.Number, e.Source))
		if err != nil {
			return err
		}
		if !redirected {
			ids = append(ids, e.ID)
		}
	}
	if err := tx.MoveEvents(ctx, ids, item.ID); err != nil || len(faults) == 0 {
		return err
	}
	return h.notices.Move(ctx, tx, work.Move{Item: item.ID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: h.whyFaults(item.Document, faults)}, now)
}
