package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// CheckRun is the output of a check run. Check runs of GitHub Actions are jobs, with the same id.
type CheckRun struct {
	Title       string
	Summary     string
	Annotations int // number of annotations
}

type wireCheckRun struct {
	ID     int64 `json:"id"`
	Output struct {
		Title       string `json:"title"`
		Summary     string `json:"summary"`
		Annotations int    `json:"annotations_count"`
	} `json:"output"`
}

func (w wireCheckRun) Check() error {
	if w.ID == 0 {
		return errors.New("no check run")
	}
	return nil
}

// CheckRun reads the output of a check run.
func (c *Client) CheckRun(ctx context.Context, repo work.RepoName, id string) (CheckRun, error) {
	var w wireCheckRun
	if err := c.api.Get(ctx, fmt.Sprintf("repos/%s/check-runs/%s", repo.FullName(), id), &w); err != nil {
		return CheckRun{}, fmt.Errorf("read check run %s: %w", id, err)
	}
	return CheckRun(w.Output), nil
}

// Annotation is a check run's message about a line.
type Annotation struct {
	Path    string
	Line    int
	Level   string // failure, warning or notice
	Message string
}

type wireAnnotation struct {
	Path    string `json:"path"`
	Line    int    `json:"start_line"`
	Level   string `json:"annotation_level"`
	Message string `json:"message"`
}

func (w wireAnnotation) Check() error { return nil } // every field may be empty

// Annotations reads the first page of a check run's annotations, at most 50.
func (c *Client) Annotations(ctx context.Context, repo work.RepoName, id string) ([]Annotation, error) {
	address := fmt.Sprintf("repos/%s/check-runs/%s/annotations?per_page=50", repo.FullName(), id)
	p, err := transport.ReadPage(ctx, c.api, transport.PageRequest{URL: address}, func(w wireAnnotation) Annotation { return Annotation(w) })
	if err != nil {
		return nil, fmt.Errorf("read annotations of check run %s: %w", id, err)
	}
	return p.Items, nil
}

// JobLog reads the end of a job's log; "" if there is none. GitHub redirects to a storage at a
// signed URL.
func (c *Client) JobLog(ctx context.Context, repo work.RepoName, job string) (string, error) {
	_, err := c.api.Send(ctx, transport.Call{Method: http.MethodGet, URL: fmt.Sprintf("repos/%s/actions/jobs/%s/logs", repo.FullName(), job)})
	stored, ok := errors.AsType[*transport.MovedError](err)
	if !ok {
		if err != nil {
			err = fmt.Errorf("find the log of job %s: %w", job, err)
		}
		return "", err
	}
	text, err := c.api.Tail(ctx, stored.Location)
	if err != nil {
		return "", fmt.Errorf("read the log of job %s: %w", job, err)
	}
	return text, nil
}

// WorkflowRun is a run of a workflow of GitHub Actions.
type WorkflowRun struct {
	ID         int64
	Conclusion string // success, failure, …; empty until completed
	Attempt    int    // 1 for the first run, plus 1 for each rerun
	URL        string
}

type wireWorkflowRun struct {
	ID         int64  `json:"id"`
	Conclusion string `json:"conclusion"`
	Attempt    int    `json:"run_attempt"`
	HTMLURL    string `json:"html_url"`
}

func (w wireWorkflowRun) Check() error {
	if w.ID == 0 {
		return errors.New("no workflow run")
	}
	return nil
}

func (w wireWorkflowRun) run() WorkflowRun {
	return WorkflowRun{ID: w.ID, Conclusion: w.Conclusion, Attempt: w.Attempt, URL: w.HTMLURL}
}

type wireWorkflowRuns struct {
	Runs *[]wireWorkflowRun `json:"workflow_runs"`
}

func (w wireWorkflowRuns) Check() error {
	if w.Runs == nil {
		return errors.New("no list of workflow runs")
	}
	return nil
}

// WorkflowRuns lists the workflow runs of a commit, a hundred at most.
func (c *Client) WorkflowRuns(ctx context.Context, repo work.RepoName, commit string) ([]WorkflowRun, error) {
	var w wireWorkflowRuns
	if err := c.api.Get(ctx, fmt.Sprintf("repos/%s/actions/runs?head_sha=%s&per_page=100", repo.FullName(), commit), &w); err != nil {
		return nil, fmt.Errorf("list workflow runs of %s: %w", commit, err)
	}
	all := make([]WorkflowRun, 0, len(*w.Runs))
	for _, r := range *w.Runs {
		all = append(all, r.run())
	}
	return all, nil
}

// WorkflowRun reads one workflow run.
func (c *Client) WorkflowRun(ctx context.Context, repo work.RepoName, id string) (WorkflowRun, error) {
	var w wireWorkflowRun
	if err := c.api.Get(ctx, fmt.Sprintf("repos/%s/actions/runs/%s", repo.FullName(), id), &w); err != nil {
		return WorkflowRun{}, fmt.Errorf("read workflow run %s: %w", id, err)
	}
	return w.run(), nil
}

// RerunFailedJobs reruns the failed jobs of a workflow run and the jobs that depend on them.
func (c *Client) RerunFailedJobs(ctx context.Context, repo work.RepoName, id string) error {
	if err := c.api.Write(ctx, http.MethodPost, fmt.Sprintf("repos/%s/actions/runs/%s/rerun-failed-jobs", repo.FullName(), id), nil, nil); err != nil {
		return fmt.Errorf("run the failed jobs of %s again: %w", id, err)
	}
	return nil
}

// Status is a commit status. The newest of each context counts.
type Status struct {
	Context     string
	State       string // pending, success, failure or error
	Description string
	URL         string
	At          time.Time
}

type wireStatus struct {
	ID          int64     `json:"id"`
	Context     string    `json:"context"`
	State       string    `json:"state"`
	Description string    `json:"description"`
	TargetURL   string    `json:"target_url"`
	UpdatedAt   time.Time `json:"updated_at"`
}

func (w wireStatus) Check() error {
	if w.ID == 0 || w.Context == "" {
		return errors.New("no status")
	}
	return nil
}

type wireStatuses struct {
	Total    int           `json:"total_count"`
	Statuses *[]wireStatus `json:"statuses"`
}

func (w wireStatuses) Check() error {
	if w.Statuses == nil {
		return errors.New("no list of statuses")
	}
	return nil
}

// Statuses lists the newest status of each context of a commit. Check runs are not included.
func (c *Client) Statuses(ctx context.Context, repo work.RepoName, commit string) ([]Status, error) {
	var all []Status
	for page := 1; ; page++ {
		var w wireStatuses
		address := fmt.Sprintf("repos/%s/commits/%s/status?per_page=100&page=%d", repo.FullName(), commit, page)
		if err := c.api.Get(ctx, address, &w); err != nil {
			return nil, fmt.Errorf("list the statuses of %s: %w", commit, err)
		}
		for _, s := range *w.Statuses {
			all = append(all, Status{Context: s.Context, State: s.State, Description: s.Description, URL: s.TargetURL, At: s.UpdatedAt})
		}
		if len(*w.Statuses) == 0 || len(all) >= w.Total {
			return all, nil
		}
	}
}

// SetStatus sets a status of a commit.
func (c *Client) SetStatus(ctx context.Context, repo work.RepoName, commit string, s Status) error {
	request := struct {
		State       string `json:"state"`
		Context     string `json:"context"`
		Description string `json:"description"`
		TargetURL   string `json:"target_url,omitempty"`
	}{s.State, s.Context, s.Description, s.URL}
	if err := c.api.Write(ctx, http.MethodPost, fmt.Sprintf("repos/%s/statuses/%s", repo.FullName(), commit), request, &wireStatus{}); err != nil {
		return fmt.Errorf("set the status %q of %s: %w", s.Context, commit, err)
	}
	return nil
}
