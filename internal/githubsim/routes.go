package githubsim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// route is a method with a path and what answers it. In the tables that are about one repository
// the path is what comes below it. {name} stands for one segment ({number}, {id}, {review} and
// {reaction} for digits only), {name...} for one or more.
type route struct {
	pattern string
	fn      endpoint
}

// repoTables are the routes below a repository.
func repoTables() []route {
	return slices.Concat(repoRoutes, issueRoutes, dependencyRoutes, subIssueRoutes, commentRoutes, labelRoutes, reactionRoutes, pullRoutes, mergeRoutes, reviewRoutes, diffCommentRoutes, checkRoutes, branchRoutes, workflowRoutes, releaseRoutes, gitRoutes)
}

// router finds the endpoint of a request.
type router struct {
	account []parsedRoute
	repo    []parsedRoute
}

// parsedRoute is a route taken apart.
type parsedRoute struct {
	method   string
	segments []string
	literals int
	fn       endpoint
}

func newRouter() *router {
	return &router{account: parse(accountRoutes), repo: parse(repoTables())}
}

// parse takes routes apart and puts those with more literal segments first.
func parse(table []route) []parsedRoute {
	out := make([]parsedRoute, len(table))
	for i, r := range table {
		method, path, _ := strings.Cut(r.pattern, " ")
		p := parsedRoute{method: method, segments: split(path), fn: r.fn}
		for _, s := range p.segments {
			if !strings.HasPrefix(s, "{") {
				p.literals++
			}
		}
		out[i] = p
	}
	slices.SortStableFunc(out, func(a, b parsedRoute) int { return b.literals - a.literals })
	return out
}

// split gives the segments of an escaped path.
func split(path string) []string {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// find gives the endpoint and sets the request's path values; unknownRoute when there is none.
func (rt *router) find(r *http.Request) endpoint {
	segments := split(r.URL.EscapedPath())
	table, wrap := rt.account, func(fn endpoint) endpoint { return fn }
	switch {
	case len(segments) >= 3 && segments[0] == "repos":
		r.SetPathValue("owner", unescape(segments[1]))
		r.SetPathValue("repo", unescape(segments[2]))
		table, wrap, segments = rt.repo, withRepo, segments[3:]
	case len(segments) >= 2 && segments[0] == "repositories" && isNumber(segments[1]):
		r.SetPathValue("repository_id", segments[1])
		table, wrap, segments = rt.repo, withRepo, segments[2:]
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, p := range table {
		if values, ok := p.match(segments); ok && p.method == method {
			for name, v := range values {
				r.SetPathValue(name, v)
			}
			return wrap(p.fn)
		}
	}
	return unknownRoute
}

// match compares the segments of a path with the route's.
func (p parsedRoute) match(path []string) (map[string]string, bool) {
	values := map[string]string{}
	for i, s := range p.segments {
		name, isVar := strings.CutPrefix(s, "{")
		name = strings.TrimSuffix(name, "}")
		if many, ok := strings.CutSuffix(name, "..."); ok && isVar {
			take := len(path) - (len(p.segments) - i - 1)
			if take < 1 {
				return nil, false
			}
			values[many] = unescape(strings.Join(path[:take], "/"))
			path = path[take:]
			continue
		}
		if len(path) == 0 {
			return nil, false
		}
		switch {
		case isVar && slices.Contains(numeric, name) && !isNumber(path[0]), !isVar && s != path[0]:
			return nil, false
		case isVar:
			values[name] = unescape(path[0])
		}
		path = path[1:]
	}
	return values, len(path) == 0
}

// numeric are the variables that stand for digits only.
var numeric = []string{"number", "id", "review", "reaction"}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}

// unknownRoute records what we do not answer, so that no test passes by a made-up answer.
func unknownRoute(c *call) (reply, *apiError) {
	c.h.unknown = append(c.h.unknown, c.r.Method+" "+c.r.URL.Path)
	return refusal(http.StatusNotImplemented, "githubsim: no handler for "+c.r.Method+" "+c.r.URL.Path).reply(), nil
}
