package githubsim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// reply is what an endpoint answers.
type reply struct {
	status int
	body   any    // encoded as JSON; nil for none
	text   string // sent as it is, in place of body
	header http.Header
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

func created(body any) reply { return reply{status: http.StatusCreated, body: body} }

func noContent() reply { return reply{status: http.StatusNoContent} }

const docURL = "https://docs.github.com/rest"

// errorBody is the JSON of a refusal.
type errorBody struct {
	Message          string `json:"message"`
	Errors           any    `json:"errors,omitempty"`
	URL              string `json:"url,omitempty"`
	DocumentationURL string `json:"documentation_url"`
	Status           string `json:"status,omitempty"`
}

func (e *apiError) reply() reply {
	b := errorBody{Message: e.message, DocumentationURL: docURL, Status: strconv.Itoa(e.status)}
	switch {
	case len(e.items) > 0:
		b.Errors = e.items
	case len(e.texts) > 0:
		b.Errors = e.texts
	}
	return reply{status: e.status, body: b}
}

// write puts a reply into the answer.
func (a *answer) write(r reply) {
	maps.Copy(a.header, r.header)
	a.status = r.status
	a.body.Reset()
	a.header.Set("X-GitHub-Media-Type", "github.v3; format=json")
	if r.text != "" {
		a.header.Set("Content-Type", "text/plain; charset=utf-8")
		a.body.WriteString(r.text)
	}
	if r.body == nil {
		return
	}
	a.header.Set("Content-Type", "application/json; charset=utf-8")
	enc := json.NewEncoder(&a.body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.body); err != nil {
		a.status = http.StatusInternalServerError
		a.body.Reset()
		fmt.Fprintf(&a.body, `{"message":%q}`, err.Error())
		return
	}
	if b := bytes.TrimRight(a.body.Bytes(), "\n"); len(b) < a.body.Len() {
		a.body.Truncate(len(b))
	}
}

// conditional sets the validator of a 200 to GET, and turns it into a 304 when the client has it
// already.
func (a *answer) conditional(r *http.Request) (notModified bool) {
	if (r.Method != http.MethodGet && r.Method != http.MethodHead) || a.status != http.StatusOK {
		return false
	}
	tag := etag(r, a.body.Bytes())
	a.header.Set("Etag", tag)
	a.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	a.header.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP")
	for sent := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(sent), "W/") == strings.TrimPrefix(tag, "W/") {
			a.status = http.StatusNotModified
			a.body.Reset()
			a.header.Del("Content-Type")
			a.header.Del("Link")
			return true
		}
	}
	return false
}

// etag is GitHub's, as far as it was found out: over the headers that the answer varies with, and
// the body.
func etag(r *http.Request, body []byte) string {
	sum := sha256.New()
	for _, name := range []string{"Accept", "Authorization", "Cookie"} {
		if v := r.Header.Get(name); v != "" {
			sum.Write([]byte(v + ":"))
		}
	}
	sum.Write(body)
	return `W/"` + hex.EncodeToString(sum.Sum(nil)) + `"`
}

// endpoint answers a call. Below a repository c.repo is set and readable by the viewer.
type endpoint func(c *call) (reply, *apiError)

// run calls the endpoint; writing takes a token.
func (c *call) run(fn endpoint) reply {
	if c.viewer == nil && c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return refusal(http.StatusUnauthorized, "Requires authentication").reply()
	}
	out, e := fn(c)
	if e != nil {
		return e.reply()
	}
	return out
}

// withRepo finds the repository of the path for an endpoint below it.
func withRepo(fn endpoint) endpoint {
	return func(c *call) (reply, *apiError) {
		name := c.r.PathValue("owner") + "/" + c.r.PathValue("repo")
		if id := c.r.PathValue("repository_id"); id != "" {
			c.repo = c.h.repoByID(id)
		} else {
			c.repo = c.h.repo(name)
		}
		if c.repo == nil || !c.repo.can(c.viewer, "read") || c.viewer != nil && !c.viewer.token.reaches(c.repo, "read") {
			return reply{}, notFound()
		}
		if c.shutOut(c.repo) {
			return reply{}, refusal(http.StatusForbidden, samlMessage)
		}
		if name != "/" && !strings.EqualFold(name, c.repo.fullName()) {
			return c.moved(), nil
		}
		return fn(c)
	}
}

func (h *Hub) repoByID(id string) *Repo {
	for _, r := range h.repos {
		if strconv.FormatInt(r.id, 10) == id {
			return r
		}
	}
	return nil
}

// decode reads the request's JSON into v.
func (c *call) decode(v any) *apiError {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, v); err != nil {
		return refusal(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// number is a numeric part of the path; 0, which names nothing, when it is no number.
func (c *call) number(name string) int64 {
	n, err := strconv.ParseInt(c.r.PathValue(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
