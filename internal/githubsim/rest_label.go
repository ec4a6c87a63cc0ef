package githubsim

import (
	"encoding/json"
	"slices"
	"strings"
)

var labelRoutes = []route{
	{"GET /labels", listLabels},
	{"POST /labels", createLabel},
	{"GET /labels/{name}", withLabel(getLabel)},
	{"DELETE /labels/{name}", withLabel(deleteLabel)},
	{"GET /issues/{number}/labels", withIssue(listIssueLabels)},
	{"POST /issues/{number}/labels", withIssue(addIssueLabels)},
	{"DELETE /issues/{number}/labels/{name}", withIssue(removeIssueLabel)},
}

func withLabel(fn func(*call, *label) (reply, *apiError)) endpoint {
	return func(c *call) (reply, *apiError) {
		if l := c.repo.label(c.r.PathValue("name")); l != nil {
			return fn(c, l)
		}
		return reply{}, notFound()
	}
}

func (c *call) oneLabel(l *label) labelJSON { return c.label(c.repo, l) }

func listLabels(c *call) (reply, *apiError) {
	list := slices.Clone(c.repo.labels)
	slices.SortFunc(list, func(a, b *label) int { return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return pageOf(c, list, c.oneLabel), nil
}

// labelInput is the body of making and changing a label.
type labelInput struct {
	Name        string  `json:"name"`
	NewName     string  `json:"new_name"`
	Color       string  `json:"color"`
	Description *string `json:"description"`
}

func createLabel(c *call) (reply, *apiError) {
	var in labelInput
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "triage"); e != nil {
		return reply{}, e
	}
	if in.Name == "" {
		return reply{}, missing("Label", "name")
	}
	if c.repo.label(in.Name) != nil {
		return reply{}, invalid(errorItem{Resource: "Label", Field: "name", Code: "already_exists"})
	}
	return created(c.oneLabel(c.repo.makeLabel(in.Name, in.Color, deref(in.Description)))), nil
}

// deleteLabel also removes the label from issues and pull requests.
func deleteLabel(c *call, l *label) (reply, *apiError) {
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	c.repo.dropLabel(c.viewer, l)
	return noContent(), nil
}

func getLabel(c *call, l *label) (reply, *apiError) { return ok(c.oneLabel(l)), nil }

func listIssueLabels(c *call, is *issue) (reply, *apiError) {
	return pageOf(c, is.labels, c.oneLabel), nil
}

// labelNames reads every form that the labels endpoints take: a list of names or of objects, bare
// or under "labels".
func (c *call) labelNames() ([]string, *apiError) {
	var wrapped struct{ Labels json.RawMessage }
	raw := json.RawMessage(c.body)
	if json.Unmarshal(c.body, &wrapped) == nil && wrapped.Labels != nil {
		raw = wrapped.Labels
	}
	var names []string
	if json.Unmarshal(raw, &names) == nil {
		return names, nil
	}
	var objects []struct{ Name string }
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, refusal(400, "Problems parsing JSON")
	}
	names = make([]string, len(objects)) // the failed reading left something in it
	for i, o := range objects {
		names[i] = o.Name
	}
	return names, nil
}

// changeLabels is the frame of the endpoints that change an issue's labels.
func (c *call) changeLabels(is *issue, change func(names []string)) (reply, *apiError) {
	names, e := c.labelNames()
	if e != nil {
		return reply{}, e
	}
	if e := c.repo.need(c.viewer, "triage"); e != nil {
		return reply{}, e
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == "" }) {
		return reply{}, invalid(errorItem{Resource: "Label", Field: "name", Code: "missing_field"})
	}
	change(names)
	return ok(c.labels(c.repo, is.labels)), nil
}

func addIssueLabels(c *call, is *issue) (reply, *apiError) {
	return c.changeLabels(is, func(names []string) { c.repo.setLabels(c.viewer, is, names, nil) })
}

func removeIssueLabel(c *call, is *issue) (reply, *apiError) {
	if e := c.repo.need(c.viewer, "triage"); e != nil {
		return reply{}, e
	}
	name := c.r.PathValue("name")
	if !is.hasLabels(name) {
		return reply{}, refusal(404, "Label does not exist")
	}
	c.repo.setLabels(c.viewer, is, nil, []string{name})
	return ok(c.labels(c.repo, is.labels)), nil
}
