package tick

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/store"
)

// storeCursors stores what vouches for what was taken in, and what is left. A
// cursor vouches for its list alone, and never for more of it than was taken in:
// what was listed and could not be taken in is a row of its own.
func (h *harvest) storeCursors(ctx context.Context, tx *store.Tx, now time.Time) error {
	for n, left := range h.backlog {
		if !left {
			if err := tx.DropBacklog(ctx, h.repo.ID, n); err != nil {
				return err
			}
			continue
		}
		if err := tx.AddBacklog(ctx, h.repo.ID, n, now); err != nil {
			return err
		}
	}
	if err := h.storePages(ctx, tx); err != nil {
		return err
	}
	for name, next := range h.walks {
		if err := tx.SetWalk(ctx, h.repo.ID, name, next); err != nil {
			return err
		}
	}
	for _, l := range h.labels {
		if err := tx.AddSeenLabel(ctx, h.repo.ID, l); err != nil {
			return err
		}
	}
	if h.repo == h.r.repo {
		return nil
	}
	return tx.SetCursors(ctx, h.repo)
}

// storePages stores the ETags of the pages that were read.
func (h *harvest) storePages(ctx context.Context, tx *store.Tx) error {
	for _, name := range h.stale {
		for url := range h.known.pages {
			if !h.pageOf(name, url) {
				continue
			}
			if err := tx.DeleteValidators(ctx, h.repo.ID, url); err != nil {
				return err
			}
		}
	}
	pages := h.validators
	for _, of := range h.pages {
		pages = append(pages, of...)
	}
	for _, v := range pages {
		if err := tx.PutValidator(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// pageOf reports whether an address is one of a walk's.
func (h *harvest) pageOf(walk, url string) bool {
	path, _, _ := strings.Cut(url, "?")
	switch {
	case strings.HasSuffix(path, "/pulls/comments"):
		return walk == walkReviewComments
	case strings.HasSuffix(path, "/issues/comments"):
		return walk == walkComments
	}
	return walk == walkIssues && strings.HasSuffix(path, "/issues") && !strings.Contains(url, "labels=")
}
