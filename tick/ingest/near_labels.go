package ingest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
)

// A label that is nearly one of ours, such as agent:smalljob, starts nothing, and the person who set it waits
// in vain; so does who holds an issue. One comment on the issue names the first such label, and status names it until it is
// gone.

// noteNearLabel notes whether an open issue, or a pull request that is not tracked, has such a label. flow is that of the
// work on the issue; empty: none is known.
func (h *reading) noteNearLabel(is github.Issue, flow work.Flow) {
	labels := h.repo.Settings.Labels
	ours := []string{labels.Bugfix, labels.SmallJob, labels.Design, labels.Roadmap, labels.Ignore}
	if is.IsPull {
		ours = []string{h.repo.Settings.ReviewLabel()}
	}
	near := store.NearLabel{Number: is.Number}
	if is.State == "open" {
		near.Set, near.Meant = work.NearLabel(is.Labels, labels.All(), ours)
	}
	held := is.State == "open" && !is.IsPull && work.HasLabel(is.Labels, labels.Hold) && flow != work.FlowRoadmap && !work.HasLabel(is.Labels, labels.Roadmap)
	if held {
		near.Set, near.Meant = labels.Hold, labels.Ignore
	}
	h.putNearLabel(near)
	if near.Set == "" {
		return
	}
	token := work.NoticeToken(h.row.Key(), is.Number, "near label")
	set := strings.ReplaceAll(public.OneLine(near.Set), "`", "'") // a label may mention somebody: it stays within its quotes
	body := fmt.Sprintf("The label `%s` starts nothing here; the one that gh mergexo knows is `%s`. If that is what you meant, set it instead.", set, near.Meant)
	why := fmt.Sprintf("the label %s, which is nearly %s", near.Set, near.Meant)
	if held {
		token = work.NoticeToken(h.row.Key(), is.Number, "hold on an issue")
		body = fmt.Sprintf("The label `%s` does nothing on an issue: it holds a pull request. To pause the work on this issue, set `%s`.", near.Set, near.Meant)
		why = fmt.Sprintf("the label %s on an issue", near.Set)
	}
	h.declineOn(h.itemID(is.Number), is.Number, work.NeedCosmetic, token, body, why)
}

// noteIgnored notes that a label that starts work starts nothing while the issue has the ignore label.
func (h *reading) noteIgnored(r issueRead, label string) {
	h.putNearLabel(store.NearLabel{Number: r.Number, Set: label, Meant: h.repo.Settings.Labels.Ignore, Ignored: true})
}

func (h *reading) putNearLabel(near store.NearLabel) {
	h.put(func(ctx context.Context, tx *store.Tx, _ time.Time) error {
		return tx.SetNearLabel(ctx, h.row.ID, near)
	})
}
