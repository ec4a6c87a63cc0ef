package githubsim

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// contract is GitHub's OpenAPI description, and which of its operations were checked.
type contract struct {
	ops  []*operation
	seen map[string][]int // statuses, by "METHOD template"
	// excused are the entries of undocumented that were needed.
	excused map[string]bool
}

type operation struct {
	name    string // METHOD template
	method  string
	path    *regexp.Regexp
	literal int
	op      *openapi3.Operation
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// long are the parameters that may hold slashes.
var long = []string{"ref", "path", "branch", "basehead"}

func newContract(t *testing.T) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(sharedFolder(t), "rest-subset.openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &contract{seen: map[string][]int{}, excused: map[string]bool{}}
	for template, item := range doc.Paths.Map() {
		pattern := pathParameter.ReplaceAllStringFunc(template, func(p string) string {
			if slices.Contains(long, strings.Trim(p, "{}")) {
				return ".+"
			}
			return "[^/]+"
		})
		for method, op := range item.Operations() {
			c.ops = append(c.ops, &operation{
				name: method + " " + template, method: method, path: regexp.MustCompile("^" + pattern + "$"),
				literal: len(pathParameter.ReplaceAllString(template, "")), op: op,
			})
		}
	}
	// The more of a path is literal, the better it matches: /issues/comments before
	// /issues/{number}.
	slices.SortFunc(c.ops, func(a, b *operation) int { return b.literal - a.literal })
	return c
}

// find is the operation that a request is about.
func (c *contract) find(method, path string) *operation {
	for _, o := range c.ops {
		if o.method == method && o.path.MatchString(path) {
			return o
		}
	}
	return nil
}

// undocumented are answers that GitHub gives and its description leaves out.
var undocumented = map[string][]int{
	// Any repository may have moved.
	"*": {http.StatusMovedPermanently, http.StatusUnauthorized},
	// What is not there, or may not be seen, is a 404 everywhere.
	"POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions":            {http.StatusNotFound},
	"POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions":             {http.StatusNotFound},
	"POST /repos/{owner}/{repo}/issues/{issue_number}/reactions":                   {http.StatusNotFound},
	"DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}":                    {http.StatusNotFound},
	"GET /repos/{owner}/{repo}/pulls":                                              {http.StatusNotFound},
	"POST /repos/{owner}/{repo}/pulls":                                             {http.StatusNotFound},
	"POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies": {http.StatusUnprocessableEntity},
	// Deleting a ref takes write permission.
	"DELETE /repos/{owner}/{repo}/git/refs/{ref}": {http.StatusForbidden},
	// Setting a status takes write permission, and a state that there is.
	"POST /repos/{owner}/{repo}/statuses/{sha}": {http.StatusForbidden, http.StatusUnprocessableEntity},
}

// check compares an answer with the description.
func (c *contract) check(t *testing.T, method, path string, status int, body string) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	o := c.find(method, path)
	if o == nil {
		t.Errorf("%s %s: GitHub describes no such operation", method, path)
		return
	}
	c.seen[o.name] = append(c.seen[o.name], status)
	documented := o.op.Responses.Status(status)
	if documented == nil {
		for _, name := range []string{o.name, "*"} {
			if slices.Contains(undocumented[name], status) {
				c.excused[name] = true
				return
			}
		}
		t.Errorf("%s: GitHub describes no status %d", o.name, status)
		return
	}
	media := documented.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		if status < http.StatusBadRequest && status != http.StatusMovedPermanently && strings.TrimSpace(body) != "" {
			t.Errorf("%s: %d has a body: %.80s", o.name, status, body)
		}
		return
	}
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Errorf("%s: %d: %v", o.name, status, err)
		return
	}
	if err := media.Schema.Value.VisitJSON(v, openapi3.VisitAsResponse(), openapi3.MultiErrors(), reasons); err != nil && !knownGap(err) {
		t.Errorf("%s: %d: %v", o.name, status, err)
	}
}

// gaps are fields that GitHub sends as null although its description has them otherwise: the head
// of a deleted fork (rest-api-description#161), and the place of an outdated review comment.
var gaps = []string{"head/repo", "head/user", "head/label", "line", "position", "start_line"}

func knownGap(err error) bool {
	errs, ok := err.(openapi3.MultiError) //nolint:errorlint // as the library returns it
	if !ok {
		return false
	}
	for _, e := range errs {
		s, ok := e.(*openapi3.SchemaError) //nolint:errorlint // as the library returns it
		if !ok || s.Value != nil {
			return false
		}
		at := "/" + strings.Join(s.JSONPointer(), "/")
		if !slices.ContainsFunc(gaps, func(gap string) bool { return strings.HasSuffix(at, "/"+gap) }) {
			return false
		}
	}
	return true
}

// reasons are errors without the schemas that they are about.
var reasons = openapi3.SetSchemaErrorMessageCustomizer(func(e *openapi3.SchemaError) string {
	text := "/" + strings.Join(e.JSONPointer(), "/") + ": " + e.Reason
	if e.Origin != nil {
		text += " (" + e.Origin.Error() + ")"
	}
	return text
})

// used are the operations that the client sends; the check below must have seen each of them
// succeed.
var used = []string{
	"GET /user", "GET /repos/{owner}/{repo}", "GET /repos/{owner}/{repo}/issues", "GET /repos/{owner}/{repo}/issues/comments",
	"GET /repos/{owner}/{repo}/pulls/comments", "GET /repos/{owner}/{repo}/issues/{issue_number}",
	"PATCH /repos/{owner}/{repo}/issues/{issue_number}",
	"GET /repos/{owner}/{repo}/issues/{issue_number}/comments", "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments",
	"GET /repos/{owner}/{repo}/issues/{issue_number}/timeline", "GET /repos/{owner}/{repo}/pulls/{pull_number}",
	"GET /repos/{owner}/{repo}/pulls", "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
	"GET /repos/{owner}/{repo}/collaborators/{username}/permission", "GET /repos/{owner}/{repo}/issues/comments/{comment_id}",
	"GET /repos/{owner}/{repo}/pulls/comments/{comment_id}", "GET /repos/{owner}/{repo}/git/ref/{ref}",
	"POST /repos/{owner}/{repo}/issues/{issue_number}/comments", "POST /repos/{owner}/{repo}/pulls",
	"POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies",
	"POST /repos/{owner}/{repo}/issues/{issue_number}/reactions", "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
	"POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions", "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
	"DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}", "DELETE /repos/{owner}/{repo}/pulls/comments/{comment_id}",
	"POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews", "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}",
	"PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals",
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments",
	"GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
	"PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge", "PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch",
	"DELETE /repos/{owner}/{repo}/git/refs/{ref}", "GET /repos/{owner}/{repo}/rules/branches/{branch}",
	"GET /repos/{owner}/{repo}/branches/{branch}", "GET /repos/{owner}/{repo}/branches/{branch}/protection",
	"POST /repos/{owner}/{repo}/statuses/{sha}", "GET /repos/{owner}/{repo}/commits/{ref}/status",
}

// missed lists operations of used that no success was seen of.
func (c *contract) missed() []string {
	var out []string
	for _, name := range used {
		if !slices.ContainsFunc(c.seen[name], func(s int) bool { return s >= 200 && s < 300 }) {
			out = append(out, name)
		}
	}
	return out
}
