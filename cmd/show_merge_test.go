package cmd

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// approved is a place whose pull request everybody has approved, and GitHub says of it what
// the box has.
func approved(t *testing.T, box merging.Box, more func(tx *store.Tx, item, pull int64) error) place {
	t.Helper()
	state := review.Record{State: review.Approved, Head: head, Cycle: 1, Why: work.Reason{Kind: work.WhyReviewApproved, Number: 13}}
	p := reviewed(t, state, func(tx *store.Tx, item, pull int64) error {
		ctx := t.Context()
		_, _, err := tx.AddVerdict(ctx, review.Verdict{PullID: pull, ReviewID: 403, Reviewer: "sam", Head: head, Cycle: 1, Decision: review.Approve, At: p0})
		if err == nil {
			err = tx.PutBox(ctx, pull, box)
		}
		if err == nil && more != nil {
			err = more(tx, item, pull)
		}
		return err
	})
	text, err := os.ReadFile(p.config)
	if err == nil {
		before, after, _ := strings.Cut(string(text), reviewConfig)
		err = os.WriteFile(p.config, []byte(before+`
[repo.review]
auto_merge = true
merge_method = "rebase"
[[repo.reviewers]]
name = "quinn"
`+after), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func openBox() merging.Box {
	return merging.Box{
		At: p0, State: work.PullOpen, Head: head, Base: "main", Mergeable: "MERGEABLE", Status: "CLEAN", Change: merging.Change{Paths: []string{"a.go"}}, ChecksKnown: true, Methods: merging.Methods(), Permission: "WRITE",
		Rules: merging.Rules{Known: true},
	}
}

func TestShowAndStatusOfAMergeThatIsDue(t *testing.T) {
	p := approved(t, openBox(), nil)
	_, stdout, stderr := run(t, "show", "octo/app#12", "--config", p.config)
	has(t, stdout, "waiting for:\ta pass merges it\n", "next:\tall gates are open\n", "merge:\tthe next pass merges it into main (rebase)\n", "gate\tdraft\topen\t\t\n", "gate\tunread\topen\t\t\n")
	if strings.Contains(stdout, "people on") || stderr != "" {
		t.Errorf("%q\n%s", stderr, stdout)
	}
	const query = `.merge|[([.gates[].open]|all),.ask,.method,.due,.first,.queue,.merged]|tojson`
	if _, stdout, _ := run(t, "show", "octo/app#13", "--json", "merge", "--jq", query, "--config", p.config); stdout != `[true,"merge","rebase",true,0,null,null]`+"\n" {
		t.Errorf("JSON: %q", stdout)
	}
	const items = `.items[]|[.waitingFor,.reasonCode,.nextStep,.review.state]|tojson`
	if _, stdout, _ := run(t, "status", "--json", "items", "--jq", items, "--config", p.config); stdout != `["a pass merges it","merge_due","all gates are open","approved"]`+"\n" {
		t.Errorf("status: %q", stdout)
	}
}

func TestShowAndStatusOfAMergeThatWaits(t *testing.T) {
	box := openBox()
	box.Checks, box.Freeze = []merging.Check{{Name: "unit", State: merging.Red, Required: true}}, 40
	p := approved(t, box, nil)
	_, stdout, _ := run(t, "show", "octo/app#12", "--config", p.config)
	has(t, stdout, "waiting for:\tnothing is merged while issue octo/app#40 is open (label `agent:freeze`)\n", "merge:\twaits at 2 gates\n",
		"gate\tchecks\tclosed\tthe check unit failed\tit is merged once they are green\n",
		"gate\tfreeze\tclosed\tnothing is merged while issue octo/app#40 is open (label `agent:freeze`)\tclose that issue, or remove its label\n")
	const query = `[.merge.gates[]|select(.open|not)|[.code,.stop,.reasonCode,.reason[:9],.opens[:5]]]|tojson`
	want := `[["checks",false,"merge_checks_failed","the check","it is"],["freeze",false,"merge_frozen","nothing i","close"]]` + "\n"
	if _, stdout, _ := run(t, "show", "octo/app#12", "--json", "merge", "--jq", query, "--config", p.config); stdout != want {
		t.Errorf("JSON: %q", stdout)
	}
	if _, stdout, _ := run(t, "status", "--json", "items", "--jq", ".items[].reasonCode", "--config", p.config); stdout != "merge_frozen\n" {
		t.Errorf("status: %q", stdout)
	}
}

// What a pass merged is told from its row, after everything else about it is over.
func TestShowOfAMergeThatLanded(t *testing.T) {
	landed := strings.Repeat("d", 40)
	p := approved(t, openBox(), func(tx *store.Tx, item, pull int64) error {
		ctx := t.Context()
		row, err := tx.GetItem(ctx, item)
		if err != nil {
			return err
		}
		m := merging.Merge{RepoID: row.RepoID, PullID: pull, ItemID: item, Number: 13, Head: head, Base: "main", BaseOID: before, Method: merging.Rebase, Stage: merging.Intended, At: p0}
		if m.ID, err = tx.PutMerge(ctx, m); err != nil {
			return err
		}
		m.Commit, m.Parent, m.Landed, m.LandedAt = landed, before, "tree", p0.Add(time.Minute)
		if _, err := tx.LandMerge(ctx, m, work.Reason{Kind: work.WhyMergeDiffers}); err != nil {
			return err
		}
		_, err = tx.PutPull(ctx, work.PullRequest{RepoID: row.RepoID, ItemID: item, Number: 13, NodeID: "PR_13", State: work.PullMerged, HeadOID: head, Base: "main", URL: "https://github.com/octo/app/pull/13"})
		return err
	})
	_, stdout, _ := run(t, "show", "octo/app#12", "--config", p.config)
	has(t, stdout, "merged:\trebase as dddddddddddd into main, 2026-11-22T12:01:00Z\n", "what landed:\tcompared: the same as what was approved as cccccccccccc\n")
	if strings.Contains(stdout, "gate\t") || strings.Contains(stdout, "merge:\t") {
		t.Errorf("it is to be merged still:\n%s", stdout)
	}
	const query = `.merge|[.gates,.merged.stage,.merged.commit,.merged.same,.merged.landedAt]|tojson`
	if _, stdout, _ := run(t, "show", "octo/app#12", "--json", "merge", "--jq", query, "--config", p.config); stdout != `[[],"landed","`+landed+`",true,"2026-11-22T12:01:00Z"]`+"\n" {
		t.Errorf("JSON: %q", stdout)
	}
}
