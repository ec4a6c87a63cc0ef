package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

func TestCheckRunsSayWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.pull(t, "topic")
	run, err := w.repo.SetCheck("topic", "build", "", "failure")
	must(t, err)
	must(t, w.repo.Annotate(run, "README.md", 3, "no"))
	id := fmt.Sprint(run)
	if c, err := w.client.CheckRun(ctx, w.name, id); err != nil || c.Annotations != 1 {
		t.Errorf("check run %+v, %v", c, err)
	}
	if all, err := w.client.Annotations(ctx, w.name, id); err != nil || len(all) != 1 || all[0] != (Annotation{Path: "README.md", Line: 3, Level: "failure", Message: "no"}) {
		t.Errorf("annotations %+v, %v", all, err)
	}
	if _, err := w.client.JobLog(ctx, w.name, id); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("no log: %v", err)
	}
	must(t, w.repo.SetLog(run, strings.Repeat("a line\n", 30000)+"the end\n"))
	log, err := w.client.JobLog(ctx, w.name, id)
	must(t, err)
	if len(log) != transport.TailBytes || !strings.HasSuffix(log, "a line\nthe end\n") {
		t.Errorf("%d bytes, %q at the end", len(log), log[len(log)-20:])
	}
}

func TestRerunOfFailedJobs(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	_, node := w.pull(t, "topic")
	_, err := w.repo.SetCheck("topic", "build", "", "failure")
	must(t, err)
	_, err = w.repo.SetCheck("topic", "lint", "", "success")
	must(t, err)
	d, _, err := w.client.Details(ctx, []string{node})
	must(t, err)
	runs, err := w.client.WorkflowRuns(ctx, w.name, d[0].HeadOID)
	if err != nil || len(runs) != 1 || runs[0].Conclusion != "failure" || runs[0].Attempt != 1 {
		t.Fatalf("runs %+v, %v", runs, err)
	}
	id := fmt.Sprint(runs[0].ID)
	must(t, w.client.RerunFailedJobs(ctx, w.name, id))
	again, err := w.client.WorkflowRun(ctx, w.name, id)
	if err != nil || again.Attempt != 2 || again.Conclusion != "" {
		t.Errorf("run %+v, %v", again, err)
	}
	if err := w.client.RerunFailedJobs(ctx, w.name, id); !IsStatus(err, http.StatusForbidden) {
		t.Errorf("while it runs: %v", err)
	}
}

func TestIssuesAreOpenedAndFound(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.pull(t, "topic")
	made, err := w.client.CreateIssue(ctx, w.name, "Flaky", "body")
	must(t, err)
	all, err := w.client.IssuesSince(ctx, w.name, time.Time{})
	if err != nil || len(all) != 1 || all[0].Number != made.Number || all[0].Body != "body" {
		t.Errorf("issues %+v, %v", all, err)
	}
}
