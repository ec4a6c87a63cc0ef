package githubsim

import (
	"fmt"
	"strings"
	"time"
)

// repoJSON is a repository, as answers of its own and inside others.
type repoJSON struct {
	repoURLs
	ID                  int64       `json:"id"`
	NodeID              string      `json:"node_id"`
	Name                string      `json:"name"`
	FullName            string      `json:"full_name"`
	Private             bool        `json:"private"`
	Visibility          string      `json:"visibility"`
	Owner               *simpleUser `json:"owner"`
	HTMLURL             string      `json:"html_url"`
	URL                 string      `json:"url"`
	Description         *string     `json:"description"`
	Fork                bool        `json:"fork"`
	CloneURL            string      `json:"clone_url"`
	GitURL              string      `json:"git_url"`
	SSHURL              string      `json:"ssh_url"`
	SvnURL              string      `json:"svn_url"`
	MirrorURL           *string     `json:"mirror_url"`
	Homepage            *string     `json:"homepage"`
	Language            *string     `json:"language"`
	License             *struct{}   `json:"license"`
	DefaultBranch       string      `json:"default_branch"`
	Forks               int         `json:"forks"`
	ForksCount          int         `json:"forks_count"`
	StargazersCount     int         `json:"stargazers_count"`
	Watchers            int         `json:"watchers"`
	WatchersCount       int         `json:"watchers_count"`
	Size                int         `json:"size"`
	OpenIssues          int         `json:"open_issues"`
	OpenIssuesCount     int         `json:"open_issues_count"`
	NetworkCount        int         `json:"network_count"`
	SubscribersCount    int         `json:"subscribers_count"`
	HasIssues           bool        `json:"has_issues"`
	HasProjects         bool        `json:"has_projects"`
	HasWiki             bool        `json:"has_wiki"`
	HasPages            bool        `json:"has_pages"`
	HasDiscussions      bool        `json:"has_discussions"`
	HasDownloads        bool        `json:"has_downloads"`
	Archived            bool        `json:"archived"`
	Disabled            bool        `json:"disabled"`
	AllowMergeCommit    bool        `json:"allow_merge_commit"`
	AllowSquashMerge    bool        `json:"allow_squash_merge"`
	AllowRebaseMerge    bool        `json:"allow_rebase_merge"`
	DeleteBranchOnMerge bool        `json:"delete_branch_on_merge"`
	CreatedAt           time.Time   `json:"created_at"`
	UpdatedAt           time.Time   `json:"updated_at"`
	PushedAt            time.Time   `json:"pushed_at"`
	Permissions         permissions `json:"permissions"`
	Parent              *repoJSON   `json:"parent,omitempty"`
	Source              *repoJSON   `json:"source,omitempty"`
}

// permissions are the viewer's.
type permissions struct {
	Admin    bool `json:"admin"`
	Maintain bool `json:"maintain"`
	Push     bool `json:"push"`
	Triage   bool `json:"triage"`
	Pull     bool `json:"pull"`
}

func (r *Repo) permissions(u *user) permissions {
	return permissions{Admin: r.can(u, "admin"), Maintain: r.can(u, "maintain"), Push: r.can(u, "write"), Triage: r.can(u, "triage"), Pull: r.can(u, "read")}
}

// permissionsTold are those that a repository's own address tells: of an app none.
func (r *Repo) permissionsTold(u *user) permissions {
	if u != nil && u.kind == "Bot" {
		return permissions{}
	}
	return r.permissions(u)
}

// at is the repository's address in the API.
func (u urls) at(r *Repo) string { return u.api + "/repos/" + r.fullName() }

// page is the repository's address in the browser.
func (u urls) page(r *Repo) string { return u.web + "/" + r.fullName() }

// host is the web host's name.
func (u urls) host() string {
	_, host, _ := strings.Cut(u.web, "://")
	return host
}

// repository encodes a repository for the viewer.
func (c *call) repository(r *Repo) *repoJSON {
	if r == nil {
		return nil
	}
	u := c.urls
	forks := 0
	for _, o := range c.h.repos {
		if o.fork == r {
			forks++
		}
	}
	open := r.openCount()
	out := &repoJSON{
		repoURLs: newRepoURLs(u.at(r)), ID: r.id, NodeID: r.nodeID, Name: r.name, FullName: r.fullName(), Private: r.private,
		Visibility: map[bool]string{false: "public", true: "private"}[r.private], Owner: u.user(r.owner), HTMLURL: u.page(r), URL: u.at(r),
		Description: orNull(r.description), Fork: r.fork != nil, CloneURL: u.page(r) + ".git", GitURL: "git://" + u.host() + "/" + r.fullName() + ".git",
		SSHURL: fmt.Sprintf("git@%s:%s.git", u.host(), r.fullName()), SvnURL: u.page(r), DefaultBranch: r.defaultBranch,
		Forks: forks, ForksCount: forks, OpenIssues: open, OpenIssuesCount: open, HasIssues: true, HasProjects: true, HasWiki: true, HasDownloads: true,
		Archived: r.archived, AllowMergeCommit: r.allows("merge"), AllowSquashMerge: r.allows("squash"), AllowRebaseMerge: r.allows("rebase"), DeleteBranchOnMerge: r.deleteOnMerge,
		CreatedAt: r.created, UpdatedAt: r.updated, PushedAt: r.pushed, Permissions: r.permissionsTold(c.viewer),
	}
	return out
}

// openCount counts open issues and pull requests together, as GitHub does.
func (r *Repo) openCount() int {
	n := 0
	for _, is := range r.issues {
		if is.state == "open" && !is.deleted {
			n++
		}
	}
	return n
}
