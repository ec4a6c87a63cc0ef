package work

import "testing"

func TestFilesWithOrders(t *testing.T) {
	for _, c := range []struct {
		file  string
		flow  Flow
		issue int
		want  bool
	}{
		{"docs/design/12-oil.md", FlowBugfix, 3, true},
		{"docs/design/12-oil.md", FlowBugfix, 12, true}, // the number of an issue whose flow has no design
		{"docs/design/12-oil.md", FlowDesign, 12, false},
		{"docs/design/12-oil.md", FlowImplementation, 12, false},
		{"docs/design/12-oil.md", FlowRoadmap, 12, true},
		{"docs/design/12-oil.md", FlowDesign, 1, true},
		{"Docs/Design/12-Oil.MD", FlowDesign, 12, true}, // the same file where case does not count
		{"docs/design/notes.md", FlowBugfix, 3, false},
		{"docs/design/12-oil.png", FlowBugfix, 3, false},
		{"docs/roadmap/7-lock.md", FlowRoadmap, 7, false},
		{"docs/roadmap/7-lock.md", FlowRoadmap, 8, true},
		{"docs/roadmap/7-lock.md", FlowImplementation, 7, true},
		{"docs/roadmap", FlowBugfix, 3, true}, // a link to other documents
		{"docs", FlowBugfix, 3, true},
		{".specify/specs/1-oil/plan.md", FlowImplementation, 1, true},
		{".specify", FlowBugfix, 3, true},
		{".commitlintrc.json", FlowBugfix, 3, true},
		{"commitlint.config.js", FlowBugfix, 3, true},
		{"docs/commitlint.config.js", FlowBugfix, 3, false}, // no prompt has it
		{".github/renovate.json", FlowBugfix, 3, true},
		{"sub/.specify/plan.md", FlowBugfix, 3, false},
		{"pull_request_template.md", FlowBugfix, 3, true},
		{"docs/PULL_REQUEST_TEMPLATE/fix.md", FlowBugfix, 3, true},
		{".github/pull_request_template.txt", FlowBugfix, 3, true},
		{"sub/pull_request_template.md", FlowBugfix, 3, false},
		{".github/ISSUE_TEMPLATE/bug.yml", FlowBugfix, 3, true},
		{".github/issue_template/config.yml", FlowBugfix, 3, true},
		{".github", FlowBugfix, 3, true},
		{".mergify.yml", FlowBugfix, 3, true},
		{".mergify/config.yml", FlowBugfix, 3, true},
		{".github/mergify.yml", FlowBugfix, 3, true},
		{".github/settings.yml", FlowBugfix, 3, true},
		{".asf.yaml", FlowBugfix, 3, true},
		{"OWNERS", FlowBugfix, 3, true},
		{"pkg/api/OWNERS", FlowBugfix, 3, true},
		{"CODEOWNERS", FlowBugfix, 3, true},
		{"docs/CODEOWNERS", FlowBugfix, 3, true},
		{".github/CODEOWNERS", FlowBugfix, 3, true},
		{"pkg/CODEOWNERS", FlowBugfix, 3, false}, // GitHub does not read it there
		{"main.go", FlowBugfix, 3, false},
		{".github/FUNDING.yml", FlowBugfix, 3, false},
		{"docs/owners.md", FlowBugfix, 3, false},
	} {
		if got := TakesOrders(c.file, c.flow, c.issue); got != c.want {
			t.Errorf("%s in the %s of #%d: %v, want %v", c.file, c.flow, c.issue, got, c.want)
		}
	}
}
