package batch

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/store"
)

// StoreCursors stores what vouches for what was taken in, and what is left. A
// cursor vouches for its list alone, and never for more of it than was taken in:
// what was listed and could not be taken in is a row of its own.
func (h *Batch) StoreCursors(ctx context.Context, tx *store.Tx, now time.Time) error {
	for n, left := range h.Backlog {
		if !left {
			if err := tx.DropBacklog(ctx, h.Repo.ID, n); err != nil {
				return err
			}
			continue
		}
		if err := tx.AddBacklog(ctx, h.Repo.ID, n, now); err != nil {
			return err
		}
	}
	if err := h.storePages(ctx, tx); err != nil {
		return err
	}
	if err := storeWalks(ctx, tx, h); err != nil {
		return err
	}
	if err := h.Lists.keep(ctx, tx); err != nil {
		return err
	}
	for _, l := range h.Labels {
		if err := tx.AddSeenLabel(ctx, h.Repo.ID, l); err != nil {
			return err
		}
	}
	if h.Repo == h.R.Row {
		return nil
	}
	return tx.SetCursors(ctx, h.Repo)
}

// storeWalks stores where walks go on.
func storeWalks(ctx context.Context, tx *store.Tx, h *Batch) error {
	names := map[string]bool{}
	for name := range h.Walks {
		names[name] = true
	}
	for name := range h.held {
		names[name] = true
	}
	for name := range names {
		next := h.cutOf(name)
		if next == h.Known.Cuts[name] {
			continue
		}
		if err := tx.SetWalk(ctx, h.Repo.ID, name, next); err != nil {
			return err
		}
		h.Known.Cuts[name] = next
	}
	return nil
}

// storePages stores the ETags of the pages that were read.
func (h *Batch) storePages(ctx context.Context, tx *store.Tx) error {
	for url := range h.Known.Pages {
		if !isStale(url, h.stale) {
			continue
		}
		if err := tx.DeleteValidators(ctx, h.Repo.ID, url); err != nil {
			return err
		}
	}
	pages := h.Validators
	for _, of := range h.Pages {
		pages = append(pages, of...)
	}
	for _, v := range pages {
		if err := tx.PutValidator(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// isStale reports whether a page is not read any more: "since" of its walk
// moved past where it begins.
func isStale(url string, moved map[string]time.Time) bool {
	for name, since := range moved {
		if pageOf(name, url) && github.SinceOf(url).Before(since) {
			return true
		}
	}
	return false
}

// pageOf reports whether an address is one of a walk's.
func pageOf(walk, url string) bool {
	path, _, _ := strings.Cut(url, "?")
	switch {
	case strings.HasSuffix(path, "/pulls/comments"):
		return walk == WalkReviewComments
	case strings.HasSuffix(path, "/issues/comments"):
		return walk == WalkComments
	}
	return walk == WalkIssues && strings.HasSuffix(path, "/issues") && !strings.Contains(url, "labels=")
}
