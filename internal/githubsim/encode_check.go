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

// pullsOf lists the open pull requests of the repository's own branches with that head; forks' are
// left out, as GitHub does.
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
