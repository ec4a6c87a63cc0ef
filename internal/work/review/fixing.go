package review

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// rejected decides about a head for which changes are requested.
func (d *decision) rejected(all []Verdict) {
	v := all[0]
	r := d.reviewer(v.Reviewer)
	d.c.Rejected, d.c.Reviewer = all, r
	if d.f.NotFixable {
		d.do(EventRejected)
		d.c.Why = work.Reason{Kind: work.WhyReviewAuthor, Name: r.Name}
		return
	}
	fix, tried := d.fixOf(v)
	switch {
	case tried && fix.Outcome == FixPushed: // the stored head is the one before the push
		d.do(EventRejected)
		d.c.Why = work.Reason{Kind: work.WhyHeadNotRead, Commit: fix.Commit}
		if d.f.ReadAt.After(fix.At) {
			d.c.Why.Kind = work.WhyHeadNotShown
		}
	case tried:
		d.do(EventRejected)
		d.stop(EventUnfixed, r, work.Reason{Kind: work.WhyReviewNotFixed, Name: r.Name, Count: d.c.Cycle})
	case d.c.Cycle >= d.p.MaxFixCycles:
		d.do(EventRejected)
		d.stop(EventExhausted, r, work.Reason{Kind: work.WhyReviewCycles, Name: r.Name, Count: d.p.MaxFixCycles})
	case d.sameAgain(v):
		d.do(EventRejected)
		d.stop(EventExhausted, r, work.Reason{Kind: work.WhyReviewCircle, Name: r.Name, Names: d.openPaths(v.Reviewer)})
	default:
		d.fix(v)
	}
}

// fix asks the author's agent to fix the findings.
func (d *decision) fix(v Verdict) {
	d.do(EventRejected)
	d.c.Key = FixKey(d.f.Number, FixDue{ReviewID: v.ReviewID, Epoch: d.c.Epoch, Cycle: d.c.Cycle})
	switch {
	case d.f.Record.FailedKey == d.c.Key:
		d.stop(EventFailed, d.c.Reviewer, d.failed(v.Reviewer))
	case !d.f.NoFix.None():
		d.c.Why = d.f.NoFix
	default:
		d.c.Ask, d.c.Why = AskFix, work.Reason{Kind: work.WhyReviewFixDue, Name: v.Reviewer}
	}
}

// fixOf returns the fix of a verdict in this epoch.
func (d *decision) fixOf(v Verdict) (Fix, bool) {
	for _, f := range slices.Backward(d.f.Fixes) {
		if f.ReviewID == v.ReviewID && f.Epoch == d.c.Epoch {
			return f, true
		}
	}
	return Fix{}, false
}

// sameAgain reports whether an agent repeats its findings after a fix: nothing was fixed and
// nothing is new.
func (d *decision) sameAgain(v Verdict) bool {
	if d.c.Reviewer.Human || v.Epoch != d.c.Epoch {
		return false
	}
	for _, before := range slices.Backward(d.f.Verdicts) {
		if before.ID == v.ID || before.Reviewer != v.Reviewer || before.Epoch != v.Epoch || before.Cycle >= v.Cycle {
			continue
		}
		return before.Decision == RequestChanges && sameFindings(before, v, d.f.Findings, d.p.Blocking)
	}
	return false
}

// sameFindings reports whether a later verdict repeats the findings of an earlier one: a blocking
// finding stays open, none is resolved, and no blocking finding is new. It compares ids, never
// texts.
func sameFindings(before, now Verdict, all []Finding, blocking Severity) bool {
	open := false
	for _, x := range all {
		if x.Reviewer != now.Reviewer || !x.Severity.AtLeast(blocking) {
			continue
		}
		switch {
		case x.VerdictID == now.ID, x.ResolvedBy == now.ID:
			return false
		case x.Open() && x.VerdictID <= before.ID:
			open = true
		}
	}
	return open
}

// openPaths returns the files of a reviewer's open findings, for people.
func (d *decision) openPaths(reviewer string) []string {
	var paths []string
	for _, x := range d.f.Findings {
		if x.Reviewer == reviewer && x.Open() && x.Path != "" && !slices.Contains(paths, x.Path) {
			paths = append(paths, x.Path)
		}
	}
	return paths
}
