package merging

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// GateRow is one gate: for the docs, when it is open and who opens it; its traits; and the function
// that judges it.
type GateRow struct {
	Code   Code
	Opens  string
	Who    string
	traits trait
	judge  func(*gates) closed
}

// trait is a property of a gate; a gate may have several.
type trait int

const (
	people  trait = 1 << iota // only a person opens it
	github                    // GitHub itself enforces it
	ours                      // GitHub does not know it: if it closes, a queued pull request is dequeued
	fromBox                   // judged from GitHub's merge box
	byPaths                   // may close once the changed paths are read with GitHub's merge box
	byHead                    // judged from what was said of the head
	settles                   // opens by itself once the branch is updated
)

// Table has the gates in GitHub's order.
func Table() []GateRow {
	return []GateRow{
		{gateDraft, "it is no draft", "its author; `draft`: a pass, once it is green", people | github, (*gates).draft},
		{gateConflicts, "GitHub can merge it", "a turn merges the base into it", github | fromBox | settles, (*gates).conflicts},
		{gateBehind, "it is up to date with its base, if the rules require that", "gh mergexo, once it is next", github | fromBox | settles, (*gates).behind},
		{
			gateChecks, "the required checks are green: those of GitHub's rules and of `required_checks`. If none is required, all checks", "the checks; a turn, if they fail", github | fromBox | settles, (*gates).checks,
		},
		{gateApprovals, "every configured [reviewer](../review.md) approved this commit", "they do", ours | settles | byHead, (*gates).approvals},
		{gateReview, "GitHub's own review rules are met", "people, and reviewers with an account of their own", people | github | fromBox | settles, (*gates).review},
		{gateConversations, "none is open, if the rules require that", "anyone who can resolve them", people | github | fromBox, (*gates).conversations},
		{gateComments, "everything that people wrote is answered", "a turn", ours, (*gates).comments},
		{gateHold, "no hold: neither `/mergexo hold` nor its label, nor the label `agent:ignore`", "a comment `/mergexo resume`, or who removes the label", people | ours, (*gates).hold},
		{gateAsked, "its issue has its flow's label, and is open or closed as completed", "anyone who reopens the issue or sets the label", people | ours | fromBox, (*gates).asked},
		{gateFreeze, "no issue with the label `agent:freeze` is open", "anyone who can close it", people | ours | fromBox, (*gates).freeze},
		{gateDocument, "the document of a design or roadmap has no faults", "anyone who pushes a correction", people | ours, (*gates).document},
		{gateHuman, "no person is needed, or one has approved this commit", "an approval on GitHub, or a comment `/mergexo merge`", people | ours | byPaths, (*gates).human},
		{
			gateNotReviewed, "every reviewer was shown the whole change, but for files of `review_unread`, or a person has approved this commit", "an approval on GitHub, or a comment `/mergexo merge`",
			people | ours | byHead, (*gates).allReviewed,
		},
		{gateQueue, "it is not in the merge queue already", "GitHub", fromBox, (*gates).queue},
		{
			gateLastPush, "somebody other than the last pusher approved, if the rules require that", "people, and reviewers with an account of their own",
			people | github | fromBox, (*gates).lastPush,
		},
		{gateBlocked, "GitHub does not report a rule that it shows to administrators only", "an administrator", people | fromBox | settles, (*gates).blocked},
		{gateMethod, "repository and rules allow a merge method", "the settings", fromBox, (*gates).method},
		{gatePermission, "the account may merge", "an administrator", fromBox, (*gates).permission},
		{
			gateMerging, "no earlier attempt for this commit went wrong, and merging is not stopped in the repository", "a comment `/mergexo retry`, or `gh mergexo resume --merging`",
			settles, (*gates).merging,
		},
		{gateUnread, "nothing changed on the pull request since it was read", "the next pass", settles, (*gates).unread},
	}
}

func (c Code) has(t trait) bool {
	return slices.ContainsFunc(Table(), func(r GateRow) bool { return r.Code == c && r.traits&t != 0 })
}

// FromBox reports whether the gate is judged from GitHub's merge box. Until the box is read, its
// state is unknown.
func (c Code) FromBox() bool { return c.has(fromBox) }

// ByPaths reports whether the gate may close once the changed paths are read with GitHub's merge box.
// Until then, that it is open is not known.
func (c Code) ByPaths() bool { return c.has(byPaths) }

// ByHead reports whether the gate is judged from what was said of the head. That it is open says nothing of a newer one.
func (c Code) ByHead() bool { return c.has(byHead) }

// Gates judges every gate, in the order of Table.
func Gates(f Facts, p Policy) []Gate {
	g := gates{f: f, p: p}
	for _, one := range Table() {
		g.all = append(g.all, one.judge(&g).gate(one.Code, f.Pull.Number))
	}
	return g.all
}

// gates is one call of Gates.
type gates struct {
	f   Facts
	p   Policy
	all []Gate // gates judged so far
}

// closed is why a gate is closed. With a zero reason the gate is open.
type closed struct {
	why  work.Reason
	stop bool
}

// waits returns a gate that is closed for now.
func waits(why work.Reason) closed { return closed{why: why} }

// stops returns a gate that nobody here can open.
func stops(why work.Reason) closed { return closed{why, true} }

func (c closed) gate(code Code, number int) Gate {
	if c.why.None() {
		return Gate{Code: code, Open: true}
	}
	if c.why.Number == 0 {
		c.why.Number = number
	}
	return Gate{Code: code, Stop: c.stop, Why: c.why}
}

// late reports whether ChecksTimeout has passed since the head appeared or its branch was last
// updated.
func (g *gates) late() bool {
	since := g.f.Pull.HeadSince
	if g.f.Updated.After(since) {
		since = g.f.Updated
	}
	return g.p.ChecksTimeout > 0 && !since.IsZero() && g.f.Now.Sub(since) >= g.p.ChecksTimeout
}

func (g *gates) draft() closed {
	if !g.f.UntilGreen.None() {
		return waits(g.f.UntilGreen)
	}
	if g.f.Box.Draft || g.f.Pull.Draft {
		return waits(work.Reason{Kind: work.WhyMergeDraft})
	}
	return closed{}
}

// GitHub's values for whether it would merge.
const (
	mergeable   = "MERGEABLE"
	conflicting = "CONFLICTING"
	behind      = "BEHIND"
	blocked     = "BLOCKED"
	clean       = "CLEAN"
	hasHooks    = "HAS_HOOKS"
)

func (g *gates) conflicts() closed {
	switch g.f.Box.Mergeable {
	case mergeable:
		return closed{}
	case conflicting:
		return waits(work.Reason{Kind: work.WhyMergeConflicts, Branch: g.f.Pull.Base})
	default:
		why := work.Reason{Kind: work.WhyMergeUnknown}
		if !g.f.Box.Read() {
			why.Kind = work.WhyMergeNotRead
		}
		return waits(why)
	}
}

// behind closes the gate if the base requires heads to be up to date. GitHub reports some outdated
// heads as BLOCKED without a reason: if the rules are strict and every other gate of GitHub's is
// open, the head is behind.
func (g *gates) behind() closed {
	status := g.f.Box.Status
	if status == behind || status == blocked && g.f.Box.Rules.Strict && !g.f.Current && g.otherwiseOpen() {
		return waits(work.Reason{Kind: work.WhyMergeBehind, Branch: g.f.Pull.Base})
	}
	return closed{}
}

// otherwiseOpen reports whether every other gate that GitHub enforces is open.
func (g *gates) otherwiseOpen() bool {
	return !slices.ContainsFunc(Table(), func(r GateRow) bool {
		return r.traits&github != 0 && r.Code != gateBehind && !r.judge(g).why.None()
	})
}

// approvals judges our reviewers' approvals of this head.
func (g *gates) approvals() closed {
	if g.f.Approved {
		return closed{}
	}
	return waits(g.approvedBefore(work.Reason{Kind: work.WhyMergeReviews, Names: g.f.Wanting}))
}

// review judges the reviews that GitHub requires from people and accounts with write access.
func (g *gates) review() closed {
	switch decision := g.f.Box.Decision; {
	case decision == "CHANGES_REQUESTED", len(g.f.Against) > 0: // even if GitHub would merge
		return waits(work.Reason{Kind: work.WhyMergeChangesAsked, Names: g.f.Against})
	case decision == "REVIEW_REQUIRED":
		return closed{work.Reason{Kind: work.WhyMergeReviewRequired, Count: g.f.Box.Rules.Approvals, Names: g.p.Unable}, len(g.p.Approvers) < max(1, g.f.Box.Rules.Approvals)}
	default:
		return closed{}
	}
}

func (g *gates) conversations() closed {
	if g.f.Box.Rules.Threads && g.f.Box.Threads > 0 {
		return waits(work.Reason{Kind: work.WhyMergeThreads, Count: g.f.Box.Threads})
	}
	return closed{}
}

func (g *gates) comments() closed {
	if g.f.Unanswered > 0 {
		return waits(work.Reason{Kind: work.WhyMergeComments, Count: g.f.Unanswered})
	}
	return closed{}
}

// hold judges holds and pauses. Whether a label is there, the labels say: a stored hold that came
// with a label is over without it.
func (g *gates) hold() closed {
	held, labelled := g.f.Held, work.HasLabel(g.f.Box.Labels, g.p.Hold)
	if held != nil && (!held.Labelled || labelled || !g.f.Box.Read()) {
		return waits(work.Reason{Kind: work.WhyMergeHeld, Who: held.By, At: held.At.UnixMilli()})
	}
	if labelled || work.HasLabel(g.f.Box.Labels, g.p.Ignore) || work.HasLabel(g.f.Box.Issue.Labels, g.p.Ignore) {
		return waits(work.Reason{Kind: work.WhyMergeHeld})
	}
	return closed{}
}

// asked judges whether people still want the issue's work.
func (g *gates) asked() closed {
	is := g.f.Box.Issue
	switch {
	case is.Number == 0: // not read
		return closed{}
	case !is.Wanted:
		return waits(work.Reason{Kind: work.WhyMergeNotAsked, Number: is.Number})
	case len(g.f.Asked) > 0 && !slices.ContainsFunc(g.f.Asked, func(label string) bool { return work.HasLabel(is.Labels, label) }):
		return waits(work.Reason{Kind: work.WhyMergeNotAsked, Number: is.Number, Name: g.f.Asked[0]})
	}
	return closed{}
}

func (g *gates) freeze() closed {
	if n := g.f.Box.Freeze; n != 0 {
		return waits(work.Reason{Kind: work.WhyMergeFrozen, Number: n, Name: g.p.Freeze})
	}
	return closed{}
}

func (g *gates) document() closed {
	if len(g.f.Faults) > 0 {
		return waits(work.Reason{Kind: work.WhyPushedFaults, Names: g.f.Faults})
	}
	return closed{}
}

// human judges whether a required person has approved this head, by a review or by `merge`.
func (g *gates) human() closed {
	why := g.asksPerson()
	if why.None() || g.f.Person || g.f.mergeApproved() {
		return closed{}
	}
	return waits(g.approvedBefore(why))
}

// allReviewed judges whether agents were shown everything that they approved. If not, a person must
// approve this head.
func (g *gates) allReviewed() closed {
	left := slices.DeleteFunc(slices.Clone(g.f.Unread), func(path string) bool {
		return slices.ContainsFunc(g.p.Unread, func(glob string) bool { return g.p.Match != nil && g.p.Match(glob, path) })
	})
	if len(left) == 0 || g.f.Person || g.f.mergeApproved() {
		return closed{}
	}
	return waits(g.approvedBefore(work.Reason{Kind: work.WhyMergeNotReviewed, Names: left[:min(len(left), MostPaths)], Count: len(left)}))
}

// approvedBefore adds the base to the reason for a missing approval if there is one, and it does
// not count because of the base.
func (g *gates) approvedBefore(why work.Reason) work.Reason {
	if g.f.OtherCommits {
		why.Branch = g.f.Pull.Base
	}
	return why
}

// asksPerson returns why a person must approve this pull request, or a zero reason.
func (g *gates) asksPerson() work.Reason {
	if g.p.RequireHuman {
		return work.Reason{Kind: work.WhyMergePerson, Name: "require_human_approval"}
	}
	if paths := g.critical(); len(paths) > 0 {
		return work.Reason{Kind: work.WhyMergePerson, Name: "critical_paths", Names: paths}
	}
	if paths := g.agentFiles(); len(paths) > 0 {
		return work.Reason{Kind: work.WhyMergePerson, Name: "agent_files", Names: paths}
	}
	if paths := g.orders(); len(paths) > 0 {
		return work.Reason{Kind: work.WhyMergePerson, Name: "order_files", Names: paths}
	}
	if d := g.f.Box.Deletes; d.Files > 0 {
		why := work.Reason{Kind: work.WhyMergePerson, Name: "deletions", Count: d.Files, Limit: float64(d.Of)}
		if d.Folder != "" {
			why.Names = []string{d.Folder}
		}
		return why
	}
	return work.Reason{}
}

// MostPaths is how many paths a reason names at most.
const MostPaths = 5

// critical returns changed paths that need a person's approval. If the changed paths are unknown,
// it returns "?", because any of them may be critical.
func (g *gates) critical() []string {
	if len(g.p.Critical) == 0 {
		return nil
	}
	return g.changed(func(path string) bool {
		return slices.ContainsFunc(g.p.Critical, func(glob string) bool { return g.p.Match != nil && g.p.Match(glob, path) })
	})
}

// notCounted reports whether what the head changes is not read yet from its merge bases. The last look
// before a merge does not accept that.
func (g *gates) notCounted() bool { return len(g.f.Box.Paths) == 0 && !g.f.Box.Counted(g.f.Pull) }

// agentFiles returns changed files that agents obey, listed or imported by the base's: once merged,
// they instruct the reviewers of later changes. Until the merge box is read, nothing is merged anyway.
func (g *gates) agentFiles() []string {
	if !g.f.Box.Read() {
		return nil
	}
	return g.changed(func(path string) bool { return slices.Contains(g.f.Box.Obeyed, path) })
}

// orders returns changed files from which others take orders. Unknown paths close the gate already
// for the files that agents obey.
func (g *gates) orders() []string {
	if !g.f.Box.Read() {
		return nil
	}
	return g.changed(func(path string) bool { return work.TakesOrders(path, g.f.Flow, g.f.Issue) })
}

// changed returns some of the changed paths that are meant, "?" if the changed paths are unknown.
func (g *gates) changed(meant func(path string) bool) []string {
	switch {
	case g.notCounted():
		return nil
	case len(g.f.Box.Paths) == 0:
		return []string{"?"}
	}
	var paths []string
	for _, path := range g.f.Box.Paths {
		if meant(path) && len(paths) < MostPaths {
			paths = append(paths, path)
		}
	}
	return paths
}

func (g *gates) queue() closed {
	q := g.f.Box.Queue
	if q.In {
		return waits(work.Reason{Kind: work.WhyMergeQueued, Name: strings.ToLower(q.State), Count: q.Position})
	}
	return closed{}
}

// lastPush judges the rule that somebody other than the last pusher must approve. The last pusher
// is taken to be the author.
func (g *gates) lastPush() closed {
	other := slices.ContainsFunc(g.f.Box.Reviews, func(r Review) bool {
		return r.State == "APPROVED" && r.Head == g.f.Pull.HeadOID && r.By.ID != g.f.Pull.Author.ID
	})
	if !g.f.Box.Rules.LastPush || other {
		return closed{}
	}
	return closed{work.Reason{Kind: work.WhyMergeLastPush, Names: g.p.Unable}, len(g.p.Approvers) == 0}
}

// blocked closes the gate if GitHub blocks the merge without a visible reason: only administrators
// see some rules. A base with a merge queue reports BLOCKED for every pull request outside the
// queue, so it does not count there.
func (g *gates) blocked() closed {
	told := slices.ContainsFunc(g.all, func(one Gate) bool { return !one.Open && one.Code.has(github) })
	if g.f.Box.Status != blocked || told || g.f.Box.Queue.Required || g.f.Box.Draft {
		return closed{}
	}
	return closed{work.Reason{Kind: work.WhyMergeBlocked, Names: g.f.Box.Rules.Other}, g.late()}
}

func (g *gates) method() closed {
	if _, ok := methodOf(g.f.Box, g.p); ok || g.f.Box.Queue.Required || !g.f.Box.Read() {
		return closed{}
	}
	return stops(work.Reason{Kind: work.WhyMergeMethod, Name: string(g.p.Method), Names: names(allowed(g.f.Box))})
}

// permission judges whether our account may merge.
func (g *gates) permission() closed {
	if g.f.Box.Forbids() {
		return stops(work.Reason{Kind: work.WhyMergePermission, Name: strings.ToLower(g.f.Box.Permission)})
	}
	return closed{}
}

// merging judges the results of our own attempts.
func (g *gates) merging() closed {
	switch {
	case !g.f.Trouble.None():
		return stops(g.f.Trouble)
	case g.f.Halt != nil:
		return waits(work.Reason{Kind: work.WhyMergeHalted, Commit: g.f.Halt.Why.Commit, Text: g.f.Halt.Why.Text, At: g.f.Halt.At.UnixMilli()})
	case !g.f.Refused.None():
		return waits(g.f.Refused)
	case g.f.Taken:
		return waits(work.Reason{Kind: work.WhyMergeTaken})
	case g.f.Unclear:
		return waits(work.Reason{Kind: work.WhyMergeUnclear})
	case !g.f.First.None():
		return waits(g.f.First)
	default:
		return closed{}
	}
}

// unread closes the gate if GitHub has a newer state than we read: a comment, a review or a push.
// The next pass reads it and decides. GitHub's stamps are whole seconds: what changed in the second
// in which the last look began may have changed during the look.
func (g *gates) unread() closed {
	b := g.f.Box
	switch {
	case !b.Read():
		return waits(work.Reason{Kind: work.WhyMergeNotRead})
	case b.Head != g.f.Pull.HeadOID, b.Base != g.f.Pull.Base, b.State != work.PullOpen, b.UpdatedAt.After(g.f.Pull.UpdatedAt), b.Fresh():
		return waits(work.Reason{Kind: work.WhyMergeNotRead})
	default:
		return closed{}
	}
}

// required returns the names of the checks that must be green. If nothing is required, or only our
// own status (which does not test the code), every other check is.
func (g *gates) required() []string {
	list := slices.Concat(g.p.Required, g.f.Box.Rules.Checks, g.f.Box.Expected)
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

func (g *gates) checks() closed {
	if !g.f.Box.ChecksKnown && g.f.Box.Read() {
		return g.hiddenChecks()
	}
	var red, runs, missing, unstarted []string
	for _, name := range g.required() {
		switch state, found := stateOf(g.f.Box.Checks, name); {
		case !found:
			missing = append(missing, name)
		case state == Red:
			red = append(red, name)
		case state != Green && g.unstarted(name):
			unstarted = append(unstarted, name)
		case state != Green:
			runs = append(runs, name)
		}
	}
	switch {
	case len(g.abandonedChecks(red)) > 0:
		return stops(work.Reason{Kind: work.WhyMergeChecksRed, Names: g.abandonedChecks(red), At: int64(g.p.ChecksTimeout / time.Millisecond)})
	case len(red) > 0:
		return waits(work.Reason{Kind: work.WhyMergeChecksRed, Names: red})
	case len(unstarted) > 0:
		return waits(work.Reason{Kind: work.WhyMergeNoCI, Names: unstarted})
	case len(missing) > 0 && g.late():
		return stops(work.Reason{Kind: work.WhyMergeNeverChecked, Names: missing, At: int64(g.p.ChecksTimeout / time.Millisecond)})
	case len(missing) > 0:
		return waits(work.Reason{Kind: work.WhyMergeChecksMissing, Names: missing})
	case len(runs) > 0:
		return waits(work.Reason{Kind: work.WhyMergeChecksRun, Names: runs})
	default:
		return closed{}
	}
}

// unstarted reports whether GitHub could not start a check.
func (g *gates) unstarted(name string) bool {
	return slices.ContainsFunc(g.f.Box.Checks, func(c Check) bool { return c.Name == name && c.Unstarted })
}

// abandonedChecks returns the red checks that ended at least ChecksTimeout ago and that no turn
// fixes: cancelled or stale ones (Lapsed).
func (g *gates) abandonedChecks(red []string) (names []string) {
	for _, c := range g.f.Box.Checks {
		over := c.State == Red && !c.Ended.IsZero() && g.p.ChecksTimeout > 0 && g.f.Now.Sub(c.Ended) >= g.p.ChecksTimeout
		if over && c.Lapsed && slices.Contains(red, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// hiddenChecks judges checks that the token may not read. If GitHub would merge, the checks that
// GitHub requires are green; it shows nothing about those that the config requires.
func (g *gates) hiddenChecks() closed {
	judged := g.f.Box.Queue.Required || slices.Contains([]string{clean, hasHooks, behind}, g.f.Box.Status) // GitHub has judged the required checks
	if len(g.p.Required) == 0 && judged {
		return closed{}
	}
	return closed{work.Reason{Kind: work.WhyMergeChecksHidden, Names: g.p.Required}, len(g.p.Required) > 0 || g.late()}
}

// stateOf returns the worst state among the checks with a name.
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

// Stops reports whether a reason stops a work item because its pull request is not merged. The item
// resumes once nothing stops the merge.
func Stops(k work.ReasonKind) bool {
	switch k { //nolint:exhaustive // no other does
	case work.WhyMergeNeverChecked, work.WhyMergeChecksHidden, work.WhyMergeMethod, work.WhyMergeReviewRequired, work.WhyMergeLastPush,
		work.WhyMergeBlocked, work.WhyMergePermission, work.WhyMergeChecksRed:
		return true
	}
	return Stays(k)
}

// Stays reports whether a reason comes from an attempt to merge and cannot be read from GitHub
// again. Only a person or a new head clears it.
func Stays(k work.ReasonKind) bool {
	switch k { //nolint:exhaustive // no other does
	case work.WhyMergeHalf, work.WhyMergeRefused, work.WhyMergeQueueOut, work.WhyMergeDiffers:
		return true
	}
	return false
}
