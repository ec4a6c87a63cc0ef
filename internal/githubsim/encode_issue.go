package githubsim

import (
	"fmt"
	"net/url"
	"time"
)

// labelJSON is a label.
type labelJSON struct {
	ID          int64   `json:"id"`
	NodeID      string  `json:"node_id"`
	URL         string  `json:"url"`
	Name        string  `json:"name"`
	Color       string  `json:"color"`
	Default     bool    `json:"default"`
	Description *string `json:"description"`
}

func (c *call) label(r *Repo, l *label) labelJSON {
	return labelJSON{ID: l.id, NodeID: l.nodeID, URL: c.urls.at(r) + "/labels/" + url.PathEscape(l.name), Name: l.name, Color: l.color, Description: orNull(l.description)}
}

func (c *call) labels(r *Repo, list []*label) []labelJSON {
	out := make([]labelJSON, len(list))
	for i, l := range list {
		out[i] = c.label(r, l)
	}
	return out
}

// pullLabelJSON is a label inside a pull request of a list, where the schema knows no null.
type pullLabelJSON struct {
	labelJSON
	Description string `json:"description"`
}

// rollupJSON counts reactions.
type rollupJSON struct {
	URL        string `json:"url"`
	TotalCount int    `json:"total_count"`
	PlusOne    int    `json:"+1"`
	MinusOne   int    `json:"-1"`
	Laugh      int    `json:"laugh"`
	Hooray     int    `json:"hooray"`
	Confused   int    `json:"confused"`
	Heart      int    `json:"heart"`
	Rocket     int    `json:"rocket"`
	Eyes       int    `json:"eyes"`
}

// reactionCounts counts reactions; at is the address of what was reacted to.
func reactionCounts(at string, list []*reaction) rollupJSON {
	n := map[string]int{}
	for _, re := range list {
		n[re.content]++
	}
	return rollupJSON{
		URL: at + "/reactions", TotalCount: len(list), PlusOne: n["+1"], MinusOne: n["-1"], Laugh: n["laugh"], Hooray: n["hooray"],
		Confused: n["confused"], Heart: n["heart"], Rocket: n["rocket"], Eyes: n["eyes"],
	}
}

// reactionJSON is one reaction.
type reactionJSON struct {
	ID        int64       `json:"id"`
	NodeID    string      `json:"node_id"`
	User      *simpleUser `json:"user"`
	Content   string      `json:"content"`
	CreatedAt time.Time   `json:"created_at"`
}

func (c *call) reaction(re *reaction) reactionJSON {
	return reactionJSON{ID: re.id, NodeID: re.nodeID, User: c.urls.user(re.user), Content: re.content, CreatedAt: re.created}
}

// issueJSON is an issue, or a pull request in the eyes of the issues endpoints.
type issueJSON struct {
	URL               string            `json:"url"`
	RepositoryURL     string            `json:"repository_url"`
	LabelsURL         string            `json:"labels_url"`
	CommentsURL       string            `json:"comments_url"`
	EventsURL         string            `json:"events_url"`
	TimelineURL       string            `json:"timeline_url"`
	HTMLURL           string            `json:"html_url"`
	ID                int64             `json:"id"`
	NodeID            string            `json:"node_id"`
	Number            int               `json:"number"`
	Title             string            `json:"title"`
	User              *simpleUser       `json:"user"`
	Labels            []labelJSON       `json:"labels"`
	State             string            `json:"state"`
	Locked            bool              `json:"locked"`
	Assignee          *simpleUser       `json:"assignee"`
	Assignees         []*simpleUser     `json:"assignees"`
	Milestone         *struct{}         `json:"milestone"`
	Comments          int               `json:"comments"`
	CreatedAt         time.Time         `json:"created_at"`
	UpdatedAt         time.Time         `json:"updated_at"`
	ClosedAt          *time.Time        `json:"closed_at"`
	AuthorAssociation string            `json:"author_association"`
	ActiveLockReason  *string           `json:"active_lock_reason"`
	Draft             *bool             `json:"draft,omitempty"`
	PullRequest       *issuePullJSON    `json:"pull_request,omitempty"`
	Body              *string           `json:"body"`
	ClosedBy          *simpleUser       `json:"closed_by"`
	Reactions         rollupJSON        `json:"reactions"`
	ViaApp            *struct{}         `json:"performed_via_github_app"`
	StateReason       *string           `json:"state_reason"`
	Dependencies      *dependenciesJSON `json:"issue_dependencies_summary,omitempty"`
	SubIssues         *subIssuesJSON    `json:"sub_issues_summary,omitempty"`
	ParentURL         *string           `json:"parent_issue_url,omitempty"`
}

// issuePullJSON marks an issue that is a pull request.
type issuePullJSON struct {
	URL      string     `json:"url"`
	HTMLURL  string     `json:"html_url"`
	DiffURL  string     `json:"diff_url"`
	PatchURL string     `json:"patch_url"`
	MergedAt *time.Time `json:"merged_at"`
}

func (c *call) issue(is *issue) issueJSON {
	r := is.repo
	at := fmt.Sprintf("%s/issues/%d", c.urls.at(r), is.number)
	out := issueJSON{
		URL: at, RepositoryURL: c.urls.at(r), LabelsURL: at + "/labels{/name}", CommentsURL: at + "/comments", EventsURL: at + "/events",
		TimelineURL: at + "/timeline", HTMLURL: c.urls.issuePage(is), ID: is.id, NodeID: is.nodeID, Number: is.number, Title: is.title,
		User: c.urls.user(is.author), Labels: c.labels(r, is.labels), State: is.state, Locked: is.locked, Assignees: c.urls.users(is.assignees),
		Comments: len(is.comments), CreatedAt: is.created, UpdatedAt: is.updated, ClosedAt: timeOrNull(is.closed),
		AuthorAssociation: r.association(is.author), ActiveLockReason: orNull(is.lockReason), Body: orNull(is.body), ClosedBy: c.urls.user(is.closedBy),
		Reactions: reactionCounts(at, is.reactions), StateReason: orNull(is.stateReason), Dependencies: is.dependencies(),
		SubIssues: is.subIssues(), ParentURL: c.parentURL(is),
	}
	if len(out.Assignees) > 0 {
		out.Assignee = out.Assignees[0]
	}
	if p := is.pull; p != nil {
		out.NodeID, out.Draft = p.nodeID, &p.draft
		page := c.urls.issuePage(is)
		out.PullRequest = &issuePullJSON{
			URL: c.urls.pullAt(p), HTMLURL: page, DiffURL: page + ".diff", PatchURL: page + ".patch", MergedAt: timeOrNull(p.merged),
		}
	}
	return out
}

// issuePage is the address in the browser.
func (u urls) issuePage(is *issue) string {
	word := "issues"
	if is.pull != nil {
		word = "pull"
	}
	return fmt.Sprintf("%s/%s/%d", u.page(is.repo), word, is.number)
}

// commentJSON is a conversation comment.
type commentJSON struct {
	URL               string      `json:"url"`
	HTMLURL           string      `json:"html_url"`
	IssueURL          string      `json:"issue_url"`
	ID                int64       `json:"id"`
	NodeID            string      `json:"node_id"`
	User              *simpleUser `json:"user"`
	CreatedAt         time.Time   `json:"created_at"`
	UpdatedAt         time.Time   `json:"updated_at"`
	AuthorAssociation string      `json:"author_association"`
	Body              string      `json:"body"`
	Reactions         rollupJSON  `json:"reactions"`
	ViaApp            *struct{}   `json:"performed_via_github_app"`
}

func (c *call) comment(x *comment) commentJSON {
	r := x.issue.repo
	at := fmt.Sprintf("%s/issues/comments/%d", c.urls.at(r), x.id)
	return commentJSON{
		URL: at, HTMLURL: c.urls.commentPage(x), IssueURL: fmt.Sprintf("%s/issues/%d", c.urls.at(r), x.issue.number), ID: x.id, NodeID: x.nodeID,
		User: c.urls.user(x.author), CreatedAt: x.created, UpdatedAt: x.updated, AuthorAssociation: r.association(x.author), Body: x.body,
		Reactions: reactionCounts(at, x.reactions),
	}
}

// commentPage is the address in the browser.
func (u urls) commentPage(x *comment) string {
	return fmt.Sprintf("%s#issuecomment-%d", u.issuePage(x.issue), x.id)
}
