package snapshot

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// family is what the sub-issues of one issue have in common.
type family struct {
	above  []roadmap.Above
	issues []roadmap.Issue // of the nearest roadmap
	behind map[string]int  // by key: see roadmap.Behind
}

// seat reads the item's place below a roadmap, if it may begin now, or has waited for long. It is read
// once for all items of a roadmap: most of them wait for one another.
func (r *reading) seat(ctx context.Context, i *known.Item) error {
	open := func(s work.DependencyState) bool { return s != work.DependencyClosed }
	waits := slices.ContainsFunc(slices.Collect(maps.Values(i.Dependencies)), open)
	waits = waits && !i.Stopped() // a person's word begins a stopped one all the same
	if i.SubIssueOf == "" || i.HasPull() || !i.State.Open() || waits && !i.Wait.Due(r.now) {
		return nil
	}
	f, known := r.families[i.SubIssueOf]
	if !known {
		var err error
		if f, err = r.family(ctx, i.SubIssueOf); err != nil {
			return err
		}
		r.families[i.SubIssueOf] = f
	}
	i.Below = f.seat(work.Dependency{Repo: r.repo.Name, Number: i.Number}.String())
	return nil
}

func (r *reading) family(ctx context.Context, parent string) (f family, err error) {
	if f.above, err = r.tx.RoadmapsAbove(ctx, parent, r.limits); err != nil || len(f.above) == 0 {
		return f, err
	}
	f.issues, err = r.tx.ListIssuesBelow(ctx, f.above[0].Record)
	f.behind = roadmap.Behind(f.issues)
	return f, err
}

func (f family) seat(ref string) roadmap.Seat {
	s := roadmap.Seat{Above: f.above}
	for _, x := range f.issues {
		if x.Ref == ref {
			s.Behind, s.Position = f.behind[x.Key()], x.Position
		}
	}
	first := slices.IndexFunc(f.issues, func(x roadmap.Issue) bool { return x.Progress == roadmap.Waiting && !x.Waits.None() })
	s.First = first >= 0 && f.issues[first].Ref == ref
	return s
}

// faults reads the faults of the document at the head of an open pull request.
func (r *reading) faults(ctx context.Context, i *known.Item) error {
	if !i.Flow.Document() || i.Pull.State != work.PullOpen {
		return nil
	}
	e, _, err := r.tx.FindHeadEvent(ctx, i.RepoID, i.Pull.Number, i.Pull.HeadOID)
	if e.Body != "" {
		i.Faults = strings.Split(e.Body, "\n")
	}
	return err
}

// lead reads the roadmap of the item's issue, if it has not ended, and no work on the issue itself is in
// progress.
func (r *reading) lead(ctx context.Context, i *known.Item) error {
	at := slices.IndexFunc(r.roadmaps, func(m roadmap.Record) bool { return m.Number == i.Number })
	if at < 0 && i.Replans() && !i.State.Open() {
		first, err := r.tx.GetItem(ctx, i.Parent)
		if first.Reason.Kind == work.WhyRoadmapCancelled {
			i.Reason = first.Reason
		}
		return err
	}
	if at < 0 {
		return nil
	}
	m := r.roadmaps[at]
	if i.State.Open() {
		i.RoadmapStopped = i.Replans() && m.State == roadmap.Stopped
		return nil
	}
	issues, err := r.tx.ListIssuesBelow(ctx, m)
	l := roadmap.LeadOf(m, issues)
	i.Lead = &l
	return err
}

// tables reads the roadmaps whose tables are due.
func (r *reading) tables(ctx context.Context) (all []roadmap.Shown, err error) {
	due, err := r.tx.ListDueTables(ctx, r.repo.ID, r.now)
	for _, m := range due {
		s := roadmap.Shown{Record: m}
		if s.Issues, err = r.tx.ListIssuesBelow(ctx, m); err != nil {
			return nil, err
		}
		if s.Idle, err = r.tx.ListIdle(ctx, m.ItemID); err != nil {
			return nil, err
		}
		if s.Last, _, err = r.tx.GetAction(ctx, work.TableToken(r.repo.Key(), s.Number)); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, err
}
