package ingest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"

	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// shownStatus is the commit status with the result of the reviews, as GitHub shows it. Its state is
// empty if GitHub shows none.
type shownStatus struct {
	state string
	text  string    // empty: none, or it is not known
	at    time.Time // zero: not known
}

// statusLag is how long GitHub may show a commit status without a time after we set another one.
const statusLag = time.Minute

// restoreStatus sets the commit status of a head again if somebody else set another one.
func (h *reading) restoreStatus(ctx context.Context, tx *store.Tx, pull work.PullRequest, shown shownStatus) error {
	if shown.state == "" || pull.State != work.PullOpen {
		return nil
	}
	a, known, err := tx.GetAction(ctx, work.StatusToken(h.row.Key(), pull.HeadOID))
	if err != nil || !known || a.State != work.ActionApplied {
		return err
	}
	// A state that is not ours may be of the second in which ours was set. Another text must be newer,
	// in case GitHub does not show texts as they were sent.
	ours := shown.at.Before(a.SeenAt.Truncate(time.Second))
	if shown.at.IsZero() {
		ours = h.now().Sub(a.SeenAt) < statusLag
	}
	if a.Target == shown.state {
		ours = shown.text == "" || shown.text == a.Body || !shown.at.After(a.SeenAt)
	}
	if ours {
		return nil
	}
	h.log.WarnContext(ctx, "somebody changed the commit status of the reviews, and it is set again", "repo_full_name", h.repo.Name.FullName(), "pr_number", pull.Number, "state", shown.state)
	return tx.RedoAction(ctx, a.ID)
}

// readVerdict is a verdict on GitHub with its findings.
type readVerdict struct {
	review.Verdict
	findings  []review.Finding
	resolved  []string // earlier findings, by id
	dismissed bool
}

// Verdicts come back from GitHub as reviews: an agent's by our marker under one of our accounts, a
// person's by login. A verdict is not feedback: the fix that the reviews plan does what it asks
// for. An approval by anybody else does not advance the reviews; it is answered, and nothing is
// pushed for it.

// The states of a review, in GitHub's words.
const (
	approved         = "APPROVED"
	changesRequested = "CHANGES_REQUESTED"
	dismissed        = "DISMISSED"
)

// reviewReader reads the reviews of one pull request.
type reviewReader struct {
	*reading
	pull   work.PullRequest
	policy review.Policy
	called []review.Insertion // by the verdicts read so far
	stored store.Reviews
}

// takeReviews ingests the reviews and threads of a pull request.
func (h *reading) takeReviews(ctx context.Context, pull work.PullRequest, d github.PullDetail) error {
	by := h.reviewedBy(ctx, pull)
	news := h.newsOf(pull.Number)
	verdicts := map[int64]bool{}
	for _, r := range d.Reviews {
		h.submitted[r.ID], h.reviewStates[r.ID] = r.SubmittedAt, r.State
		if changedAt(r).Before(d.Since) {
			continue // it is stored; and of two copies the first may be missing here
		}
		c, said := reviewOf(pull, r), r.State == changesRequested || r.Body != "" && (r.State == "COMMENTED" || r.State == approved) // else it asks for nothing
		v, ok, err := by.verdict(ctx, r, d)
		if err != nil {
			return err
		}
		if ok {
			news.verdicts = append(news.verdicts, v)
			in, _ := review.CallIn(by.policy, v.Verdict, by.called) // after the loss of the database nothing else shows that they are reviewers
			by.called = slices.Concat(by.called, in)
		}
		if ok && asksFix(v.Verdict) {
			verdicts[r.ID], c.event.Outcome = true, work.OutcomeVerdict
			if r.Word.Ignored(r.Author) != "" {
				c.event.Outcome = ""
			}
		}
		if !ok && !said && r.State == approved && h.rights.takenFrom(r.Author) != 0 {
			said = true
			c.event.Outcome = work.OutcomeTakenOver
		}
		if said {
			h.add(c)
		}
	}
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			c.Pull = pull.Number
			if c.InReplyTo == 0 && c.ID != t.Top {
				c.InReplyTo = t.Top
			}
			e := reviewEvent(pull, c)
			e.event.State = h.reviewStates[c.ReviewID]
			if verdicts[c.ReviewID] && c.Word.Ignored(c.Author) == "" {
				e.event.Outcome = work.OutcomeVerdict
			}
			h.add(e)
		}
	}
	return nil
}

// changedAt returns when a review was last submitted, edited or dismissed.
func changedAt(r github.Review) time.Time {
	if r.SubmittedAt.After(r.UpdatedAt) {
		return r.SubmittedAt
	}
	return r.UpdatedAt
}

// asksFix reports whether a verdict is a person's who is a reviewer and requests changes: a fix is
// made for it, and its comments are no feedback beside it.
func asksFix(v review.Verdict) bool {
	return v.Human && v.Reviewer != "" && v.Decision == review.RequestChanges
}

// reviewedBy returns the reader for a pull request, with its reviewers.
func (h *reading) reviewedBy(ctx context.Context, pull work.PullRequest) reviewReader {
	by := reviewReader{reading: h, pull: pull, policy: h.repo.Settings.ReviewPolicy(h.itemOfPull(ctx, pull).Flow)}
	if !by.policy.Off() && pull.ID != 0 {
		by.stored = stored(ctx, h, func(ctx context.Context, tx *store.Tx) (store.Reviews, error) { return tx.GetReviews(ctx, pull.ID) })
	}
	by.called = by.stored.Inserted
	return by
}

// ownVerdict reads a review of ours by its marker. The marker names the head it is about; on
// another head the review is no verdict.
func ownVerdict(r github.Review, d github.PullDetail, ours []int64) (readVerdict, bool) {
	marks, _ := work.ParseMarks(r.Body)
	v, resolved, found, ok := review.ParseMark(marks.Review)
	if !ok || v.Reviewer == "" || r.CommitOID != "" && r.CommitOID != v.Head {
		return readVerdict{}, false
	}
	v.ReviewID, v.By, v.URL, v.At, v.Body = r.ID, r.Author, r.URL, r.SubmittedAt, work.Unmarked(r.Body)
	for _, t := range d.Threads {
		if len(t.Comments) == 0 || t.Comments[0].ReviewID != r.ID || !slices.Contains(ours, t.Comments[0].Author.ID) {
			continue
		}
		first := t.Comments[0]
		m, _ := work.ParseMarks(first.Body)
		x, ok := review.ParseFinding(m.Finding)
		if !ok {
			continue
		}
		x.Head, x.Path, x.Line, x.CommentID, x.ThreadNode = v.Head, first.Path, first.Line, first.ID, t.NodeID
		for _, c := range t.Comments[1:] {
			if work.Ours(c.Body, c.Author, ours) {
				x.Answer = work.Unmarked(c.Body)
			}
		}
		found = append(found, x)
	}
	return readVerdict{Verdict: v, findings: found, resolved: resolved, dismissed: r.State == dismissed}, true
}

// copied reports whether a review of ours is a second copy: an earlier one has a verdict of the
// same reviewer on the same head. Our dismissal of the copy does not count as a dismissal of the
// verdict.
func copied(r github.Review, v review.Verdict, d github.PullDetail, ours []int64) bool {
	return slices.ContainsFunc(d.Reviews, func(o github.Review) bool {
		if o.ID >= r.ID || o.State == "PENDING" || !slices.Contains(ours, o.Author.ID) {
			return false
		}
		first, ok := ownVerdict(o, d, ours)
		return ok && first.Reviewer == v.Reviewer && first.Head == v.Head && first.MergeBase == v.MergeBase
	})
}

// verdict reads the verdict of a review; false if it has none. If the config requires a person's approval beside
// the reviewers', people who are not reviewers count, too: the last review of each does, and
// changes that they request are feedback as well. The decision is its author's, whoever edited the text;
// the texts count as those of other comments.
func (by reviewReader) verdict(ctx context.Context, r github.Review, d github.PullDetail) (readVerdict, bool, error) {
	if by.policy.Off() || r.State == "PENDING" || r.Author.ID == 0 {
		return readVerdict{}, false, nil
	}
	if ours := by.accounts.Writers(by.repo.Name.Host); slices.Contains(ours, r.Author.ID) {
		if v, ok := ownVerdict(r, d, ours); ok {
			return v, !copied(r, v.Verdict, d, ours), nil
		}
	}
	text := r.Body
	if r.Word.Ignored(r.Author) != "" {
		text = ""
	}
	v := review.Verdict{
		ReviewID: r.ID, Human: true, Head: r.CommitOID, Epoch: by.stored.Record.Epoch, Cycle: review.FixCycle(by.stored.Fixes, by.stored.Record.Epoch),
		By: r.Author, CalledIn: review.CalledIn(text), Body: work.Normalise(text), URL: r.URL, At: r.SubmittedAt,
	}
	at := slices.IndexFunc(by.stored.Verdicts, func(o review.Verdict) bool { return o.ReviewID == r.ID })
	switch r.State {
	case approved:
		v.Decision = review.Approve
	case changesRequested:
		v.Decision = review.RequestChanges
	case dismissed: // GitHub does not say which state it had before
		return readVerdict{Verdict: v, dismissed: true}, at >= 0, nil
	default:
		return readVerdict{}, false, nil
	}
	if at >= 0 { // judged when it appeared
		return readVerdict{Verdict: by.stored.Verdicts[at], dismissed: withdrawn(r, d)}, true, nil
	}
	var who review.Reviewer
	line := review.Line(by.policy, by.called)
	named, err := by.ask(ctx, func(may *rights) bool {
		at := slices.IndexFunc(line, func(x review.Reviewer) bool {
			return x.Human && may.isNamed(work.Account{ID: x.LoginID, Login: x.Login}, r.Author)
		})
		if at >= 0 {
			who = line[at]
		}
		return at >= 0
	})
	if err != nil {
		return readVerdict{}, false, err
	}
	if !named && (!by.policy.HearPeople || r.Author.ID == by.pull.Author.ID) {
		return readVerdict{}, false, nil
	}
	if _, marked := work.ParseMarks(r.Body); !named && (marked || by.policy.Agents(r.Author)) {
		return readVerdict{}, false, nil // an agent's, run by anybody
	}
	may := by.mayCommand
	if !named { // the approval must come from a person with write permission
		may = by.mayPush
	}
	if ok, err := may(ctx, r.Author, r.SubmittedAt); err != nil || !ok {
		return readVerdict{}, false, err
	}
	v.Reviewer = who.Name
	if !named {
		v.CalledIn = nil
		return readVerdict{Verdict: v, dismissed: withdrawn(r, d)}, true, nil
	}
	found := findingsOf(v, by.policy.Blocking, d)
	if v.Count = len(found); v.Count > 0 {
		v.Highest = by.policy.Blocking
	}
	return readVerdict{Verdict: v, findings: found, dismissed: withdrawn(r, d)}, true, nil
}

// withdrawn reports whether the person who approved a head requested changes on it later. That
// approval never counts again, even if those changes were made.
func withdrawn(r github.Review, d github.PullDetail) bool {
	return r.State == approved && slices.ContainsFunc(d.Reviews, func(o github.Review) bool {
		return o.ID > r.ID && o.Author.ID == r.Author.ID && o.CommitOID == r.CommitOID && (o.State == changesRequested || o.State == dismissed)
	})
}

// findingsOf returns the line comments of a person's review that requests changes. Each is a
// finding.
func findingsOf(v review.Verdict, blocking review.Severity, d github.PullDetail) []review.Finding {
	if v.Decision != review.RequestChanges {
		return nil
	}
	var all []review.Finding
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			if c.ReviewID != v.ReviewID || c.Word.Ignored(c.Author) != "" {
				continue
			}
			comment := c.ID
			if c.ID != t.Top { // GitHub takes no reply to a reply: it is answered in the conversation
				comment = 0
			}
			all = append(all, review.Finding{
				ID: work.ContentHash("finding", strconv.FormatInt(c.ID, 10)), Reviewer: v.Reviewer, Head: v.Head, Cycle: v.Cycle, Path: c.Path, Line: c.Line,
				Severity: blocking, Body: work.Normalise(c.Body), CommentID: comment, ThreadNode: t.NodeID,
			})
		}
	}
	return all
}

// findMergeBase computes the merge bases of a head with verdicts: when it gets its first one, and
// whenever its base moved. Verdicts for other merge bases stay valid where merging brings no more
// commits than it did then: the base only grew. If git cannot tell, the details are read again.
func (h *reading) findMergeBase(ctx context.Context, old work.PullRequest, pull *work.PullRequest) error {
	if old.HeadOID != pull.HeadOID {
		pull.MergeBase = ""
	}
	same := pull.MergeBase != "" && old.Base == pull.Base && old.BaseOID == pull.BaseOID
	if same || pull.State != work.PullOpen || pull.BaseOID == "" || h.preflight == nil {
		return nil
	}
	bases := h.verdictBases(ctx, *pull)
	if len(bases) == 0 {
		return nil
	}
	was, news := pull.MergeBase, h.newsOf(pull.Number)
	if was != "" && !slices.Contains(bases, was) {
		bases = append(bases, was)
	}
	now, covered, err := h.compareBases(ctx, *pull, bases)
	if err != nil {
		h.log.WarnContext(ctx, "the merge base of a pull request is not known yet", "repo_full_name", h.repo.Name.FullName(), "pr_number", pull.Number, "error", err)
		pull.Fingerprint = ""
		return ctx.Err()
	}
	pull.MergeBase, news.sameCommits = now, covered
	news.baseMoved = was != "" && was != now && !slices.Contains(covered, was) && pull.BaseChanged.Equal(old.BaseChanged)
	return nil
}

// compareBases returns the merge bases of a pull request's head, and those of bases from which
// merging brings no more commits now.
func (h *reading) compareBases(ctx context.Context, pull work.PullRequest, bases []string) (now string, covered []string, err error) {
	if err := h.preflight(ctx); err != nil {
		return "", nil, err
	}
	git := h.repo.Git()
	if !git.Has(ctx, pull.HeadOID) || !git.Has(ctx, pull.BaseOID) {
		if err := git.Fetch(ctx, pull.Base, pull.HeadOID, pull.BaseOID); err != nil {
			return "", nil, err
		}
	}
	now, err = git.MergeBases(ctx, pull.BaseOID, pull.HeadOID)
	for _, one := range bases {
		if err != nil || one == "" || one == now {
			continue
		}
		var noMore bool
		if noMore, err = git.BringsNoMore(ctx, one, pull.BaseOID); noMore {
			covered = append(covered, one)
		}
	}
	return now, covered, err
}

// verdictBases returns the merge bases of the verdicts and merge approvals on a head, each once.
func (h *reading) verdictBases(ctx context.Context, pull work.PullRequest) (bases []string) {
	by := h.reviewedBy(ctx, pull)
	if by.policy.Off() {
		return nil
	}
	given := by.stored.Verdicts
	for _, v := range h.newsOf(pull.Number).verdicts {
		given = append(given, v.Verdict)
	}
	for _, v := range given {
		if v.Head == pull.HeadOID {
			bases = append(bases, v.MergeBase)
		}
	}
	for _, w := range stored(ctx, h, func(ctx context.Context, tx *store.Tx) ([]merging.MergeApproval, error) {
		return tx.ListMergeApprovals(ctx, pull.ID)
	}) {
		if w.Head == pull.HeadOID {
			bases = append(bases, w.MergeBase)
		}
	}
	slices.Sort(bases)
	return slices.Compact(bases)
}
