package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// place is a machine with a config of two repositories; it has no state yet.
type place struct {
	config, state string
	now           time.Time
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "GH_CONFIG_DIR"} {
		t.Setenv(name, filepath.Join(dir, strings.ToLower(name)))
	}
	t.Setenv("GH_HOST", "github.com")
	p := place{filepath.Join(dir, "config.toml"), filepath.Join(dir, "state"), time.Now().UTC().Truncate(time.Second)}
	text := fmt.Sprintf(`
[runtime]
agent = "mine"
state_dir = %q
[agents.mine]
adapter = "command"
command = ["/bin/true"]
[[repo]]
name = "octo/app"
[[repo]]
name = "octo/lib"
`, p.state)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// fill makes a state: a pull request that waits for people, with an answered
// comment, and a repository that cannot be reached.
func (p place) fill(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	db := testdb.Open(t, filepath.Join(p.state, "state.db"), func() time.Time { return p.now })
	defer db.Close()
	err := db.Update(ctx, func(tx *store.Tx) error {
		lib, err := testdb.Repo(ctx, tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "lib"})
		if err != nil {
			return err
		}
		if err := tx.DeferRepo(ctx, lib.ID, p.now.Add(time.Hour), "HTTP 404 from repos/octo/lib", true); err != nil {
			return err
		}
		app, err := testdb.Repo(ctx, tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		if err != nil {
			return err
		}
		return p.fillItem(t, tx, app)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p place) fillItem(t *testing.T, tx *store.Tx, app work.Repo) error {
	ctx := t.Context()
	item, err := tx.AddItem(ctx, work.Item{
		RepoID: app.ID, Number: 12, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback, Since: p.now.Add(-2 * time.Hour),
		Title: "Crash on start", URL: "https://github.com/octo/app/issues/12", Priority: 3, Branch: "agent/bugfix/12-crash",
	})
	if err != nil {
		return err
	}
	_, err = tx.PutPull(ctx, work.PullRequest{
		RepoID: app.ID, ItemID: item, Number: 13, NodeID: "PR_13", State: work.PullOpen,
		URL: "https://github.com/octo/app/pull/13", Mergeable: "MERGEABLE",
	})
	if err != nil {
		return err
	}
	key := work.EventKey(13, work.EventIssue, "77", "0123456789abcdef")
	turn, err := tx.AddTurn(ctx, work.Turn{
		Sandbox: work.SandboxNone,
		RepoID:  app.ID, ItemID: item, Number: 13, Kind: work.KindImplementationFeedback, Step: work.StepClaimed,
		Key: strings.Repeat("ab", 32), Reason: "a comment by ann", EventKeys: []string{key}, ClaimedAt: p.now,
	})
	if err != nil {
		return err
	}
	_, err = tx.AddEvent(ctx, work.Event{
		RepoID: app.ID, ItemID: item, Key: key, Number: 13, Kind: work.EventIssue, Source: "77", Author: work.Account{ID: 5, Login: "ann"},
		Body: "Please rename it.\nThanks", URL: "https://github.com/octo/app/pull/13#issuecomment-77", CreatedAt: p.now,
	})
	if err != nil {
		return err
	}
	if err := tx.EndTurn(ctx, turn, work.StepClaimed, work.StepFailed, "exit 3", p.now); err != nil {
		return err
	}
	_, err = tx.AddAction(ctx, work.Action{
		RepoID: app.ID, ItemID: item, TurnID: turn, Kind: work.ActionComment, Need: work.NeedRequired, State: work.ActionPlanned,
		Token: strings.Repeat("cd", 32), Number: 13, Why: "answers ann", PlannedAt: p.now,
	})
	return err
}

func TestStatus(t *testing.T) {
	p := newPlace(t)
	code, stdout, stderr := run(t, "status", "--config", p.config)
	if code != 0 || stdout != "" || !strings.Contains(stderr, "no pass has run yet") || !strings.Contains(stderr, "gh mergexo --config "+p.config+" tick") {
		t.Errorf("no state: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if _, err := os.Stat(p.state); !os.IsNotExist(err) {
		t.Errorf("status made the state folder: %v", err)
	}
	code, stdout, _ = run(t, "status", "--config", p.config, "--json", "items,repositories", "--jq", ".items, (.repositories|map(.name))")
	if code != 0 || stdout != "[]\n[\"octo/app\",\"octo/lib\"]\n" {
		t.Errorf("no state, JSON: code %d, stdout %q", code, stdout)
	}

	p.fill(t)
	code, stdout, stderr = run(t, "status", "--config", p.config)
	since := p.now.Add(-2 * time.Hour).Format(time.RFC3339)
	want := "octo/app#12\tawaiting_feedback\t" + since +
		"\ta pass: 1 event to answer\ta turn answers on GitHub\tbugfix\thttps://github.com/octo/app/pull/13\tCrash on start\t0 of 30 turns\t\n"
	if code != 0 || stdout != want {
		t.Errorf("code %d, stdout %q, want %q", code, stdout, want)
	}
	if !strings.HasPrefix(stderr, "octo/lib: HTTP 404 from repos/octo/lib (asked again after ") {
		t.Errorf("the broken repository is not seen: %q", stderr)
	}
	for query, want := range map[string]string{
		`.items[] | [.number, .state, .waitingFor, .pullRequest.number] | @csv`: "12,\"awaiting_feedback\",\"a pass: 1 event to answer\",13\n",
		`.repositories[] | select(.error != "") | .name`:                        "octo/lib\n",
	} {
		if _, stdout, _ := run(t, "status", "--config", p.config, "--json", "items,repositories", "--jq", query); stdout != want {
			t.Errorf("%s: %q, want %q", query, stdout, want)
		}
	}
	if _, stdout, _ := run(t, "status", "--config", p.config, "-R", "octo/lib"); stdout != "" {
		t.Errorf("-R octo/lib: %q", stdout)
	}
	if code, _, stderr := run(t, "status", "--config", p.config, "-R", "octo/nope"); code != 1 || !strings.Contains(stderr, "known: octo/app, octo/lib") {
		t.Errorf("-R octo/nope: code %d, %q", code, stderr)
	}
}

func TestShow(t *testing.T) {
	p := newPlace(t)
	if code, _, stderr := run(t, "show", "octo/app#12", "--config", p.config); code != 1 || !strings.Contains(stderr, "no work item is octo/app#12") {
		t.Errorf("no state: code %d, %q", code, stderr)
	}
	p.fill(t)
	now := p.now.Format(time.RFC3339)
	for _, name := range []string{"octo/app#12", "octo/app#13", "https://github.com/octo/app/pull/13"} {
		code, stdout, stderr := run(t, "show", name, "--config", p.config)
		if code != 0 || stderr != "" {
			t.Fatalf("%s: code %d, %q", name, code, stderr)
		}
		for _, line := range []string{
			"item:\tocto/app#12", "title:\tCrash on start", "state:\tawaiting_feedback", "waiting for:\ta pass: 1 event to answer",
			"pull request:\thttps://github.com/octo/app/pull/13",
			"event\t" + now + "\tissue\tann\tpending\tPlease rename it.\thttps://github.com/octo/app/pull/13#issuecomment-77",
			"turn\t" + now + "\timplementation_feedback\tfailed\t0 runs\ta comment by ann\texit 3\t" + strings.Repeat("ab", 32) + "\tnone",
			"action\t" + now + "\tcomment\tplanned\tanswers ann\t\t",
		} {
			if !strings.Contains(stdout, line+"\n") {
				t.Errorf("%s: no line %q in:\n%s", name, line, stdout)
			}
		}
	}
	_, stdout, _ := run(t, "show", "octo/app#12", "--config", p.config, "--json", "item,turns,events,actions,history", "--jq",
		`[.item.number, .turns[0].step, .events[0].author, .actions[0].state, (.history|type)] | @csv`)
	if want := `12,"failed","ann","planned","array"` + "\n"; stdout != want {
		t.Errorf("JSON: %q, want %q", stdout, want)
	}
	for name, want := range map[string]string{
		"octo/app#99": "no work item is octo/app#99",
		"12":          "2 repositories are configured, so #12 is ambiguous",
		"octo/x#12":   "repository github.com/octo/x is not in the config",
	} {
		if code, _, stderr := run(t, "show", name, "--config", p.config); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, %q, want %q", name, code, stderr, want)
		}
	}
}
