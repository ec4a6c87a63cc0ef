package githubsim

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release is what a repository has published under a tag.
type release struct {
	id        int64
	nodeID    string
	tag       string
	published time.Time
	assets    []*asset
}

// asset is one of its files.
type asset struct {
	id     int64
	nodeID string
	name   string
	text   []byte
}

// Publish makes a release of files by name; it is the latest one.
func (r *Repo) Publish(tag string, files map[string][]byte) {
	defer r.hub.enter()()
	made := &release{tag: tag, published: r.hub.now()}
	made.id, made.nodeID = r.hub.newID(kindRelease)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		a := &asset{name: name, text: files[name]}
		a.id, a.nodeID = r.hub.newID(kindAsset)
		made.assets = append(made.assets, a)
	}
	r.releases = append(r.releases, made)
}

var releaseRoutes = []route{
	{"GET /releases", func(c *call) (reply, *apiError) {
		list := slices.Clone(c.repo.releases)
		slices.Reverse(list)
		return pageOf(c, list, c.release), nil
	}},
	{"GET /releases/latest", func(c *call) (reply, *apiError) {
		if n := len(c.repo.releases); n > 0 {
			return ok(c.release(c.repo.releases[n-1])), nil
		}
		return reply{}, notFound()
	}},
	{"GET /releases/tags/{tag}", func(c *call) (reply, *apiError) {
		for _, r := range c.repo.releases {
			if r.tag == c.r.PathValue("tag") {
				return ok(c.release(r)), nil
			}
		}
		return reply{}, notFound()
	}},
	{"GET /releases/assets/{id}", getAsset},
}

// getAsset gives a file to who asks for its bytes, and else what is known of it.
func getAsset(c *call) (reply, *apiError) {
	for _, r := range c.repo.releases {
		for _, a := range r.assets {
			switch {
			case strconv.FormatInt(a.id, 10) != c.r.PathValue("id"):
			case strings.Contains(c.r.Header.Get("Accept"), "application/octet-stream"):
				return reply{status: http.StatusOK, text: string(a.text)}, nil
			default:
				return ok(c.asset(r, a)), nil
			}
		}
	}
	return reply{}, notFound()
}

// releaseJSON is a release.
type releaseJSON struct {
	URL         string      `json:"url"`
	HTMLURL     string      `json:"html_url"`
	AssetsURL   string      `json:"assets_url"`
	UploadURL   string      `json:"upload_url"`
	TarballURL  string      `json:"tarball_url"`
	ZipballURL  string      `json:"zipball_url"`
	ID          int64       `json:"id"`
	NodeID      string      `json:"node_id"`
	TagName     string      `json:"tag_name"`
	Commitish   string      `json:"target_commitish"`
	Name        string      `json:"name"`
	Body        string      `json:"body"`
	Draft       bool        `json:"draft"`
	Prerelease  bool        `json:"prerelease"`
	CreatedAt   time.Time   `json:"created_at"`
	PublishedAt time.Time   `json:"published_at"`
	Author      *simpleUser `json:"author"`
	Assets      []assetJSON `json:"assets"`
}

// assetJSON is a file of a release.
type assetJSON struct {
	URL           string      `json:"url"`
	DownloadURL   string      `json:"browser_download_url"`
	ID            int64       `json:"id"`
	NodeID        string      `json:"node_id"`
	Name          string      `json:"name"`
	Label         *string     `json:"label"`
	State         string      `json:"state"`
	ContentType   string      `json:"content_type"`
	Size          int         `json:"size"`
	DownloadCount int         `json:"download_count"`
	CreatedAt     time.Time   `json:"created_at"`
	UpdatedAt     time.Time   `json:"updated_at"`
	Uploader      *simpleUser `json:"uploader"`
}

func (c *call) release(r *release) releaseJSON {
	at := c.urls.at(c.repo)
	id := strconv.FormatInt(r.id, 10)
	out := releaseJSON{
		URL: at + "/releases/" + id, HTMLURL: c.urls.page(c.repo) + "/releases/tag/" + r.tag, AssetsURL: at + "/releases/" + id + "/assets",
		UploadURL: at + "/releases/" + id + "/assets{?name,label}", TarballURL: at + "/tarball/" + r.tag, ZipballURL: at + "/zipball/" + r.tag,
		ID: r.id, NodeID: r.nodeID, TagName: r.tag, Commitish: c.repo.defaultBranch, Name: r.tag, CreatedAt: r.published, PublishedAt: r.published,
		Author: c.urls.user(c.repo.owner), Assets: []assetJSON{},
	}
	for _, a := range r.assets {
		out.Assets = append(out.Assets, c.asset(r, a))
	}
	return out
}

func (c *call) asset(r *release, a *asset) assetJSON {
	return assetJSON{
		URL: c.urls.at(c.repo) + "/releases/assets/" + strconv.FormatInt(a.id, 10), DownloadURL: c.urls.page(c.repo) + "/releases/download/" + r.tag + "/" + a.name,
		ID: a.id, NodeID: a.nodeID, Name: a.name, State: "uploaded", ContentType: "application/octet-stream", Size: len(a.text),
		CreatedAt: r.published, UpdatedAt: r.published, Uploader: c.urls.user(c.repo.owner),
	}
}
