package plan

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// answered returns the text of a plan's answer without the command that it quotes.
func answered(p Plan) string {
	for _, a := range Of[change.Notice](p) {
		if a.Kind == work.ActionComment {
			_, said, _ := strings.Cut(a.Body, ":** ")
			if said == "" {
				_, said, _ = strings.Cut(a.Body, ": ")
			}
			said, _, _ = strings.Cut(said, "\n")
			return said
		}
	}
	return ""
}

func TestCommandsAboutReviews(t *testing.T) {
	grace := work.Account{ID: 9, Login: "Grace"}
	by := func(who work.Account, body string) func(*known.Snapshot) {
		e := commanded(body, 2, "66")
		e.Author = who
		return with(e)
	}
	held := func(v *known.Snapshot) { v.Items[0].HeldBack = &review.Held{By: "bob", At: noon} }
	gate := func(v *known.Snapshot) { v.Items[0].Reviewers.RequireHuman = true }
	asked := func(v *known.Snapshot) { v.Items[0].Reviews.Requested = []string{"grace"} }
	for _, c := range []struct {
		name      string
		view      known.Snapshot
		does, say string
	}{
		{"a reviewer approves", scene(reviewedBy("grace"), stored(review.Reviewing, "grace"), asked, by(grace, "/mergexo approve --head aaa0000")), "reviewing(grace); waits: review_person; looked", "The head of `agent/bugfix/1-x` is aaa, not that commit"},
		{"of this head", scene(reviewedBy("grace"), stored(review.Reviewing, "grace"), by(grace, "/mergexo approve")), "approved(); status success; waits: approved; looked", "Grace approves aaa, the head of `agent/bugfix/1-x` now. It is `awaiting_feedback` and waits for: a pass: every reviewer has approved it."},
		{"somebody else approves", scene(reviewedBy("grace"), stored(review.Reviewing, "grace"), asked, by(ann, "/mergexo approve")), "reviewing(grace); waits: review_person; looked", "Approval not counted: ann is not a reviewer of this pull request. Its reviewers are grace."},
		{"and an old head", scene(reviewedBy("grace"), stored(review.Reviewing, "grace"), asked, by(ann, "/mergexo approve --head bbb0000")), "reviewing(grace); waits: review_person; looked", "Approval not counted: ann is not a reviewer of this pull request. Its reviewers are grace. To have others, name them in `[[repo.reviewers]]` of the config; or merge the pull request yourself."},
		{"who took her name approves", scene(reviewedBy("grace"), stored(review.Reviewing, "grace"), asked, by(work.Account{ID: 99, Login: "grace"}, "/mergexo approve")), "reviewing(grace); waits: review_person; looked", "Approval not counted: the login grace of the config means another account, the first one that was seen with it. To accept this account, write `login = \"grace:99\"` in the config."},
		{"a person beside the agents", scene(reviewedBy("quinn"), gate, verdict("quinn", "aaa", review.Approve), stored(review.Checking, "quinn"), by(ann, "/mergexo approve")), "approved(); status success; waits: approved; looked", "ann approves aaa"},
		{"but not the author", scene(reviewedBy("quinn"), gate, verdict("quinn", "aaa", review.Approve), stored(review.Checking, "quinn"), by(work.Account{ID: 1, Login: "op"}, "/mergexo approve")), "checking_approval(); status pending; waits: review_person; looked", "Approval not counted: op is the author of this pull request"},
		{"nobody reviews", scene(by(ann, "/mergexo approve")), "", "No reviewer is configured for this pull request"},
		{"hold", scene(reviewedBy("quinn"), by(ann, "/mergexo hold")), "pending(quinn); labels agent:hold; status pending; waits: review_held; looked", "On hold: no reviews and no review fixes of this pull request"},
		{"hold of what is in the merge queue", scene(landable, box(func(b *merging.Box) { b.Queue = merging.Queue{Required: true, In: true} }), by(ann, "/mergexo hold")), "labels ; waits: merge_queued; looked", "On hold: no reviews and no review fixes of this pull request, and gh mergexo does not merge it. **It is in the merge queue, and not by gh mergexo"},
		{"hold of what we queued", scene(landable, ours, by(ann, "/mergexo hold")), "labels ; looked", "On hold: no reviews and no review fixes of this pull request, and it is not merged: it leaves the merge queue"},
		{"hold again", scene(reviewedBy("quinn"), held, by(ann, "/mergexo hold")), "pending(quinn); labels agent:hold; status pending; waits: review_held; looked", "It stays on hold by bob since"},
		{"resume ends it", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), held, by(ann, "/mergexo resume")), "reviewing(quinn); turn review quinn quinn.0.0+0; labels ,agent:hold", "It is no longer on hold. It is `awaiting_feedback` and waits for"},
		{"retry ends it", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), held, by(ann, "/mergexo retry")), "reviewing(quinn); turn review quinn quinn.0.0+0; labels ,agent:hold", "It is no longer on hold."},
		{"retry after the cap", scene(reviewedBy("quinn"), stored(review.HumanReview, "quinn"), verdict("quinn", "aaa", review.RequestChanges), by(ann, "/mergexo retry")), "fixing(quinn) logs work_rejected; turn fix quinn 4000.1.0+0; resumed → awaiting_feedback; status pending; labels ,agent:human-review", "The reviews start again."},
		{"retry of what failed in the last pass", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), due(0, 0), failsForGood, by(ann, "/mergexo retry")), "error(quinn); reviewing(quinn); turn review quinn quinn.1.0+0; finish stale: the reviews moved on; status pending", "The reviews start again."},
		{"retry of what the next plan stops", scene(reviewedBy("quinn"), stored(review.Reviewing, "quinn"), verdict("quinn", "aaa", review.Approve), func(v *known.Snapshot) { v.Items[0].Reviews.Verdicts[0].Validity = review.TakenBack }, by(ann, "/mergexo retry")), "human_review_required(quinn); stopped → blocked; status pending; labels agent:human-review; waits: review_taken_back; looked", "The review of \"quinn\" of PR #2 was dismissed, and no reviewer reviews the same commit twice, so the reviews stay stopped: push a commit"},
		{"retry of what was taken back", scene(reviewedBy("quinn"), stored(review.HumanReview, "quinn"), verdict("quinn", "aaa", review.Approve), func(v *known.Snapshot) { v.Items[0].Reviews.Verdicts[0].Validity = review.TakenBack }, by(ann, "/mergexo retry")), "waits: review_cycles_exceeded; looked", "The review of \"quinn\" of PR #2 was dismissed, and no reviewer reviews the same commit twice, so the reviews stay stopped: push a commit"},
	} {
		p := For(c.view)
		if got := tells(p); got != c.does {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.does)
		}
		if got := answered(p); !strings.HasPrefix(got, c.say) {
			t.Errorf("%s: the answer is %q, not %q", c.name, got, c.say)
		}
	}
}

// After losing the database, an approval by a command is read from its answer.
func TestTheAnswerRemembersAnApproval(t *testing.T) {
	e := commanded("/mergexo approve", 2, "66")
	e.Author = work.Account{ID: 9, Login: "grace"}
	p := For(scene(reviewedBy("grace"), stored(review.Reviewing, "grace"), with(e)))
	m, _ := work.ParseMarks(Of[change.Notice](p)[len(Of[change.Notice](p))-2].Body)
	v, _, _, ok := review.ParseMark(m.Review)
	if !ok || v.Reviewer != "grace" || v.Head != "aaa" || v.Decision != review.Approve {
		t.Errorf("%+v in %+v", v, Of[change.Notice](p))
	}
	if len(Of[change.Verdict](p)) != 1 || Of[change.Verdict](p)[0].CommentID != 66 || !Of[change.Verdict](p)[0].Human {
		t.Errorf("stored: %+v", Of[change.Verdict](p))
	}
}
