package githubsim

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// gitFailed is the answer when git itself is in trouble.
func gitFailed(err error) *apiError { return refusal(http.StatusInternalServerError, err.Error()) }

func reversed[T any](list []T) []T {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// gitUser is a commit's author or committer.
type gitUser struct {
	Name  string    `json:"name"`
	Email string    `json:"email"`
	Date  time.Time `json:"date"`
}

func newGitUser(s signature) gitUser { return gitUser{Name: s.name, Email: s.email, Date: s.at} }

// objectRef points at a git object.
type objectRef struct {
	SHA     string `json:"sha"`
	URL     string `json:"url"`
	HTMLURL string `json:"html_url,omitempty"`
}

// verification tells about a commit's signature; there is never one here.
type verification struct {
	Verified   bool    `json:"verified"`
	Reason     string  `json:"reason"`
	Signature  *string `json:"signature"`
	Payload    *string `json:"payload"`
	VerifiedAt *string `json:"verified_at"`
}

var unsigned = verification{Reason: "unsigned"}

// commitJSON is a commit of the commits endpoints.
type commitJSON struct {
	SHA         string      `json:"sha"`
	NodeID      string      `json:"node_id"`
	Commit      commitInner `json:"commit"`
	URL         string      `json:"url"`
	HTMLURL     string      `json:"html_url"`
	CommentsURL string      `json:"comments_url"`
	Author      any         `json:"author"`
	Committer   any         `json:"committer"`
	Parents     []objectRef `json:"parents"`
	Stats       *statsJSON  `json:"stats,omitempty"`
	Files       []fileJSON  `json:"files,omitempty"`
}

type commitInner struct {
	Author       gitUser      `json:"author"`
	Committer    gitUser      `json:"committer"`
	Message      string       `json:"message"`
	Tree         objectRef    `json:"tree"`
	URL          string       `json:"url"`
	CommentCount int          `json:"comment_count"`
	Verification verification `json:"verification"`
}

type statsJSON struct {
	Total     int `json:"total"`
	Additions int `json:"additions"`
	Deletions int `json:"deletions"`
}

func (c *call) commit(r *Repo, x commitInfo) commitJSON {
	at := c.urls.at(r)
	out := commitJSON{
		SHA: x.oid, NodeID: namedNodeID(kindCommit, r.id, x.oid), URL: at + "/commits/" + x.oid, HTMLURL: c.urls.page(r) + "/commit/" + x.oid,
		CommentsURL: at + "/commits/" + x.oid + "/comments", Author: c.account(x.author), Committer: c.account(x.committer), Parents: []objectRef{},
		Commit: commitInner{
			Author: newGitUser(x.author), Committer: newGitUser(x.committer), Message: x.message,
			Tree: objectRef{SHA: x.tree, URL: at + "/git/trees/" + x.tree}, URL: at + "/git/commits/" + x.oid, Verification: unsigned,
		},
	}
	for _, p := range x.parents {
		out.Parents = append(out.Parents, objectRef{SHA: p, URL: at + "/commits/" + p, HTMLURL: c.urls.page(r) + "/commit/" + p})
	}
	return out
}

func (c *call) commits(r *Repo, list []commitInfo) []commitJSON {
	out := make([]commitJSON, len(list))
	for i, x := range list {
		out[i] = c.commit(r, x)
	}
	return out
}

// account is the user whose address a commit carries, or an empty object.
func (c *call) account(s signature) any {
	if u := c.h.userByEmail(s.email); u != nil {
		return c.urls.user(u)
	}
	return struct{}{}
}

// gitCommitJSON is a commit of the git database endpoints.
type gitCommitJSON struct {
	SHA          string       `json:"sha"`
	NodeID       string       `json:"node_id"`
	URL          string       `json:"url"`
	HTMLURL      string       `json:"html_url"`
	Author       gitUser      `json:"author"`
	Committer    gitUser      `json:"committer"`
	Tree         objectRef    `json:"tree"`
	Message      string       `json:"message"`
	Parents      []objectRef  `json:"parents"`
	Verification verification `json:"verification"`
	Event        string       `json:"event,omitempty"` // in timelines
}

func (c *call) gitCommit(r *Repo, x commitInfo) gitCommitJSON {
	full := c.commit(r, x)
	return gitCommitJSON{
		SHA: x.oid, NodeID: full.NodeID, URL: full.Commit.URL, HTMLURL: full.HTMLURL, Author: full.Commit.Author, Committer: full.Commit.Committer,
		Tree: full.Commit.Tree, Message: x.message, Parents: full.Parents, Verification: unsigned,
	}
}

// fileJSON is one changed file.
type fileJSON struct {
	SHA              string `json:"sha"`
	Filename         string `json:"filename"`
	PreviousFilename string `json:"previous_filename,omitempty"`
	Status           string `json:"status"`
	Additions        int    `json:"additions"`
	Deletions        int    `json:"deletions"`
	Changes          int    `json:"changes"`
	BlobURL          string `json:"blob_url"`
	RawURL           string `json:"raw_url"`
	ContentsURL      string `json:"contents_url"`
	Patch            string `json:"patch,omitempty"`
}

func (c *call) files(r *Repo, commit string, list []fileDiff) []fileJSON {
	out := make([]fileJSON, len(list))
	for i, f := range list {
		path := escapePath(f.path)
		out[i] = fileJSON{
			SHA: f.oid, Filename: f.path, PreviousFilename: f.oldPath, Status: f.status, Additions: f.added, Deletions: f.deleted,
			Changes: f.added + f.deleted, BlobURL: c.urls.page(r) + "/blob/" + commit + "/" + path, RawURL: c.urls.page(r) + "/raw/" + commit + "/" + path,
			ContentsURL: c.urls.at(r) + "/contents/" + path + "?ref=" + commit, Patch: f.patch(),
		}
	}
	return out
}

func escapePath(path string) string {
	return strings.ReplaceAll(url.PathEscape(path), "%2F", "/")
}

// refJSON is a git reference.
type refJSON struct {
	Ref    string `json:"ref"`
	NodeID string `json:"node_id"`
	URL    string `json:"url"`
	Object struct {
		Type string `json:"type"`
		SHA  string `json:"sha"`
		URL  string `json:"url"`
	} `json:"object"`
}

func (c *call) ref(r *Repo, name, oid string) refJSON {
	out := refJSON{Ref: name, NodeID: namedNodeID(kindRef, r.id, name), URL: c.urls.at(r) + "/git/" + escapePath(name)}
	out.Object.Type, out.Object.SHA, out.Object.URL = "commit", oid, c.urls.at(r)+"/git/commits/"+oid
	return out
}

// contentJSON is a file or an entry of a folder.
type contentJSON struct {
	Type        string            `json:"type"`
	Encoding    string            `json:"encoding,omitempty"`
	Size        int               `json:"size"`
	Name        string            `json:"name"`
	Path        string            `json:"path"`
	Content     *string           `json:"content,omitempty"`
	SHA         string            `json:"sha"`
	URL         string            `json:"url"`
	GitURL      string            `json:"git_url"`
	HTMLURL     string            `json:"html_url"`
	DownloadURL *string           `json:"download_url"`
	Links       map[string]string `json:"_links"`
}

// content encodes an entry of the tree of ref; data is set for a file by itself.
func (c *call) content(r *Repo, ref string, e entry, data []byte) contentJSON {
	path := escapePath(e.path)
	self := c.urls.at(r) + "/contents/" + path + "?ref=" + url.QueryEscape(ref)
	out := contentJSON{Type: "file", Size: e.size, Name: e.path[strings.LastIndex(e.path, "/")+1:], Path: e.path, SHA: e.oid, URL: self}
	word := "/blob/"
	switch e.kind {
	case "tree":
		out.Type, word = "dir", "/tree/"
		out.GitURL = c.urls.at(r) + "/git/trees/" + e.oid
	case "commit":
		out.Type = "submodule"
		out.GitURL = c.urls.at(r) + "/git/trees/" + e.oid
	default:
		if e.mode == "120000" {
			out.Type = "symlink"
		}
		out.GitURL = c.urls.at(r) + "/git/blobs/" + e.oid
		raw := c.urls.page(r) + "/raw/" + ref + "/" + path
		out.DownloadURL = &raw
	}
	out.HTMLURL = c.urls.page(r) + word + ref + "/" + path
	out.Links = map[string]string{"self": self, "git": out.GitURL, "html": out.HTMLURL}
	if data != nil {
		text := wrap64(data)
		out.Content, out.Encoding = &text, "base64"
	}
	return out
}

// wrap64 is base64 in lines of 60, as GitHub sends it.
func wrap64(data []byte) string {
	text := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(text) > 60 {
		b.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	return b.String() + text + "\n"
}
