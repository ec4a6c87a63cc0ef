package githubsim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gh runs the real gh against the hub, by a unix socket in its configuration.
func (w *world) gh(args ...string) string {
	w.t.Helper()
	bin, err := exec.LookPath("gh")
	if err != nil {
		w.t.Skip("gh is not installed")
	}
	dir := w.t.TempDir()
	socket := shortSocket(w.t)
	w.must(w.hub.ServeUnix(socket))
	w.must(os.WriteFile(filepath.Join(dir, "config.yml"), []byte("http_unix_socket: "+socket+"\n"), 0o600))
	cmd := exec.CommandContext(w.t.Context(), bin, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GH_CONFIG_DIR=" + dir, "GH_NO_UPDATE_NOTIFIER=1", "GH_PROMPT_DISABLED=1",
		"GH_HOST=github.localhost", "GH_REPO=acme/app", "GH_TOKEN=" + w.tokens["me"],
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Errorf("gh %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// What gh's own commands ask for is served.
func TestRealGhReads(t *testing.T) {
	w := newWorld(t)
	issue, err := w.repo.OpenIssue("ann", "The issue", "its body", "bug")
	w.must(err)
	_, err = w.repo.Comment(issue, "eve", "a remark")
	w.must(err)
	n := w.pull("topic", "ann")
	_, err = w.repo.Review(n, "tom", "APPROVE", "well done")
	w.must(err)
	_, err = w.repo.SetCheck("topic", "build", "completed", "failure")
	w.must(err)
	w.must(w.repo.SetStatus("topic", "ci", "success", "fine"))
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"pr view 2", []string{"Change topic", "OPEN", "tom (Approved)"}},
		{"pr view topic --comments", []string{"well done"}},
		{"pr list", []string{"Change topic", "topic", "OPEN"}},
		{"pr list --head topic --state all", []string{"Change topic"}},
		{"pr list --author ann --label none", []string{}},
		{"pr checks 2 --json name", nil},
		{"issue view 1", []string{"The issue", "bug", "its body"}},
		{"issue view 1 --comments", []string{"a remark"}},
		{"issue list", []string{"The issue", "bug"}},
		{"issue list --label bug", []string{"The issue"}},
		{"issue list --author tom", []string{}},
		{"label list", []string{"bug"}},
		{"pr view 2 --json additions,assignees,author,baseRefName,body,changedFiles,closed,closedAt,comments,commits,createdAt,deletions,files,headRefName,headRefOid,headRepository,headRepositoryOwner,id,isCrossRepository,isDraft,labels,latestReviews,maintainerCanModify,mergeCommit,mergeStateStatus,mergeable,mergedAt,mergedBy,milestone,number,potentialMergeCommit,projectCards,reactionGroups,reviewDecision,reviewRequests,reviews,state,statusCheckRollup,title,updatedAt,url", []string{
			`"additions":1`, `"mergeable":"MERGEABLE"`, `"mergeStateStatus":"UNSTABLE"`, `"conclusion":"FAILURE"`, `"path":"src/a.txt"`, `"messageHeadline":"Change topic"`,
		}},
		{"issue view 1 --json assignees,author,body,closed,closedAt,comments,createdAt,id,labels,milestone,number,projectCards,reactionGroups,state,title,updatedAt,url", []string{`"title":"The issue"`, `"body":"a remark"`}},
		{"api user", []string{`"login":"me"`}},
		{"api repos/{owner}/{repo}/pulls/2", []string{`"mergeable":true`}},
	} {
		if tt.want == nil {
			continue // not in this version of gh
		}
		t.Run(tt.args, func(t *testing.T) {
			v := *w
			v.t = t
			out := v.gh(strings.Fields(tt.args)...)
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in %s", want, out)
				}
			}
			if len(tt.want) == 0 && strings.Contains(out, "issue") && !strings.Contains(out, "no ") {
				t.Errorf("found %s", out)
			}
		})
	}
}

// What a person does with gh while the demo runs.
func TestRealGhWrites(t *testing.T) {
	w := newWorld(t)
	issue, err := w.repo.OpenIssue("me", "The issue", "its body")
	w.must(err)
	_, err = w.repo.OpenIssue("me", "Labelled before", "", "agent:bugfix")
	w.must(err)
	n := w.pull("topic", "ann")
	w.gh("issue", "comment", "1", "--body", "said by gh")
	w.gh("pr", "comment", "3", "--body", "said by gh, too")
	w.gh("pr", "review", "3", "--approve", "--body", "fine")
	w.gh("issue", "edit", "1", "--add-label", "agent:bugfix")
	w.gh("issue", "close", "1")
	w.gh("issue", "reopen", "1")
	w.gh("pr", "close", "3")
	w.gh("pr", "reopen", "3")
	w.gh("pr", "merge", "3", "--squash")
	is, p := w.repo.issue(issue), w.repo.pull(n)
	if len(is.comments) != 1 || is.comments[0].body != "said by gh" || is.state != "open" || len(is.labels) != 1 {
		t.Errorf("issue %+v", is)
	}
	if p.stateWord() != "MERGED" || len(p.comments) != 1 || len(p.reviews) != 1 || p.reviews[0].state != "APPROVED" {
		t.Errorf("pull request %s, %d comments, %d reviews", p.stateWord(), len(p.comments), len(p.reviews))
	}
	w.gh("issue", "create", "--title", "Made by gh", "--body", "x", "--label", "agent:bugfix")
	if is := w.repo.issue(4); is == nil || is.title != "Made by gh" || len(is.labels) != 1 {
		t.Errorf("made %+v", is)
	}
}
