package githubsim

import (
	"fmt"
	"net/http"
	"time"
)

// workflowRoutes are those of GitHub Actions: every suite of its is one workflow run, and every
// check run in it a job with the same id.
var workflowRoutes = []route{
	{"GET /actions/runs", listWorkflowRuns},
	{"GET /actions/runs/{id}", withRun(getWorkflowRun)},
	{"POST /actions/runs/{id}/rerun-failed-jobs", withRun(rerunFailedJobs)},
	{"GET /actions/jobs/{id}/logs", withCheckRun(jobLogs)},
	{"GET /job-log-of-a-storage-host/{id}", withCheckRun(storedLog)},
}

// actionsApp is the app whose suites are workflow runs.
const actionsApp = "github-actions"

// annotation is what a check says about a line.
type annotation struct {
	path    string
	line    int
	message string
}

// status is the suite's as a workflow run.
func (s *checkSuite) status() (status, conclusion string) {
	conclusion = "success"
	for _, x := range s.latest() {
		switch {
		case x.status != "completed":
			return "in_progress", ""
		case x.rollupState() != "SUCCESS":
			conclusion = "failure"
		}
	}
	return "completed", conclusion
}

// latest are the newest runs of the suite's checks.
func (s *checkSuite) latest() (list []*checkRun) {
	for _, x := range s.repo.latestChecks(s.sha) {
		if x.suite == s {
			list = append(list, x)
		}
	}
	return list
}

// workflowRunJSON is a workflow run, as far as it means anything here.
type workflowRunJSON struct {
	ID             int64           `json:"id"`
	NodeID         string          `json:"node_id"`
	Name           string          `json:"name"`
	HeadBranch     *string         `json:"head_branch"`
	HeadSHA        string          `json:"head_sha"`
	Path           string          `json:"path"`
	DisplayTitle   string          `json:"display_title"`
	RunNumber      int             `json:"run_number"`
	RunAttempt     int             `json:"run_attempt"`
	Event          string          `json:"event"`
	Status         string          `json:"status"`
	Conclusion     *string         `json:"conclusion"`
	WorkflowID     int64           `json:"workflow_id"`
	CheckSuiteID   int64           `json:"check_suite_id"`
	URL            string          `json:"url"`
	HTMLURL        string          `json:"html_url"`
	PullRequests   []pullShortJSON `json:"pull_requests"`
	CreatedAt      time.Time       `json:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
	JobsURL        string          `json:"jobs_url"`
	LogsURL        string          `json:"logs_url"`
	CheckSuiteURL  string          `json:"check_suite_url"`
	CancelURL      string          `json:"cancel_url"`
	RerunURL       string          `json:"rerun_url"`
	ArtifactsURL   string          `json:"artifacts_url"`
	WorkflowURL    string          `json:"workflow_url"`
	HeadCommit     any             `json:"head_commit"`
	Repository     any             `json:"repository"`
	HeadRepository any             `json:"head_repository"`
}

func (c *call) workflowRun(s *checkSuite) workflowRunJSON {
	at := fmt.Sprintf("%s/actions/runs/%d", c.urls.at(s.repo), s.id)
	status, conclusion := s.status()
	return workflowRunJSON{
		ID: s.id, NodeID: s.nodeID, Name: "CI", HeadBranch: orNull(s.branch), HeadSHA: s.sha, Path: ".github/workflows/ci.yml", DisplayTitle: "CI",
		RunNumber: 1, RunAttempt: 1 + s.reruns, Event: "pull_request", Status: status, Conclusion: orNull(conclusion), WorkflowID: 1, CheckSuiteID: s.id,
		URL: at, HTMLURL: fmt.Sprintf("%s/actions/runs/%d", c.urls.page(s.repo), s.id), PullRequests: c.pullsOf(s.repo, s.sha),
		CreatedAt: s.created, UpdatedAt: s.updated, JobsURL: at + "/jobs", LogsURL: at + "/logs", CheckSuiteURL: fmt.Sprintf("%s/check-suites/%d", c.urls.at(s.repo), s.id),
		CancelURL: at + "/cancel", RerunURL: at + "/rerun", ArtifactsURL: at + "/artifacts", WorkflowURL: c.urls.at(s.repo) + "/actions/workflows/1",
		Repository: c.repoOnce(s.repo), HeadRepository: c.repoOnce(s.repo),
	}
}

func listWorkflowRuns(c *call) (reply, *apiError) {
	var list []*checkSuite
	for _, s := range c.repo.checkSuites[c.query("head_sha")] {
		if s.app == actionsApp {
			list = append(list, s)
		}
	}
	part, header := paged(c, list)
	out := make([]workflowRunJSON, len(part))
	for i, s := range part {
		out[i] = c.workflowRun(s)
	}
	return reply{status: http.StatusOK, body: map[string]any{"total_count": len(list), "workflow_runs": out}, header: header}, nil
}

func withRun(fn func(*call, *checkSuite) (reply, *apiError)) endpoint {
	return withCheckSuite(func(c *call, s *checkSuite) (reply, *apiError) {
		if s.app != actionsApp {
			return reply{}, notFound()
		}
		return fn(c, s)
	})
}

func getWorkflowRun(c *call, s *checkSuite) (reply, *apiError) { return ok(c.workflowRun(s)), nil }

// rerunFailedJobs queues a new run of each check that failed.
func rerunFailedJobs(c *call, s *checkSuite) (reply, *apiError) {
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	if status, _ := s.status(); status != "completed" {
		return reply{}, forbidden("This workflow is already running")
	}
	s.reruns++
	for _, x := range s.latest() {
		if x.rollupState() != "SUCCESS" {
			c.repo.addCheck(newCheck{sha: s.sha, name: x.name, app: s.app, status: "queued"})
		}
	}
	return created(struct{}{}), nil
}

// jobLogs redirects to where logs are stored, as GitHub does.
func jobLogs(c *call, x *checkRun) (reply, *apiError) {
	if x.log == "" {
		return reply{}, notFound()
	}
	at := fmt.Sprintf("%s/job-log-of-a-storage-host/%d", c.urls.at(x.repo), x.id)
	return reply{status: http.StatusFound, header: http.Header{"Location": {at}}}, nil
}

func storedLog(_ *call, x *checkRun) (reply, *apiError) {
	return reply{status: http.StatusOK, text: x.log}, nil
}

// annotationJSON is an annotation.
type annotationJSON struct {
	Path        string  `json:"path"`
	BlobHref    string  `json:"blob_href"`
	StartLine   int     `json:"start_line"`
	EndLine     int     `json:"end_line"`
	StartColumn *int    `json:"start_column"`
	EndColumn   *int    `json:"end_column"`
	Level       string  `json:"annotation_level"`
	Title       *string `json:"title"`
	Message     string  `json:"message"`
	RawDetails  *string `json:"raw_details"`
}

func listAnnotations(c *call, x *checkRun) (reply, *apiError) {
	return pageOf(c, x.annotations, func(a annotation) annotationJSON {
		return annotationJSON{
			Path: a.path, BlobHref: c.urls.page(x.repo) + "/blob/" + x.sha + "/" + a.path, StartLine: a.line, EndLine: a.line, Level: "failure", Message: a.message,
		}
	}), nil
}

// SetLog gives a check run the log of its job.
func (r *Repo) SetLog(run int64, log string) error {
	return r.onCheck(run, func(x *checkRun) { x.log = log })
}

// EndedEarlier has a check run have ended earlier by a time than it did.
func (r *Repo) EndedEarlier(run int64, by time.Duration) error {
	return r.onCheck(run, func(x *checkRun) { x.completed = x.completed.Add(-by) })
}

// Annotate has a check run say something about a line.
func (r *Repo) Annotate(run int64, path string, line int, message string) error {
	return r.onCheck(run, func(x *checkRun) { x.annotations = append(x.annotations, annotation{path, line, message}) })
}

func (r *Repo) onCheck(run int64, do func(*checkRun)) error {
	defer r.hub.enter()()
	x, found := r.hub.nodeByID(nodeID(kindCheckRun, run)).(*checkRun)
	if !found || x.repo != r {
		return fmt.Errorf("there is no check run %d", run)
	}
	do(x)
	return nil
}
