package githubsim

import (
	"fmt"
	"time"
)

// link is one address of a _links object.
type link struct {
	Href string `json:"href"`
}

// branchJSON is the head or the base of a pull request.
type branchJSON struct {
	Label string      `json:"label"`
	Ref   string      `json:"ref"`
	SHA   string      `json:"sha"`
	User  *simpleUser `json:"user"`
	Repo  *repoJSON   `json:"repo"`
}

// pullSimpleJSON is a pull request in a list.
type pullSimpleJSON struct {
	URL                string          `json:"url"`
	ID                 int64           `json:"id"`
	NodeID             string          `json:"node_id"`
	HTMLURL            string          `json:"html_url"`
	DiffURL            string          `json:"diff_url"`
	PatchURL           string          `json:"patch_url"`
	IssueURL           string          `json:"issue_url"`
	CommitsURL         string          `json:"commits_url"`
	ReviewCommentsURL  string          `json:"review_comments_url"`
	ReviewCommentURL   string          `json:"review_comment_url"`
	CommentsURL        string          `json:"comments_url"`
	StatusesURL        string          `json:"statuses_url"`
	Number             int             `json:"number"`
	State              string          `json:"state"`
	Locked             bool            `json:"locked"`
	Title              string          `json:"title"`
	User               *simpleUser     `json:"user"`
	Body               *string         `json:"body"`
	Labels             []pullLabelJSON `json:"labels"`
	Milestone          *struct{}       `json:"milestone"`
	ActiveLockReason   *string         `json:"active_lock_reason"`
	CreatedAt          time.Time       `json:"created_at"`
	UpdatedAt          time.Time       `json:"updated_at"`
	ClosedAt           *time.Time      `json:"closed_at"`
	MergedAt           *time.Time      `json:"merged_at"`
	MergeCommitSHA     *string         `json:"merge_commit_sha"`
	Assignee           *simpleUser     `json:"assignee"`
	Assignees          []*simpleUser   `json:"assignees"`
	RequestedReviewers []*simpleUser   `json:"requested_reviewers"`
	RequestedTeams     []struct{}      `json:"requested_teams"`
	Head               branchJSON      `json:"head"`
	Base               branchJSON      `json:"base"`
	Links              map[string]link `json:"_links"`
	AuthorAssociation  string          `json:"author_association"`
	AutoMerge          any             `json:"auto_merge"`
	Draft              bool            `json:"draft"`
}

// pullJSON is a pull request by itself.
type pullJSON struct {
	pullSimpleJSON
	Merged              bool        `json:"merged"`
	Mergeable           *bool       `json:"mergeable"`
	Rebaseable          *bool       `json:"rebaseable"`
	MergeableState      string      `json:"mergeable_state"`
	MergedBy            *simpleUser `json:"merged_by"`
	Comments            int         `json:"comments"`
	ReviewComments      int         `json:"review_comments"`
	MaintainerCanModify bool        `json:"maintainer_can_modify"`
	Commits             int         `json:"commits"`
	Additions           int         `json:"additions"`
	Deletions           int         `json:"deletions"`
	ChangedFiles        int         `json:"changed_files"`
}

// pullAt is the pull request's address in the API.
func (u urls) pullAt(p *pull) string { return fmt.Sprintf("%s/pulls/%d", u.at(p.repo), p.number) }

// repoOnce encodes repositories once a call: lists of pull requests show the same one over and
// over.
func (c *call) repoOnce(r *Repo) *repoJSON {
	if r == nil {
		return nil
	}
	if c.encoded == nil {
		c.encoded = map[*Repo]*repoJSON{}
	}
	if c.encoded[r] == nil {
		c.encoded[r] = c.repository(r)
	}
	return c.encoded[r]
}

func (c *call) branch(r *Repo, ref, sha string) branchJSON {
	b := branchJSON{Ref: ref, SHA: sha, Label: "unknown:" + ref, Repo: c.repoOnce(r)}
	if r != nil {
		b.Label, b.User = r.owner.login+":"+ref, c.urls.user(r.owner)
	}
	return b
}

func (c *call) pullSimple(p *pull) pullSimpleJSON {
	r, at := p.repo, c.urls.pullAt(p)
	issueAt := fmt.Sprintf("%s/issues/%d", c.urls.at(r), p.number)
	page := c.urls.issuePage(p.issue)
	head := p.headOID()
	out := pullSimpleJSON{
		URL: at, ID: p.id, NodeID: p.nodeID, HTMLURL: page, DiffURL: page + ".diff", PatchURL: page + ".patch", IssueURL: issueAt,
		CommitsURL: at + "/commits", ReviewCommentsURL: at + "/comments", ReviewCommentURL: c.urls.at(r) + "/pulls/comments{/number}",
		CommentsURL: issueAt + "/comments", StatusesURL: c.urls.at(r) + "/statuses/" + head, Number: p.number, State: p.state, Locked: p.locked,
		Title: p.title, User: c.urls.user(p.author), Body: orNull(p.body), Labels: []pullLabelJSON{}, ActiveLockReason: orNull(p.lockReason),
		CreatedAt: p.created, UpdatedAt: p.updated, ClosedAt: timeOrNull(p.closed), MergedAt: timeOrNull(p.merged), MergeCommitSHA: orNull(p.mergeSHA),
		Assignees: c.urls.users(p.assignees), RequestedReviewers: c.urls.users(p.reviewers), RequestedTeams: []struct{}{},
		Head: c.branch(p.headRepo, p.headRef, head), Base: c.branch(r, p.baseRef, p.baseOID()), AuthorAssociation: r.association(p.author), Draft: p.draft,
	}
	for _, l := range p.labels {
		out.Labels = append(out.Labels, pullLabelJSON{labelJSON: c.label(r, l), Description: l.description})
	}
	if len(out.Assignees) > 0 {
		out.Assignee = out.Assignees[0]
	}
	out.Links = map[string]link{
		"self": {at}, "html": {page}, "issue": {issueAt}, "comments": {out.CommentsURL}, "review_comments": {out.ReviewCommentsURL},
		"review_comment": {out.ReviewCommentURL}, "commits": {out.CommitsURL}, "statuses": {out.StatusesURL},
	}
	return out
}

// pull encodes a pull request with what only its own endpoint tells.
func (c *call) pull(p *pull) (pullJSON, *apiError) {
	out := pullJSON{
		pullSimpleJSON: c.pullSimple(p), Merged: !p.merged.IsZero(), MergedBy: c.urls.user(p.mergedBy), Comments: len(p.comments),
		MaintainerCanModify: p.canModify,
	}
	for _, x := range p.diffComments {
		if !x.review.pending() {
			out.ReviewComments++
		}
	}
	m := p.mergeable(c.r.Context())
	if m != mergeUnknown {
		clean := m == mergeClean
		out.Mergeable, out.Rebaseable = &clean, &clean
	}
	out.MergeableState = mergeWords[p.mergeState(m)]
	d, err := p.diff()
	if err != nil {
		return out, gitFailed(err)
	}
	out.Commits, out.ChangedFiles = len(d.commits), len(d.files)
	for _, f := range d.files {
		out.Additions += f.added
		out.Deletions += f.deleted
	}
	if p.state == "open" && m == mergeClean {
		test, err := p.testMerge()
		if err != nil {
			return out, gitFailed(err)
		}
		out.MergeCommitSHA = &test
	}
	return out, nil
}

// testMerge is the commit that GitHub makes to find out about mergeability.
func (p *pull) testMerge() (string, error) {
	head, base := p.headOID(), p.baseOID()
	g := p.repo.git
	return cached(g, "test merge "+base+" "+head, func() (string, error) {
		m, err := g.mergeTree(base, head)
		if err != nil {
			return "", err
		}
		by := signature{name: "GitHub", email: "noreply@github.com", at: p.repo.created}
		return g.commitTree(m.tree, []string{base, head}, "Merge "+head+" into "+base+"\n", by, by)
	})
}

// mergeWords are REST's words for mergeStateStatus.
var mergeWords = map[string]string{
	"DIRTY": "dirty", "UNKNOWN": "unknown", "DRAFT": "draft", "BLOCKED": "blocked", "BEHIND": "behind", "UNSTABLE": "unstable", "CLEAN": "clean",
}

// pullDiff is what a pull request would bring.
type pullDiff struct {
	base    string       // the merge base
	commits []commitInfo // oldest first
	files   []fileDiff
}

// diff asks git what the pull request would bring.
func (p *pull) diff() (pullDiff, error) {
	head, base := p.headOID(), p.baseOID()
	g := p.repo.git
	return cached(g, "pull "+base+" "+head, func() (pullDiff, error) {
		fork, err := g.mergeBase(base, head)
		if err != nil || fork == "" {
			return pullDiff{}, err
		}
		list, err := g.between(fork, head)
		if err != nil {
			return pullDiff{}, err
		}
		files, err := g.files(fork, head)
		return pullDiff{base: fork, commits: reversed(list), files: files}, err
	})
}
