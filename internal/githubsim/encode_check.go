package githubsim

import (
	"fmt"
	"time"
)

// appJSON is the app that runs checks.
type appJSON struct {
	ID          int64             `json:"id"`
	Slug        string            `json:"slug"`
	NodeID      string            `json:"node_id"`
	Owner       *simpleUser       `json:"owner"`
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	ExternalURL string            `json:"external_url"`
	HTMLURL     string            `json:"html_url"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	Permissions map[string]string `json:"permissions"`
	Events      []string          `json:"events"`
}

func (c *call) app(r *Repo, slug string) appJSON {
	return appJSON{
		ID: 15368, Slug: slug, NodeID: namedNodeID("A", 15368, slug), Owner: c.urls.user(r.owner), Name: slug, ExternalURL: c.urls.web + "/features/actions",
		HTMLURL: c.urls.web + "/apps/" + slug, CreatedAt: r.created, UpdatedAt: r.created, Permissions: map[string]string{"checks": "write"}, Events: []string{},
	}
}

// checkRunJSON is a check run.
type checkRunJSON struct {
	ID           int64           `json:"id"`
	Name         string          `json:"name"`
	NodeID       string          `json:"node_id"`
	HeadSHA      string          `json:"head_sha"`
	ExternalID   string          `json:"external_id"`
	URL          string          `json:"url"`
	HTMLURL      string          `json:"html_url"`
	DetailsURL   string          `json:"details_url"`
	Status       string          `json:"status"`
	Conclusion   *string         `json:"conclusion"`
	StartedAt    time.Time       `json:"started_at"`
	CompletedAt  *time.Time      `json:"completed_at"`
	Output       checkOutput     `json:"output"`
	CheckSuite   checkSuiteID    `json:"check_suite"`
	App          appJSON         `json:"app"`
	PullRequests []pullShortJSON `json:"pull_requests"`
}

type checkOutput struct {
	Title            *string `json:"title"`
	Summary          *string `json:"summary"`
	Text             *string `json:"text"`
	AnnotationsCount int     `json:"annotations_count"`
	AnnotationsURL   string  `json:"annotations_url"`
}

type checkSuiteID struct {
	ID int64 `json:"id"`
}

func (c *call) checkRun(x *checkRun) checkRunJSON {
	at := fmt.Sprintf("%s/check-runs/%d", c.urls.at(x.repo), x.id)
	page := c.urls.checkPage(x)
	details := x.detailsURL
	if details == "" {
		details = page
	}
	return checkRunJSON{
		ID: x.id, Name: x.name, NodeID: x.nodeID, HeadSHA: x.sha, ExternalID: x.externalID, URL: at, HTMLURL: page, DetailsURL: details,
		Status: x.status, Conclusion: orNull(x.conclusion), StartedAt: x.started, CompletedAt: timeOrNull(x.completed),
		Output:     checkOutput{Title: orNull(x.title), Summary: orNull(x.summary), Text: orNull(x.text), AnnotationsCount: len(x.annotations), AnnotationsURL: at + "/annotations"},
		CheckSuite: checkSuiteID{x.suite.id}, App: c.app(x.repo, x.suite.app), PullRequests: c.pullsOf(x.repo, x.sha),
	}
}

// checkPage is the address in the browser.
func (u urls) checkPage(x *checkRun) string {
	return fmt.Sprintf("%s/runs/%d", u.page(x.repo), x.id)
}

// pullShortJSON is a pull request inside a check.
type pullShortJSON struct {
	ID     int64           `json:"id"`
	Number int             `json:"number"`
	URL    string          `json:"url"`
	Head   branchShortJSON `json:"head"`
	Base   branchShortJSON `json:"base"`
}

type branchShortJSON struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo struct {
		ID   int64  `json:"id"`
		URL  string `json:"url"`
		Name string `json:"name"`
	} `json:"repo"`
}

func (c *call) branchShort(r *Repo, ref, sha string) branchShortJSON {
	b := branchShortJSON{Ref: ref, SHA: sha}
	b.Repo.ID, b.Repo.URL, b.Repo.Name = r.id, c.urls.at(r), r.name
	return b
}

// pullsOf lists the open pull requests of the repository's own branches with that head; forks' are left out, as GitHub
// does.
func (c *call) pullsOf(r *Repo, sha string) []pullShortJSON {
	out := []pullShortJSON{}
	for _, p := range r.pulls() {
		if p.state == "open" && p.sameRepo() && p.headOID() == sha {
			out = append(out, pullShortJSON{
				ID: p.id, Number: p.number, URL: c.urls.pullAt(p), Head: c.branchShort(r, p.headRef, sha), Base: c.branchShort(r, p.baseRef, p.baseOID()),
			})
		}
	}
	return out
}

// checkSuiteJSON is a check suite.
type checkSuiteJSON struct {
	ID                   int64            `json:"id"`
	NodeID               string           `json:"node_id"`
	HeadBranch           *string          `json:"head_branch"`
	HeadSHA              string           `json:"head_sha"`
	Status               string           `json:"status"`
	Conclusion           *string          `json:"conclusion"`
	URL                  string           `json:"url"`
	Before               *string          `json:"before"`
	After                string           `json:"after"`
	PullRequests         []pullShortJSON  `json:"pull_requests"`
	App                  appJSON          `json:"app"`
	CreatedAt            time.Time        `json:"created_at"`
	UpdatedAt            time.Time        `json:"updated_at"`
	LatestCheckRunsCount int              `json:"latest_check_runs_count"`
	CheckRunsURL         string           `json:"check_runs_url"`
	HeadCommit           simpleCommitJSON `json:"head_commit"`
	Repository           *repoJSON        `json:"repository"`
}

type simpleCommitJSON struct {
	ID        string       `json:"id"`
	TreeID    string       `json:"tree_id"`
	Message   string       `json:"message"`
	Timestamp time.Time    `json:"timestamp"`
	Author    nameAndEmail `json:"author"`
	Committer nameAndEmail `json:"committer"`
}

type nameAndEmail struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

func (c *call) checkSuite(s *checkSuite) (checkSuiteJSON, *apiError) {
	head, err := s.repo.git.commit(s.sha)
	if err != nil {
		return checkSuiteJSON{}, gitFailed(err)
	}
	at := fmt.Sprintf("%s/check-suites/%d", c.urls.at(s.repo), s.id)
	state, conclusion := s.summary()
	out := checkSuiteJSON{
		ID: s.id, NodeID: s.nodeID, HeadBranch: orNull(s.branch), HeadSHA: s.sha, Status: state, Conclusion: orNull(conclusion), URL: at, After: s.sha,
		PullRequests: c.pullsOf(s.repo, s.sha), App: c.app(s.repo, s.app), CreatedAt: s.created, UpdatedAt: s.updated, CheckRunsURL: at + "/check-runs",
		LatestCheckRunsCount: len(s.runs()), Repository: c.repoOnce(s.repo),
	}
	out.HeadCommit = simpleCommitJSON{
		ID: head.oid, TreeID: head.tree, Message: head.message, Timestamp: head.committer.at,
		Author: nameAndEmail{head.author.name, head.author.email}, Committer: nameAndEmail{head.committer.name, head.committer.email},
	}
	return out, nil
}

// runs are the latest runs of the suite.
func (s *checkSuite) runs() []*checkRun {
	var out []*checkRun
	for _, c := range s.repo.latestChecks(s.sha) {
		if c.suite == s {
			out = append(out, c)
		}
	}
	return out
}

// summary is the suite's status and conclusion.
func (s *checkSuite) summary() (state, conclusion string) {
	state, conclusion = "completed", "success"
	for _, c := range s.runs() {
		switch c.rollupState() {
		case "PENDING":
			return "in_progress", ""
		case "FAILURE":
			conclusion = "failure"
		}
	}
	return state, conclusion
}

// statusJSON is a commit status.
type statusJSON struct {
	URL         string      `json:"url"`
	AvatarURL   string      `json:"avatar_url"`
	ID          int64       `json:"id"`
	NodeID      string      `json:"node_id"`
	State       string      `json:"state"`
	Description *string     `json:"description"`
	TargetURL   *string     `json:"target_url"`
	Context     string      `json:"context"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
	Creator     *simpleUser `json:"creator"`
}

func (c *call) status(s *status) statusJSON {
	return statusJSON{
		URL: c.urls.at(s.repo) + "/statuses/" + s.sha, AvatarURL: c.urls.web + "/avatars", ID: s.id, NodeID: s.nodeID, State: s.state,
		Description: orNull(s.description), TargetURL: orNull(s.targetURL), Context: s.context, CreatedAt: s.created, UpdatedAt: s.created,
		Creator: c.urls.user(s.creator),
	}
}
