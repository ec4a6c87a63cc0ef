package actions

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// reviews is what posting, dismissal and request need from GitHub.
type reviews interface {
	Reviews(ctx context.Context, repo work.RepoName, pull int) ([]github.Review, error)
	CreateReview(ctx context.Context, repo work.RepoName, pull int, n github.NewReview) (github.Review, error)
	EditReview(ctx context.Context, repo work.RepoName, pull int, id int64, body string) (github.Review, error)
	CommentsOfReview(ctx context.Context, repo work.RepoName, pull int, id int64) ([]github.ReviewComment, error)
	DismissReview(ctx context.Context, repo work.RepoName, pull int, id int64, message string) (github.Review, error)
	RequestedReviewers(ctx context.Context, repo work.RepoName, pull int) ([]work.Account, error)
	RequestReviewers(ctx context.Context, repo work.RepoName, pull int, logins ...string) error
}

// The states of a review in the API.
const (
	stateApproved         = "APPROVED"
	stateChangesRequested = "CHANGES_REQUESTED"
	stateCommented        = "COMMENTED"
	statePending          = "PENDING"
)

// posting posts a reviewer's review of a head, with its comments. Target is the reviewer, Head the
// commit, ExtraCopies has the comments on lines. Scope.Event is the review's event.
type posting struct{}

// find looks for the review by its token, or for another review of ours by the same reviewer of the
// same commits. After a loss of the database the cycles may be counted differently, and a reviewer
// reviews them only once.
func (posting) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	all, err := s.GitHub.Reviews(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	var found []posted
	for _, r := range all {
		if r.State != statePending && (isOurs(s, a, r.Body, r.Author) || sameReview(s, a, r)) {
			found = append(found, posted{r.ID, r.URL, r.Body, r.Author, r.SubmittedAt})
		}
	}
	if len(found) == 0 {
		return observation{}, false, nil
	}
	sorted.By(found, func(x, y posted) int { return cmp.Compare(x.id, y.id) })
	seen := observation{id: strconv.FormatInt(found[0].id, 10), url: found[0].url}
	for i, p := range found { // their texts may differ: GitHub may have taken one of them only with its comments in the body
		if i > 0 && i < a.Sends && isOurs(s, a, p.body, p.author) && !p.at.After(lastCopy(a, found[0])) {
			seen.extra = append(seen.extra, p.id)
		}
	}
	return seen, true, nil
}

// sameReview reports whether a review of ours is by the action's reviewer and of the same commits.
func sameReview(s Scope, a work.Action, r github.Review) bool {
	m, ok := work.ParseMarks(r.Body)
	if !ok || !slices.Contains(s.Accounts, r.Author.ID) {
		return false
	}
	v, _, _, ok := review.ParseMark(m.Review)
	own, _ := work.ParseMarks(a.Body)
	planned, _, _, _ := review.ParseMark(own.Review)
	return ok && v.Reviewer == a.Target && v.Head == a.Head && v.MergeBase == planned.MergeBase
}

func (posting) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	if a.Sends > 1 { // a draft review may have blocked it
		if pending, err := s.GitHub.OwnPendingReview(ctx, s.Repo.Current, a.Number); err != nil || pending {
			return observation{}, firstOf(err, waitForDraftReview(a, nil))
		}
	}
	remarks, err := review.DecodeRemarks(a.Extra)
	if err != nil {
		return observation{}, err
	}
	for i, n := range reviewForms(s, a, remarks) {
		var r github.Review
		if r, err = s.GitHub.CreateReview(ctx, s.Repo.Current, a.Number, n); err == nil {
			return observation{id: strconv.FormatInt(r.ID, 10), url: r.URL}, nil
		}
		if i == 0 && github.IsStatus(err, 422) {
			err = explainDraftReview(ctx, s, a, err)
		}
		if _, wait := errors.AsType[*work.WaitError](err); wait || !github.IsStatus(err, 422) {
			break
		}
	}
	return observation{}, explainRefusedReview(ctx, s, a, err)
}

// errOver says that the reviewed commit is no longer part of the pull request.
var errOver = errors.New("the branch was rewritten, and GitHub accepts no review of its former commits")

// explainRefusedReview explains why GitHub refuses a review in every form.
func explainRefusedReview(ctx context.Context, s Scope, a work.Action, refused error) error {
	if !github.IsStatus(refused, 422) || errors.As(refused, new(*work.WaitError)) {
		return refused
	}
	pull, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	if err == nil && ok && pull.HeadOID != a.Head {
		return errOver
	}
	return refused
}

// reviewForms returns the forms in which a review is sent until GitHub accepts one. GitHub refuses
// comments on lines outside the diff, and verdicts on one's own pull request. A refused form
// creates nothing.
func reviewForms(s Scope, a work.Action, remarks review.Remarks) []github.NewReview {
	event := cmp.Or(s.Event, github.ReviewComments)
	full := github.NewReview{CommitOID: a.Head, Event: event, Body: a.Body}
	for _, r := range remarks.OnLines {
		full.Comments = append(full.Comments, github.NewReviewComment{Path: r.Path, Line: r.Line, Body: r.Body})
	}
	plain := github.NewReview{CommitOID: a.Head, Event: event, Body: cmp.Or(remarks.Whole, a.Body)}
	all := []github.NewReview{full, plain}
	if len(full.Comments) == 0 {
		all = all[:1]
	}
	if event == github.ReviewComments {
		return all
	}
	for _, n := range slices.Clone(all) {
		n.Event = github.ReviewComments
		all = append(all, n)
	}
	return all
}

// isDecisive reports whether a review in this state blocks or approves a pull request.
func isDecisive(state string) bool {
	return state == stateApproved || state == stateChangesRequested
}

// noted puts a note above a body. The body's markers stay its last lines.
func noted(body, note string) string { return note + "\n\n" + body }

func hasNote(body, note string) bool {
	return strings.HasPrefix(work.Normalise(body), work.Normalise(note)+"\n")
}
