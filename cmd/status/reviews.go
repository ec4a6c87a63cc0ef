package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// reviews is the state of the reviews of an item's pull request; every view is made from it.
type reviews struct {
	Facts
	state   review.State
	who     string // who is asked, or whose requests are being fixed; empty: nobody
	cycle   int    // fixes pushed since people last restarted the reviews
	line    []review.Reviewer
	why     work.Reason // what they wait for, or why they are stopped
	next    string      // what the next pass will do, in words; empty: nothing
	retries int         // failed attempts of a review or a fix
	trouble string      // the error of the last attempt
}

// reviewed returns the state of the reviews; false if the item has none.
func (f Facts) reviewed() (reviews, bool) {
	now := f.Reviews.Record
	r := reviews{
		Facts: f, state: now.State, who: now.Reviewer, cycle: review.FixCycle(f.Reviews.Fixes, now.Epoch),
		line: review.Line(f.Reviewers, f.Reviews.Inserted), why: f.Awaited(now), retries: now.Retries, trouble: now.LastError,
	}
	if to := f.Reviewing; to != nil {
		r.why = f.Awaited(*to)
		if to.State != now.State || to.Reviewer != now.Reviewer {
			r.next = strings.TrimSuffix(fmt.Sprintf("%s, %s", to.State, to.Reviewer), ", ")
		}
		if now.State == "" { // no pass has decided anything yet
			r.state, r.who, r.next = review.Pending, to.Reviewer, ""
		}
	}
	if t := f.Turn; t != nil && t.Reviewer != "" && t.LastError != "" {
		failed := t.Attempts
		if f.Live { // one is in progress
			failed--
		}
		r.retries, r.trouble = max(r.retries, failed), t.LastError
	}
	return r, r.state != ""
}

// moved returns the records to which a plan moves reviews, by item id.
func moved(p plan.Plan) map[int64]*review.Record {
	all := map[int64]*review.Record{}
	for _, m := range plan.Of[change.Review](p) {
		all[m.Item] = &m.Record
	}
	return all
}

// said returns a reviewer's last verdict.
func (r reviews) said(name string) (review.Verdict, bool) {
	for _, v := range slices.Backward(r.Reviews.Verdicts) {
		if v.Reviewer == name {
			return v, true
		}
	}
	return review.Verdict{}, false
}

// now reports whether it is a reviewer's turn.
func (r reviews) now(name string) bool {
	return name != "" && name == r.who && r.state != review.Approved && !r.state.Ended()
}

func (r reviews) calledInBy(name string) string {
	for _, in := range r.Reviews.Inserted {
		if in.Name == name {
			return in.By
		}
	}
	return ""
}

// counts reports whether a verdict is about the present head and not taken back.
func (r reviews) counts(v review.Verdict) bool {
	return v.Head == r.NewestHead() && v.Validity != review.TakenBack
}

// verdict describes a reviewer's last verdict.
func (r reviews) verdict(name string) string {
	v, ok := r.said(name)
	is := ""
	switch {
	case !ok:
	case v.Validity == review.TakenBack:
		is = decided(v, "approval was dismissed", "request for changes was dismissed")
	case v.Head != r.NewestHead():
		is = decided(v, "approved an earlier commit", "requested changes on an earlier commit")
	default:
		is = decided(v, "approves", "requests changes")
	}
	switch {
	case r.now(name) && r.state == review.Fixing:
		return cmp.Or(is, "requests changes") + "; " + r.fix(v)
	case r.now(name) && r.state.Stopped():
		return strings.TrimPrefix(is+"; people decide", "; ")
	case r.now(name) && is == "":
		return r.isNext(name)
	case r.now(name) && !r.counts(v):
		return is + "; " + r.isNext(name)
	}
	return cmp.Or(is, "not asked yet")
}

// isNext tells how a reviewer whose verdict GitHub does not accept can give one.
func (r reviews) isNext(name string) string {
	own := func(x review.Reviewer) bool {
		return x.Name == name && x.Human && strings.EqualFold(x.Login, r.Reviewers.Author)
	}
	if r.Reviewers.Author != "" && slices.ContainsFunc(r.line, own) {
		return "is next, by /mergexo approve: the pull request is their own"
	}
	return "is next"
}

// fix describes what happens to a reviewer's requests.
func (r reviews) fix(v review.Verdict) string {
	for _, f := range r.Reviews.Fixes {
		if f.ReviewID == v.ReviewID && f.Epoch == r.Reviews.Record.Epoch && f.Outcome == review.FixPushed {
			return "they are pushed"
		}
	}
	return "they are made next"
}

func decided(v review.Verdict, approved, changes string) string {
	if v.Decision == review.Approve {
		return approved
	}
	return changes
}

// headline sums up the state of the reviews.
func (r reviews) headline() string {
	s := string(r.state)
	if r.now(r.who) {
		s += ", " + r.who
	}
	if r.Reviews.Record.MergeType != "" {
		s += ", " + string(r.Reviews.Record.MergeType)
	}
	return fmt.Sprintf("%s; %d of %s", s, r.cycle, work.Count(r.Reviewers.MaxFixCycles, "fix cycle"))
}

// drawing is the line of reviewers, with marks for who approves this head and who requests changes,
// and brackets around the one whose turn it is.
func (r reviews) drawing() string {
	return strings.Join(terminal.Each(r.line, func(x review.Reviewer) string {
		s := x.Name
		if v, ok := r.said(x.Name); ok && r.counts(v) {
			s += decided(v, " ✓", " ✗")
		}
		if r.now(x.Name) {
			s = "[" + s + "]"
		}
		return s
	}), " → ")
}

// head are the lines about reviews above the tables of show.
func (r reviews) head() [][2]string {
	lines := [][2]string{{"review", r.headline()}, {"reviewers", r.drawing()}}
	told := r.why.Kind == r.row().code || r.why.Kind == work.WhyMergeDue && len(r.Merge.Gates) > 0
	if !r.why.None() && !told {
		lines = append(lines, [2]string{"review waits for", terminal.OneLine(explain.Reason(r.why, r.Place).Here())})
	}
	if r.next != "" {
		lines = append(lines, [2]string{"review next", "the next pass: " + r.next})
	}
	if r.HeldBack != nil {
		lines = append(lines, [2]string{"review held by", cmp.Or(r.HeldBack.By, "a label")})
	}
	if r.trouble != "" {
		lines = append(lines, [2]string{"review trouble", terminal.OneLine(r.trouble)})
	}
	return lines
}

// reviewerRows are the reviewers in order, with their last verdicts.
func (r reviews) reviewerRows(when func(time.Time) string) [][]string {
	return terminal.Each(r.line, func(x review.Reviewer) []string {
		v, _ := r.said(x.Name)
		return []string{x.Name, kindOf(x.Human), r.verdict(x.Name), short(v.Head), when(v.At), r.calledInBy(x.Name), v.URL}
	})
}

// findingRows are the open findings, most severe first.
func (r reviews) findingRows() [][]string {
	open := slices.DeleteFunc(slices.Clone(r.Reviews.Findings), func(x review.Finding) bool { return !x.Open() })
	slices.SortStableFunc(open, func(x, y review.Finding) int {
		return cmp.Compare(slices.Index(review.Severities(), x.Severity), slices.Index(review.Severities(), y.Severity))
	})
	return terminal.Each(open, func(x review.Finding) []string {
		where := x.Path
		if x.Line > 0 {
			where += fmt.Sprintf(":%d", x.Line)
		}
		text, _, _ := strings.Cut(strings.TrimSpace(x.Body), "\n")
		return []string{string(x.Severity), where, x.Reviewer, text, r.linkOf(x)}
	})
}

// linkOf is a finding's URL on GitHub: its own comment, or the review.
func (r reviews) linkOf(x review.Finding) string {
	if x.CommentID != 0 {
		return fmt.Sprintf("%s#discussion_r%d", r.Pull.URL, x.CommentID)
	}
	for _, v := range r.Reviews.Verdicts {
		if x.VerdictID != 0 && v.ID == x.VerdictID {
			return v.URL
		}
	}
	return r.Pull.URL
}

func kindOf(human bool) string {
	if human {
		return "human"
	}
	return "agent"
}

// shortDigits is how many digits of a commit are shown.
const shortDigits = 12

func short(head string) string { return head[:min(len(head), shortDigits)] }
