package demo

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// node is a node of a roadmap, and what the scripted agent does about it.
type node struct {
	id, title          string
	needs              []string
	goal, scope, tests string
	edits              []edit
	file, text         string // a new file
}

// roadmapAnswer is the answer with a roadmap's document.
func roadmapAnswer(title, goal string, list []node) map[string]any {
	var nodes []any
	for _, n := range list {
		said := cmp.Or(n.goal, n.title+".")
		nodes = append(nodes, map[string]any{
			"id": n.id, "title": n.title, "flow": work.FlowSmallJob, "needs": append([]string{}, n.needs...), "issue": nil,
			"goal": said, "scope": cmp.Or(n.scope, "The whole repository."), "acceptance": "- " + said, "tests": cmp.Or(n.tests, "None."),
		})
	}
	return map[string]any{"title": title, "goal": goal, "nodes": nodes, "decision_summary": "Each part is one pull request.", "blocked_reason": nil}
}

// doNode does what a node's issue asks for.
func doNode(req request, dir string) (map[string]any, error) {
	for _, n := range farewell {
		if n.title != req.Context.Task.Issue.Title {
			continue
		}
		var errs []error
		if n.file != "" {
			errs = append(errs, os.WriteFile(filepath.Join(dir, n.file), []byte(n.text), 0o644))
		}
		for _, e := range n.edits {
			errs = append(errs, e.apply(dir))
		}
		return started(n.title, n.goal), errors.Join(errs...)
	}
	return nil, fmt.Errorf("the demo's agent does not know %q", req.Context.Task.Issue.Title)
}
