package githubsim

import (
	"fmt"
	"time"
)

// reviewJSON is a review.
type reviewJSON struct {
	ID                int64           `json:"id"`
	NodeID            string          `json:"node_id"`
	User              *simpleUser     `json:"user"`
	Body              string          `json:"body"`
	State             string          `json:"state"`
	HTMLURL           string          `json:"html_url"`
	PullRequestURL    string          `json:"pull_request_url"`
	AuthorAssociation string          `json:"author_association"`
	Links             map[string]link `json:"_links"`
	SubmittedAt       *time.Time      `json:"submitted_at,omitempty"`
	CommitID          string          `json:"commit_id"`
}

func (c *call) review(v *review) reviewJSON {
	page, at := c.urls.reviewPage(v), c.urls.pullAt(v.pull)
	return reviewJSON{
		ID: v.id, NodeID: v.nodeID, User: c.urls.user(v.author), Body: v.body, State: v.state, HTMLURL: page, PullRequestURL: at,
		AuthorAssociation: v.pull.repo.association(v.author), Links: map[string]link{"html": {page}, "pull_request": {at}},
		SubmittedAt: timeOrNull(v.submitted), CommitID: v.commitSHA,
	}
}

// reviewPage is the address in the browser.
func (u urls) reviewPage(v *review) string {
	return fmt.Sprintf("%s#pullrequestreview-%d", u.issuePage(v.pull.issue), v.id)
}

// diffCommentJSON is a comment on the diff. Position and line are null once it is outdated.
type diffCommentJSON struct {
	URL               string          `json:"url"`
	ReviewID          int64           `json:"pull_request_review_id"`
	ID                int64           `json:"id"`
	NodeID            string          `json:"node_id"`
	DiffHunk          string          `json:"diff_hunk"`
	Path              string          `json:"path"`
	CommitID          string          `json:"commit_id"`
	OriginalCommitID  string          `json:"original_commit_id"`
	User              *simpleUser     `json:"user"`
	Body              string          `json:"body"`
	CreatedAt         time.Time       `json:"created_at"`
	UpdatedAt         time.Time       `json:"updated_at"`
	HTMLURL           string          `json:"html_url"`
	PullRequestURL    string          `json:"pull_request_url"`
	AuthorAssociation string          `json:"author_association"`
	Links             map[string]link `json:"_links"`
	Reactions         rollupJSON      `json:"reactions"`
	StartLine         *int            `json:"start_line"`
	OriginalStartLine *int            `json:"original_start_line"`
	StartSide         *string         `json:"start_side"`
	Line              *int            `json:"line"`
	OriginalLine      *int            `json:"original_line"`
	Side              string          `json:"side"`
	InReplyTo         int64           `json:"in_reply_to_id,omitempty"`
	Position          *int            `json:"position"`
	OriginalPosition  int             `json:"original_position"`
	SubjectType       string          `json:"subject_type"`
}

func (c *call) diffComment(x *reviewComment) diffCommentJSON {
	p := x.pull()
	at := fmt.Sprintf("%s/pulls/comments/%d", c.urls.at(p.repo), x.id)
	page := c.urls.diffCommentPage(x)
	out := diffCommentJSON{
		URL: at, ReviewID: x.review.id, ID: x.id, NodeID: x.nodeID, DiffHunk: x.diffHunk, Path: x.path, CommitID: p.headOID(),
		OriginalCommitID: x.originalSHA, User: c.urls.user(x.author), Body: x.body, CreatedAt: x.created, UpdatedAt: x.updated, HTMLURL: page,
		PullRequestURL: c.urls.pullAt(p), AuthorAssociation: p.repo.association(x.author),
		Links:     map[string]link{"self": {at}, "html": {page}, "pull_request": {c.urls.pullAt(p)}},
		Reactions: reactionCounts(at, x.reactions), Side: x.side, SubjectType: x.subject,
	}
	if x.inReplyTo != nil {
		out.InReplyTo = x.inReplyTo.id
	}
	if x.subject == "file" {
		one := 1
		out.Position, out.OriginalPosition = &one, one
		return out
	}
	out.OriginalLine, out.OriginalPosition = &x.originalLine, x.position
	if x.startLine > 0 {
		out.OriginalStartLine, out.StartSide = &x.startLine, &x.side
	}
	if line, current := x.line(); current {
		out.Line, out.Position = &line, &x.position
		if x.startLine > 0 {
			start := line - x.originalLine + x.startLine
			out.StartLine = &start
		}
	} else {
		out.CommitID = x.originalSHA
	}
	return out
}

// diffCommentPage is the address in the browser.
func (u urls) diffCommentPage(x *reviewComment) string {
	return fmt.Sprintf("%s#discussion_r%d", u.issuePage(x.pull().issue), x.id)
}
