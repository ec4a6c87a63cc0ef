package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

const reviewConfig = `
[repo.review]
enabled = true
[[repo.reviewers]]
name = "quinn"
[[repo.reviewers]]
name = "ann"
type = "human"
login = "ann-example"
`

var before, head = strings.Repeat("b", 40), strings.Repeat("c", 40)

// reviewed is a place whose pull request quinn has asked to change, looked at again and
// approved, calling in sam, whose turn it is.
func reviewed(t *testing.T, state review.Record, change func(tx *store.Tx, item, pull int64) error) place {
	t.Helper()
	p := newPlace(t)
	text, err := os.ReadFile(p.config)
	if err == nil {
		before, after, _ := strings.Cut(string(text), "[[repo]]\nname = \"octo/lib\"")
		err = os.WriteFile(p.config, []byte(before+reviewConfig+"[[repo]]\nname = \"octo/lib\""+after), 0o600)
	}
	if err == nil {
		err = os.MkdirAll(p.state, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	db := testdb.Open(t, filepath.Join(p.state, "state.db"), func() time.Time { return p.now })
	defer db.Close()
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		item, pull, err := p.addPull(t, tx)
		if err == nil {
			state.PullID = pull
			err = p.addReviews(t, tx, state)
		}
		if err == nil && change != nil {
			err = change(tx, item, pull)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p place) addPull(t *testing.T, tx *store.Tx) (item, pull int64, err error) {
	t.Helper()
	ctx := t.Context()
	app, err := tx.EnsureRepo(ctx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
	if err != nil {
		return 0, 0, err
	}
	item, err = tx.AddItem(ctx, work.Item{
		RepoID: app.ID, Number: 12, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback, Since: p.now, Title: "Crash", Priority: 3, Branch: "agent/bugfix/12-crash",
	})
	if err != nil {
		return 0, 0, err
	}
	pull, err = tx.PutPull(ctx, work.PullRequest{
		RepoID: app.ID, ItemID: item, Number: 13, NodeID: "PR_13", State: work.PullOpen, HeadOID: head, Base: "main",
		URL: "https://github.com/octo/app/pull/13", Mergeable: "MERGEABLE",
	})
	return item, pull, err
}

func (p place) addReviews(t *testing.T, tx *store.Tx, state review.Record) error {
	t.Helper()
	ctx, pull := t.Context(), state.PullID
	first, _, err := tx.AddVerdict(ctx, review.Verdict{
		PullID: pull, ReviewID: 401, Reviewer: "quinn", Head: before, Decision: review.RequestChanges, Highest: review.Major, Count: 3,
		URL: "https://github.com/octo/app/pull/13#pullrequestreview-401", At: p.now.Add(-3 * time.Hour),
	})
	if err != nil {
		return err
	}
	second, _, err := tx.AddVerdict(ctx, review.Verdict{
		PullID: pull, ReviewID: 402, Reviewer: "quinn", Head: head, Cycle: 1, Decision: review.Approve, CalledIn: []string{"sam"},
		URL: "https://github.com/octo/app/pull/13#pullrequestreview-402", At: p.now.Add(-time.Hour),
	})
	if err != nil {
		return err
	}
	finding := func(id, path string, s review.Severity, comment int64) review.Finding {
		return review.Finding{ID: id, PullID: pull, VerdictID: first, Reviewer: "quinn", Head: before, Path: path, Line: 7, Severity: s, CommentID: comment, Body: "It leaks.\nSee above."}
	}
	err = tx.PutFindings(ctx, []review.Finding{finding("f1", "nit.go", review.Nit, 0), finding("f2", "done.go", review.Major, 501), finding("f3", "minor.go", review.Minor, 502)})
	if err != nil {
		return err
	}
	if err := tx.ResolveFindings(ctx, pull, second, []string{"f2"}); err != nil {
		return err
	}
	if err := tx.PutFix(ctx, review.Fix{PullID: pull, Reviewer: "quinn", ReviewID: 401, Head: before, Commit: head, Outcome: review.FixPushed}); err != nil {
		return err
	}
	if _, err := tx.AddInsertion(ctx, review.Insertion{PullID: pull, Name: "sam", By: "quinn"}); err != nil {
		return err
	}
	return tx.PutReviewState(ctx, review.Record{PullID: pull}, state)
}

func samIsNext() review.Record {
	return review.Record{State: review.Reviewing, Head: head, Reviewer: "sam", Cycle: 1, Why: work.Reason{Kind: work.WhyReviewDue, Name: "sam"}}
}

func TestShowDrawsTheReviews(t *testing.T) {
	p := reviewed(t, samIsNext(), nil)
	code, stdout, stderr := run(t, "show", "octo/app#12", "--config", p.config)
	if code != 0 {
		t.Fatalf("code %d, %q", code, stderr)
	}
	at := p.now.Add(-time.Hour).Format(time.RFC3339)
	has(t, stdout,
		"waiting for:\ta pass: reviewer \"sam\" looks at it next\n",
		"review:\treviewing, sam; 1 of 2 fix cycles\n",
		"reviewers:\tquinn ✓ → [sam] → ann\n",
		"reviewer\tquinn\tagent\tapproves\tcccccccccccc\t"+at+"\t\thttps://github.com/octo/app/pull/13#pullrequestreview-402\n",
		"reviewer\tsam\tagent\tis next\t\t\tquinn\t\n",
		"reviewer\tann\thuman\tnot asked yet\t\t\t\t\n",
		"finding\tminor\tminor.go:7\tquinn\tIt leaks.\thttps://github.com/octo/app/pull/13#discussion_r502\n"+
			"finding\tnit\tnit.go:7\tquinn\tIt leaks.\thttps://github.com/octo/app/pull/13#pullrequestreview-401\n")
	for _, no := range []string{"done.go", "review next:", "review waits for:", "review trouble:", "review held by:"} {
		if strings.Contains(stdout, no) {
			t.Errorf("%q stands in\n%s", no, stdout)
		}
	}
}

func TestReviewsAsJSON(t *testing.T) {
	p := reviewed(t, samIsNext(), nil)
	for query, want := range map[string]string{
		`.review|keys|join(" ")`: "currentReviewer findings fixCycle humanReviewRequired lastError maxFixCycles mergeType outcomes retries reviewers state",
		`.review|[.state,.currentReviewer,.fixCycle,.maxFixCycles]|@csv`:     `"reviewing","sam",1,2`,
		`.review|[.humanReviewRequired,.mergeType,.retries,.lastError]|@csv`: `false,"",0,""`,
		`[.review.reviewers[]|[.name,.type,.decision,.head,.counts,.current,.calledInBy]|join(",")]|join(" ")`: "quinn,agent,approve," + head + ",true,false, " +
			"sam,agent,,,false,true,quinn ann,human,,,false,false,",
		`[.review.outcomes[]|[.reviewer,.decision,.findings,.highestSeverity,(.escalations|join("+")),.head[:1],.cycle,.url[-3:]]|join(",")]|join(" ")`: "quinn,request_changes,3,major,,b,0,401 " +
			"quinn,approve,0,,sam,c,1,402",
		`.review.reviewers[0]|keys|join(" ")`: "calledInBy counts current decision head name type",
		`.review.outcomes[0]|keys|join(" ")`:  "at cycle decision escalations findings head highestSeverity reviewer url",
		`[.review.outcomes[].at]|join(" ")`:   p.now.Add(-3*time.Hour).Format(time.RFC3339) + " " + p.now.Add(-time.Hour).Format(time.RFC3339),
	} {
		if code, stdout, stderr := run(t, "show", "octo/app#13", "--config", p.config, "--json", "review", "--jq", query); code != 0 || stdout != want+"\n" {
			t.Errorf("%s: %q %s\nwant %q", query, stdout, stderr, want)
		}
	}
	const query = `.items[].review|[.state,.currentReviewer,.fixCycle,.humanReviewRequired]|@csv`
	if _, stdout, _ := run(t, "status", "--config", p.config, "--json", "items", "--jq", query); stdout != `"reviewing","sam",1,false`+"\n" {
		t.Errorf("status: %q", stdout)
	}
	plain := newPlace(t)
	plain.fill(t)
	if _, stdout, _ := run(t, "show", "octo/app#12", "--config", plain.config, "--json", "review,log"); stdout != `{"log":[],"review":null}`+"\n" {
		t.Errorf("without reviews: %q", stdout)
	}
	if _, stdout, _ := run(t, "show", "octo/app#12", "--config", plain.config); strings.Contains(stdout, "review") {
		t.Errorf("without reviews:\n%s", stdout)
	}
}

// Where the reviews have stopped, or another state follows from what is stored, show
// says so.
func TestShowSaysWhyReviewsStopped(t *testing.T) {
	stopped := samIsNext()
	stopped.State, stopped.Reviewer, stopped.Why = review.HumanReview, "quinn", work.Reason{Kind: work.WhyReviewCycles, Number: 13, Count: 2}
	p := reviewed(t, stopped, func(tx *store.Tx, item, _ int64) error {
		return tx.MoveItem(t.Context(), item, nil, work.StateBlocked, stopped.Why, "", p0)
	})
	_, stdout, _ := run(t, "show", "octo/app#12", "--config", p.config)
	has(t, stdout,
		"waiting for:\ta person: PR #13 exceeded max fix cycles (2) — requires human review\n",
		"review:\thuman_review_required, quinn; 1 of 2 fix cycles\n",
		"reviewers:\t[quinn ✓] → sam → ann\n")
	if _, stdout, _ := run(t, "show", "octo/app#12", "--config", p.config, "--json", "review", "--jq", ".review.humanReviewRequired"); stdout != "true\n" {
		t.Errorf("JSON: %q", stdout)
	}

	p = reviewed(t, samIsNext(), func(tx *store.Tx, _, pull int64) error {
		_, _, err := tx.AddVerdict(t.Context(), review.Verdict{PullID: pull, ReviewID: 403, Reviewer: "sam", Head: head, Cycle: 1, Decision: review.RequestChanges})
		return err
	})
	_, stdout, _ = run(t, "show", "octo/app#12", "--config", p.config)
	has(t, stdout, "review next:\tthe next pass: fixing, sam\n", "reviewers:\tquinn ✓ → [sam ✗] → ann\n", "reviewer\tsam\tagent\trequests changes\t")
}

var p0 = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestTheLogOfReviews(t *testing.T) {
	p := reviewed(t, samIsNext(), func(tx *store.Tx, item, _ int64) error {
		ctx := t.Context()
		app, err := tx.GetItem(ctx, item)
		if err != nil {
			return err
		}
		for i, e := range []store.ReviewLog{
			{Key: "b", What: "work_rejected", Data: `{"reviewer":"quinn","severity":"major","findings":3,"escalate":["sam","ann"],"none":null,"url":"x","head":"` + head + `"}`},
			{Key: "a", What: "code_review_created", Data: `{}`},
			{Key: "b", What: "work_rejected", Data: `{"twice":true}`},
		} {
			e.RepoID, e.ItemID, e.Number, e.At = app.RepoID, item, 13, p0.Add(-time.Duration(i)*time.Minute)
			if _, err := tx.AddReviewLog(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	_, stdout, _ := run(t, "show", "octo/app#12", "--events", "--config", p.config)
	if want := "2026-11-22T11:59:00Z\t#13\tcode_review_created\t\n" +
		"2026-11-22T12:00:00Z\t#13\twork_rejected\treviewer quinn, findings 3, severity major, escalate sam ann, head cccccccccccc, url x\n"; stdout != want {
		t.Errorf("%q, want %q", stdout, want)
	}
	const query = `[.log[]|[.at,.what,.number,.key,.data.findings]|join(",")]|join(" ")`
	_, stdout, _ = run(t, "show", "octo/app#12", "--json", "log", "--jq", query, "--config", p.config)
	if want := "2026-11-22T11:59:00Z,code_review_created,13,a, 2026-11-22T12:00:00Z,work_rejected,13,b,3\n"; stdout != want {
		t.Errorf("%q, want %q", stdout, want)
	}
}
