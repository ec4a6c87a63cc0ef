package merging

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Gates are all of them in their order, as they stand.
func Gates(f Facts, p Policy) []Gate {
	g := gates{f: f, p: p}
	for _, one := range []func(){
		g.draft, g.conflicts, g.behind, g.checks, g.approvals, g.review, g.conversations, g.comments, g.hold, g.freeze,
		g.human, g.queue, g.lastPush, g.blocked, g.method, g.permission, g.merging, g.unread,
	} {
		one()
	}
	return g.all
}

// gates is one call of Gates.
type gates struct {
	f   Facts
	p   Policy
	all []Gate
}

func (g *gates) open(c Code) { g.all = append(g.all, Gate{Code: c, Open: true}) }

// waits closes a gate, unless there is no reason to.
func (g *gates) waits(c Code, why work.Reason) { g.close(c, why, false) }

// stops closes a gate that nobody here opens.
func (g *gates) stops(c Code, why work.Reason) { g.close(c, why, true) }

func (g *gates) close(c Code, why work.Reason, stop bool) {
	if why.None() {
		g.open(c)
		return
	}
	if why.Number == 0 {
		why.Number = g.f.Pull.Number
	}
	g.all = append(g.all, Gate{Code: c, Stop: stop, Why: why})
}

// late reports whether what nobody here brings about was waited for long enough.
func (g *gates) late() bool {
	since := g.f.Pull.HeadSince
	if g.f.Updated.After(since) {
		since = g.f.Updated
	}
	return g.p.ChecksTimeout > 0 && !since.IsZero() && g.f.Now.Sub(since) >= g.p.ChecksTimeout
}

func (g *gates) draft() {
	if g.f.Box.Draft || g.f.Pull.Draft {
		g.waits(GateDraft, work.Reason{Kind: work.WhyMergeDraft})
		return
	}
	g.open(GateDraft)
}

// GitHub's words for whether it would merge.
const (
	mergeable   = "MERGEABLE"
	conflicting = "CONFLICTING"
	behind      = "BEHIND"
	blocked     = "BLOCKED"
	clean       = "CLEAN"
	hasHooks    = "HAS_HOOKS"
)

func (g *gates) conflicts() {
	switch g.f.Box.Mergeable {
	case mergeable:
		g.open(GateConflicts)
	case conflicting:
		g.waits(GateConflicts, work.Reason{Kind: work.WhyMergeConflicts, Branch: g.f.Pull.Base})
	default:
		why := work.Reason{Kind: work.WhyMergeUnknown}
		if !g.f.Box.Read() {
			why.Kind = work.WhyMergeNotRead
		}
		g.waits(GateConflicts, why)
	}
}

// behind is for a base that wants heads to be up to date. GitHub also calls such a head
// blocked, and does not say by what.
func (g *gates) behind() {
	status := g.f.Box.Status
	if status == behind || status == blocked && g.f.Box.Rules.Strict && !g.f.Current && g.otherwiseOpen() {
		g.waits(GateBehind, work.Reason{Kind: work.WhyMergeBehind, Branch: g.f.Pull.Base})
		return
	}
	g.open(GateBehind)
}

// otherwiseOpen reports whether every other gate of GitHub's is open.
func (g *gates) otherwiseOpen() bool {
	o := gates{f: g.f, p: g.p}
	for _, one := range []func(){o.draft, o.conflicts, o.checks, o.review, o.conversations, o.lastPush} {
		one()
	}
	return !slices.ContainsFunc(o.all, func(one Gate) bool { return !one.Open })
}

// approvals are those of our reviewers for this head. One that GitHub has dismissed
// since it was read counts no more.
func (g *gates) approvals() {
	gone := slices.ContainsFunc(g.f.Box.Reviews, func(r Review) bool {
		return r.State == "DISMISSED" && slices.Contains(g.f.Verdicts, r.ID)
	})
	if g.f.Approved && !gone {
		g.open(GateApprovals)
		return
	}
	g.waits(GateApprovals, work.Reason{Kind: work.WhyMergeReviews, Names: g.f.Wanting})
}

// review is what GitHub itself demands of people and accounts with write access.
func (g *gates) review() {
	switch decision := g.f.Box.Decision; {
	case decision == "CHANGES_REQUESTED", len(g.f.Against) > 0: // also where GitHub would not mind
		g.waits(GateReview, work.Reason{Kind: work.WhyMergeChangesAsked, Names: g.f.Against})
	case decision == "REVIEW_REQUIRED":
		g.close(GateReview, work.Reason{Kind: work.WhyMergeReviewRequired, Count: g.f.Box.Rules.Approvals}, g.p.Approvers < max(1, g.f.Box.Rules.Approvals))
	default:
		g.open(GateReview)
	}
}

func (g *gates) conversations() {
	if g.f.Box.Rules.Threads && g.f.Box.Threads > 0 {
		g.waits(GateConversations, work.Reason{Kind: work.WhyMergeThreads, Count: g.f.Box.Threads})
		return
	}
	g.open(GateConversations)
}

func (g *gates) comments() {
	if g.f.Said > 0 {
		g.waits(GateComments, work.Reason{Kind: work.WhyMergeComments, Count: g.f.Said})
		return
	}
	g.open(GateComments)
}

func (g *gates) hold() {
	if g.f.Held != nil {
		g.waits(GateHold, work.Reason{Kind: work.WhyMergeHeld, Who: g.f.Held.By, At: g.f.Held.At.UnixMilli()})
		return
	}
	g.open(GateHold)
}

func (g *gates) freeze() {
	if n := g.f.Box.Freeze; n != 0 {
		g.waits(GateFreeze, work.Reason{Kind: work.WhyMergeFrozen, Number: n, Name: g.p.Freeze})
		return
	}
	g.open(GateFreeze)
}

// human is the gate that a person opens for one head, by an approval or by `merge`.
func (g *gates) human() {
	why := g.asksPerson()
	if why.None() || g.f.Person || g.f.said() {
		g.open(GateHuman)
		return
	}
	g.waits(GateHuman, why)
}

// asksPerson is why a person has to judge this pull request.
func (g *gates) asksPerson() work.Reason {
	if g.p.RequireHuman {
		return work.Reason{Kind: work.WhyMergePerson, Name: "require_human_approval"}
	}
	if paths := g.critical(); len(paths) > 0 {
		return work.Reason{Kind: work.WhyMergePerson, Name: "critical_paths", Names: paths}
	}
	if lines := g.f.Box.Lines; g.p.MaxLines > 0 && lines > g.p.MaxLines {
		return work.Reason{Kind: work.WhyMergePerson, Name: "max_merge_lines", Count: lines, Limit: float64(g.p.MaxLines)}
	}
	return work.Reason{}
}

// mostPaths is how many paths are named to people.
const mostPaths = 5

// critical are the changed paths that a person has to judge. Where it is not known what
// changed, anything may have.
func (g *gates) critical() []string {
	if len(g.p.Critical) == 0 {
		return nil
	}
	if len(g.f.Box.Paths) == 0 {
		return []string{"?"}
	}
	var paths []string
	for _, path := range g.f.Box.Paths {
		if slices.ContainsFunc(g.p.Critical, func(glob string) bool { return g.p.Match != nil && g.p.Match(glob, path) }) && len(paths) < mostPaths {
			paths = append(paths, path)
		}
	}
	return paths
}

func (g *gates) queue() {
	q := g.f.Box.Queue
	if q.In {
		g.waits(GateQueue, work.Reason{Kind: work.WhyMergeQueued, Name: strings.ToLower(q.State), Count: q.Position})
		return
	}
	g.open(GateQueue)
}

// lastPush is the rule that somebody else than whoever pushed last approves: pushes are
// the author's.
func (g *gates) lastPush() {
	other := slices.ContainsFunc(g.f.Box.Reviews, func(r Review) bool {
		return r.State == "APPROVED" && r.Head == g.f.Pull.HeadOID && r.By.ID != g.f.Pull.Author.ID
	})
	if !g.f.Box.Rules.LastPush || other {
		g.open(GateLastPush)
		return
	}
	g.close(GateLastPush, work.Reason{Kind: work.WhyMergeLastPush}, g.p.Approvers == 0)
}

// blocked is what GitHub does not tell: a rule that it shows to administrators alone. A
// base with a queue shows this for every pull request outside it.
func (g *gates) blocked() {
	told := slices.ContainsFunc(g.all, func(one Gate) bool { return !one.Open && one.ofGitHub() })
	if g.f.Box.Status != blocked || told || g.f.Box.Queue.Required || g.f.Box.Draft {
		g.open(GateBlocked)
		return
	}
	g.close(GateBlocked, work.Reason{Kind: work.WhyMergeBlocked, Names: g.f.Box.Rules.Other}, g.late())
}

// ofGitHub reports whether GitHub itself closes a gate.
func (g Gate) ofGitHub() bool {
	switch g.Code {
	case GateConflicts, GateChecks, GateReview, GateConversations, GateLastPush, GateBehind, GateDraft:
		return true
	case GateApprovals, GateComments, GateHold, GateFreeze, GateHuman, GateQueue, GateBlocked, GateMethod, GatePermission, GateMerging, GateUnread:
	}
	return false
}

func (g *gates) method() {
	if _, ok := MethodOf(g.f.Box, g.p); ok || g.f.Box.Queue.Required || !g.f.Box.Read() {
		g.open(GateMethod)
		return
	}
	g.stops(GateMethod, work.Reason{Kind: work.WhyMergeMethod, Name: string(g.p.Method), Names: names(allowed(g.f.Box))})
}

// permission is whether we may merge at all.
func (g *gates) permission() {
	if g.f.Box.Forbids() {
		g.stops(GatePermission, work.Reason{Kind: work.WhyMergePermission, Name: strings.ToLower(g.f.Box.Permission)})
		return
	}
	g.open(GatePermission)
}

// merging is what our own attempts have come to.
func (g *gates) merging() {
	switch {
	case !g.f.Trouble.None():
		g.stops(GateMerging, g.f.Trouble)
	case g.f.Halt != nil:
		g.waits(GateMerging, work.Reason{Kind: work.WhyMergeHalted, Commit: g.f.Halt.Why.Commit, Text: g.f.Halt.Why.Text, At: g.f.Halt.At.UnixMilli()})
	case g.f.Refused != "":
		g.waits(GateMerging, work.Reason{Kind: work.WhyMergeBlocked, Names: []string{g.f.Refused}})
	case g.f.Taken:
		g.waits(GateMerging, work.Reason{Kind: work.WhyMergeTaken})
	case g.f.Unclear:
		g.waits(GateMerging, work.Reason{Kind: work.WhyMergeUnclear})
	case g.f.Busy:
		g.waits(GateMerging, work.Reason{Kind: work.WhyMergeBusy})
	default:
		g.open(GateMerging)
	}
}

// unread is that GitHub knows more of the pull request than was read: a comment, a
// review, a push. What it is decides, so that the next pass does.
func (g *gates) unread() {
	b := g.f.Box
	switch {
	case !b.Read():
		g.waits(GateUnread, work.Reason{Kind: work.WhyMergeNotRead})
	case b.Head != g.f.Pull.HeadOID, b.Base != g.f.Pull.Base, b.State != work.PullOpen, b.UpdatedAt.After(g.f.Pull.UpdatedAt):
		g.waits(GateUnread, work.Reason{Kind: work.WhyMergeUnread})
	default:
		g.open(GateUnread)
	}
}

// required are the names of the checks that have to be green. Where nobody says which, or
// names our own status alone, which says nothing of the code, all others count.
func (g *gates) required() []string {
	list := slices.Concat(g.p.Required, g.f.Box.Rules.Checks)
	for _, c := range g.f.Box.Checks {
		if c.Required {
			list = append(list, c.Name)
		}
	}
	if !slices.ContainsFunc(list, func(name string) bool { return name != review.StatusContext }) {
		for _, c := range g.f.Box.Checks {
			if c.Name != review.StatusContext {
				list = append(list, c.Name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (g *gates) checks() {
	if !g.f.Box.ChecksKnown && g.f.Box.Read() {
		g.hiddenChecks()
		return
	}
	var red, runs, missing []string
	for _, name := range g.required() {
		switch state, found := stateOf(g.f.Box.Checks, name); {
		case !found:
			missing = append(missing, name)
		case state == Red:
			red = append(red, name)
		case state != Green:
			runs = append(runs, name)
		}
	}
	switch {
	case len(g.given(red)) > 0:
		g.stops(GateChecks, work.Reason{Kind: work.WhyMergeChecksRed, Names: g.given(red), At: int64(g.p.ChecksTimeout / time.Millisecond)})
	case len(red) > 0:
		g.waits(GateChecks, work.Reason{Kind: work.WhyMergeChecksRed, Names: red})
	case len(missing) > 0 && g.late():
		g.stops(GateChecks, work.Reason{Kind: work.WhyMergeNeverChecked, Names: missing, At: int64(g.p.ChecksTimeout / time.Millisecond)})
	case len(missing) > 0:
		g.waits(GateChecks, work.Reason{Kind: work.WhyMergeChecksMissing, Names: missing})
	case len(runs) > 0:
		g.waits(GateChecks, work.Reason{Kind: work.WhyMergeChecksRun, Names: runs})
	default:
		g.open(GateChecks)
	}
}

// given are those of some red checks that nobody here mends, and that have been so for
// long: they failed and no turn is for that, or they were cancelled.
func (g *gates) given(red []string) (names []string) {
	for _, c := range g.f.Box.Checks {
		over := c.State == Red && !c.Ended.IsZero() && g.p.ChecksTimeout > 0 && g.f.Now.Sub(c.Ended) >= g.p.ChecksTimeout
		if over && (c.Lapsed || !g.p.Mends) && slices.Contains(red, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// hiddenChecks is for a token that may not see them: that GitHub would merge says that
// those which it requires are green, and nothing of others.
func (g *gates) hiddenChecks() {
	judged := g.f.Box.Queue.Required || slices.Contains([]string{clean, hasHooks, behind}, g.f.Box.Status) // by GitHub, before or after it is brought up to date
	if len(g.p.Required) == 0 && judged {
		g.open(GateChecks)
		return
	}
	g.close(GateChecks, work.Reason{Kind: work.WhyMergeChecksHidden, Names: g.p.Required}, len(g.p.Required) > 0 || g.late())
}

// stateOf is what the checks of one name have come to: the worst of them.
func stateOf(checks []Check, name string) (CheckState, bool) {
	state, found := Green, false
	for _, c := range checks {
		if c.Name != name {
			continue
		}
		found = true
		if c.State == Red || state == Green {
			state = c.State
		}
	}
	return state, found
}
