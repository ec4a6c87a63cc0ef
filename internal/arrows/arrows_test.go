// Package arrows holds the picture of who imports whom against the code.
package arrows

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mergexo/gh-mergexo/"

// arrows are all imports of the project's own packages outside tests. A new one is
// drawn here, in .golangci.yml and in docs/design.md, or it is not made.
var arrows = map[string]string{
	"actions":                   "internal/ahead internal/git internal/github internal/work internal/work/merging internal/work/origin internal/work/review store",
	"cmd":                       "cmd/about cmd/cli cmd/complete cmd/config cmd/doctor cmd/logs cmd/machine cmd/notify cmd/report cmd/schedule cmd/setup cmd/show cmd/stops cmd/watch internal/config internal/config/environ internal/demo internal/github internal/proc internal/shard internal/terminal internal/work internal/work/command internal/work/merging store tick tick/env tick/folder tick/plan",
	"cmd/about":                 "cmd/cli cmd/looks cmd/machine internal/config internal/proc internal/terminal internal/work internal/work/explain internal/work/merging internal/work/review prompts store tick tick/brief tick/env",
	"cmd/cli":                   "cmd/machine internal/config internal/config/environ internal/github internal/shard internal/terminal internal/work internal/work/nearest prompts/secrets tick/env tick/folder",
	"cmd/complete":              "cmd/cli cmd/looks cmd/machine internal/config internal/terminal prompts store",
	"cmd/config":                "cmd/cli cmd/machine internal/config internal/config/doubts internal/config/schema internal/terminal prompts",
	"cmd/doctor":                "cmd/cli cmd/looks cmd/machine cmd/schedule internal/config internal/config/doubts internal/doctor internal/github internal/terminal internal/work internal/work/explain internal/work/news store tick/folder tick/snapshot",
	"cmd/gh-mergexo":            "cmd",
	"cmd/live":                  "internal/terminal internal/work store tick/folder",
	"cmd/logs":                  "cmd/cli internal/config internal/terminal internal/work",
	"cmd/looks":                 "cmd/cli internal/config internal/shard internal/terminal internal/work internal/work/explain internal/work/firstlook store tick/folder tick/ingest/pulse",
	"cmd/machine":               "internal/agent internal/agent/claude internal/agent/codex internal/agent/command internal/config internal/config/doubts internal/config/environ internal/doctor internal/files internal/git internal/github internal/github/adoption internal/metrics internal/notify internal/proc internal/sandbox internal/shard internal/telemetry internal/terminal internal/work internal/work/explain prompts prompts/secrets store tick tick/env tick/folder tick/notify tick/observe",
	"cmd/notify":                "cmd/cli cmd/machine internal/config internal/notify internal/terminal internal/work internal/work/nearest internal/work/news store",
	"cmd/reference":             "cmd/cli",
	"cmd/reference/gen":         "cmd cmd/reference",
	"cmd/report":                "cmd/cli cmd/machine cmd/status internal/config internal/config/environ internal/files internal/proc internal/report internal/terminal internal/work store",
	"cmd/schedule":              "cmd/cli cmd/machine internal/config internal/config/environ internal/files internal/github internal/proc internal/schedule internal/shard internal/terminal internal/work store tick/env tick/folder",
	"cmd/setup":                 "cmd/cli cmd/doctor cmd/machine cmd/schedule internal/config internal/config/edit internal/config/environ internal/doctor internal/files internal/github internal/proc internal/schedule internal/terminal internal/work internal/work/merging internal/work/nearest",
	"cmd/show":                  "cmd/cli cmd/logs cmd/machine cmd/status internal/config internal/git internal/terminal internal/work store",
	"cmd/status":                "cmd/cli cmd/live cmd/looks cmd/stops internal/config internal/terminal internal/work internal/work/explain internal/work/merging internal/work/news internal/work/review internal/work/spending internal/work/standing store tick/env tick/folder tick/known tick/plan tick/snapshot",
	"cmd/stops":                 "internal/terminal internal/work/explain internal/work/merging tick/folder",
	"cmd/watch":                 "cmd/cli cmd/doctor cmd/live cmd/looks cmd/machine cmd/status internal/config internal/config/environ internal/terminal store tick/env",
	"internal/agent":            "internal/files internal/proc internal/work internal/work/spending",
	"internal/agent/claude":     "internal/agent internal/proc internal/work internal/work/spending",
	"internal/agent/codex":      "internal/agent internal/files internal/proc internal/work internal/work/spending",
	"internal/agent/command":    "internal/agent internal/proc internal/work internal/work/spending",
	"internal/ahead":            "",
	"internal/arrows":           "",
	"internal/bench":            "",
	"internal/bench/bare":       "",
	"internal/config":           "internal/config/document internal/config/environ internal/lazy internal/work internal/work/merging internal/work/nearest internal/work/news internal/work/review internal/work/score internal/work/spending",
	"internal/config/document":  "internal/work internal/work/nearest",
	"internal/config/doubts":    "internal/config internal/work",
	"internal/config/edit":      "",
	"internal/config/environ":   "",
	"internal/config/schema":    "internal/config internal/config/document internal/work internal/work/merging internal/work/news internal/work/review",
	"internal/crashtest":        "",
	"internal/demo":             "internal/config/environ internal/git internal/githubsim internal/proc internal/terminal internal/work internal/work/review prompts",
	"internal/doctor":           "internal/work internal/work/merging",
	"internal/files":            "",
	"internal/git":              "internal/files internal/git/gate internal/git/hold internal/git/landing internal/git/mirror internal/git/objects internal/git/plumbing internal/git/push internal/work internal/work/origin",
	"internal/git/gate":         "internal/files internal/git/mirror internal/git/objects internal/git/plumbing internal/proc",
	"internal/git/hold":         "internal/git/mirror internal/git/plumbing",
	"internal/git/landing":      "internal/git/mirror internal/git/plumbing",
	"internal/git/mirror":       "internal/files internal/git/objects internal/git/plumbing",
	"internal/git/objects":      "internal/git/plumbing internal/proc",
	"internal/git/plumbing":     "internal/proc",
	"internal/git/push":         "internal/git/mirror internal/git/plumbing",
	"internal/github":           "internal/github/access internal/github/labels internal/github/merges internal/github/pulse internal/github/queries internal/github/runs internal/github/sweep internal/github/transport internal/github/trouble internal/work internal/work/origin",
	"internal/github/access":    "internal/github/transport internal/work internal/work/merging",
	"internal/github/adoption":  "internal/github internal/github/queries internal/github/transport internal/work internal/work/origin",
	"internal/github/labels":    "internal/github/transport internal/work",
	"internal/github/merges":    "internal/github/queries internal/github/transport internal/work internal/work/merging",
	"internal/github/pulse":     "internal/github/queries internal/github/transport internal/work",
	"internal/github/queries":   "",
	"internal/github/runs":      "internal/github/transport internal/work",
	"internal/github/sweep":     "internal/github/queries internal/github/transport internal/work internal/work/review",
	"internal/github/transport": "internal/ahead internal/resume internal/work internal/work/counts",
	"internal/github/trouble":   "internal/github/transport",
	"internal/githubsim":        "",
	"internal/hubscript":        "internal/githubsim",
	"internal/lazy":             "",
	"internal/metrics":          "internal/work internal/work/counts",
	"internal/modelsim":         "",
	"internal/notify":           "internal/proc",
	"internal/proc":             "",
	"internal/report":           "internal/report/chart internal/work internal/work/outcome internal/work/review store",
	"internal/report/chart":     "",
	"internal/resume":           "",
	"internal/sandbox":          "internal/proc internal/work",
	"internal/schedule":         "internal/files internal/proc",
	"internal/screenshots":      "",
	"internal/shard":            "",
	"internal/story":            "",
	"internal/telemetry":        "",
	"internal/terminal":         "",
	"internal/testdb":           "internal/testhome store",
	"internal/testhome":         "",
	"internal/work":             "internal/lazy",
	"internal/work/command":     "internal/lazy internal/work internal/work/nearest",
	"internal/work/counts":      "internal/work",
	"internal/work/explain":     "internal/work internal/work/command",
	"internal/work/merging":     "internal/work internal/work/review",
	"internal/work/firstlook":   "",
	"internal/work/nearest":     "",
	"internal/work/news":        "internal/work internal/work/explain internal/work/review",
	"internal/work/origin":      "internal/lazy internal/work",
	"internal/work/outcome":     "internal/work",
	"internal/work/review":      "internal/work",
	"internal/work/reviewing":   "internal/work internal/work/review",
	"internal/work/rewritten":   "internal/lazy internal/work internal/work/command internal/work/explain",
	"internal/work/score":       "",
	"internal/work/spending":    "internal/work",
	"internal/work/standing":    "internal/work internal/work/command internal/work/explain",
	"prompts":                   "internal/lazy internal/work internal/work/review prompts/document prompts/public prompts/secrets",
	"prompts/document":          "internal/lazy internal/work prompts/public",
	"prompts/public":            "internal/lazy internal/work",
	"prompts/secrets":           "internal/lazy",
	"store":                     "internal/work store/busy store/dbfile store/light store/merges store/passes store/repos store/reviews store/rows store/shares store/told store/totals",
	"store/busy":                "internal/work internal/work/firstlook internal/work/review store/rows",
	"store/dbfile":              "",
	"store/light":               "internal/work store/rows",
	"store/merges":              "internal/work internal/work/merging internal/work/review store/rows",
	"store/passes":              "internal/work internal/work/counts store/rows",
	"store/repos":               "internal/work store/rows",
	"store/reviews":             "internal/work internal/work/review store/rows",
	"store/rows":                "internal/work",
	"store/shares":              "internal/work store/rows",
	"store/told":                "internal/work internal/work/news store/rows",
	"store/totals":              "internal/work internal/work/outcome store/rows",
	"tick":                      "internal/github internal/shard internal/work internal/work/command internal/work/explain internal/work/merging internal/work/review internal/work/reviewing prompts store tick/env tick/folder tick/ingest tick/known tick/merge tick/notice tick/notify tick/observe tick/plan tick/recheck tick/share tick/snapshot tick/turn",
	"tick/agentrun":             "internal/agent internal/config internal/git internal/telemetry internal/work prompts prompts/document store tick/brief tick/compose tick/env tick/folder tick/recheck tick/restore",
	"tick/brief":                "internal/config internal/github internal/lazy internal/work internal/work/explain internal/work/merging internal/work/review prompts store tick/compose tick/env",
	"tick/compose":              "internal/work internal/work/origin internal/work/review prompts prompts/public store tick/env",
	"tick/env":                  "actions internal/agent internal/ahead internal/config internal/git internal/github internal/github/adoption internal/shard internal/telemetry internal/work internal/work/counts internal/work/explain internal/work/merging internal/work/origin internal/work/review internal/work/spending prompts prompts/secrets store tick/folder",
	"tick/folder":               "internal/files internal/sandbox internal/shard internal/work internal/work/explain",
	"tick/ingest":               "internal/ahead internal/github internal/resume internal/work internal/work/command internal/work/firstlook store tick/env tick/ingest/batch tick/ingest/comments tick/ingest/merges tick/ingest/pulls tick/ingest/pulse tick/ingest/rebuild tick/notice",
	"tick/ingest/batch":         "internal/ahead internal/config internal/github internal/github/adoption internal/resume internal/work internal/work/command internal/work/merging internal/work/origin internal/work/outcome internal/work/review store tick/env tick/notice",
	"tick/ingest/comments":      "actions internal/ahead internal/github internal/work internal/work/command store tick/env tick/ingest/batch",
	"tick/ingest/merges":        "internal/github internal/work internal/work/merging store tick/env tick/ingest/batch",
	"tick/ingest/pulls":         "internal/ahead internal/github internal/work internal/work/command internal/work/merging internal/work/origin internal/work/outcome internal/work/review prompts/document store tick/ingest/batch tick/ingest/comments tick/ingest/pulse tick/notice",
	"tick/ingest/pulse":         "internal/github internal/work store tick/env tick/ingest/batch",
	"tick/ingest/rebuild":       "internal/ahead internal/github internal/github/adoption internal/work internal/work/firstlook internal/work/merging internal/work/origin internal/work/review store tick/env tick/ingest/batch tick/ingest/comments tick/ingest/pulls",
	"tick/known":                "internal/work internal/work/explain internal/work/merging internal/work/review internal/work/score internal/work/spending internal/work/standing",
	"tick/merge":                "actions internal/git internal/github internal/work internal/work/command internal/work/explain internal/work/merging store tick/env tick/folder tick/known tick/plan tick/snapshot",
	"tick/notice":               "actions internal/ahead internal/github internal/work internal/work/explain internal/work/review prompts prompts/public store tick/env tick/folder",
	"tick/notify":               "internal/notify internal/work internal/work/news store tick/env tick/observe",
	"tick/observe":              "internal/config internal/files internal/metrics internal/telemetry internal/work internal/work/counts store tick/env",
	"tick/plan":                 "internal/work internal/work/command internal/work/explain internal/work/merging internal/work/review internal/work/reviewing internal/work/rewritten internal/work/score internal/work/spending internal/work/standing tick/known",
	"tick/recheck":              "internal/ahead internal/github internal/work internal/work/explain internal/work/spending store tick/env tick/folder tick/ingest tick/notice",
	"tick/restore":              "internal/ahead internal/config internal/git internal/sandbox internal/work prompts store tick/brief tick/env tick/folder tick/ingest tick/notice tick/recheck",
	"tick/share":                "internal/git internal/work store tick/env tick/folder",
	"tick/snapshot":             "internal/config internal/work internal/work/merging internal/work/review internal/work/spending prompts prompts/public store tick/env tick/known",
	"tick/turn":                 "actions internal/agent internal/ahead internal/git internal/github internal/work internal/work/explain internal/work/review prompts store tick/agentrun tick/brief tick/compose tick/env tick/folder tick/ingest tick/notice tick/recheck tick/restore",
}

func TestArrows(t *testing.T) {
	seen := imports(t, filepath.Join("..", ".."))
	for _, from := range slices.Sorted(maps.Keys(seen)) {
		drawn, known := arrows[from]
		if !known {
			t.Errorf("package %s is not in the picture", from)
			continue
		}
		for _, to := range slices.Sorted(maps.Keys(seen[from])) {
			if !slices.Contains(strings.Fields(drawn), to) {
				t.Errorf("%s imports %s: this arrow is not drawn", from, to)
			}
		}
		for to := range strings.FieldsSeq(drawn) {
			if !seen[from][to] {
				t.Errorf("%s does not import %s any more: take the arrow away", from, to)
			}
		}
	}
	for from := range arrows {
		if seen[from] == nil {
			t.Errorf("there is no package %s", from)
		}
	}
}

// TestThePlanIsPure: the plan and the nouns import nothing that could reach anything.
func TestThePlanIsPure(t *testing.T) {
	for from, drawn := range arrows {
		pure := from == "tick/plan" || from == "tick/known" || from == "internal/work" || strings.HasPrefix(from, "internal/work/")
		for to := range strings.FieldsSeq(drawn) {
			allowed := to == "internal/lazy" || from == "tick/plan" && to == "tick/known"
			if pure && !allowed && to != "internal/work" && !strings.HasPrefix(to, "internal/work/") {
				t.Errorf("%s imports %s", from, to)
			}
		}
	}
}

// TestNoCircle: an arrow never comes back to where it began, not even by way of others.
func TestNoCircle(t *testing.T) {
	for from := range arrows {
		if reaches(from, from, map[string]bool{}) {
			t.Errorf("%s is in a circle", from)
		}
	}
}

func reaches(at, goal string, seen map[string]bool) bool {
	for to := range strings.FieldsSeq(arrows[at]) {
		if to == goal {
			return true
		}
		if !seen[to] {
			seen[to] = true
			if reaches(to, goal, seen) {
				return true
			}
		}
	}
	return false
}

// imports reads, of each package, which of the project's own it imports outside
// tests, on any system.
func imports(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	seen := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(rel)
		if seen[from] == nil {
			seen[from] = map[string]bool{}
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ours := strings.CutPrefix(to, module); ours {
				seen[from][own] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}
