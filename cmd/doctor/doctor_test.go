package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

var now = time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)

// levels are those of the findings that are not ok, as their first letters.
func levels(all []Result) (found string) {
	for _, f := range Only(all, Warning, Failure) {
		found += string(f.Level[:1])
	}
	return found
}

// onHost judges the token of a host.
func onHost(workflows bool, change func(*host)) []Result {
	h := &host{name: "github.com", token: "gho_x", who: work.Account{Login: "olga"}, info: github.TokenInfo{Scoped: true, Scopes: []string{"repo", "workflow"}}}
	change(h)
	return append(expiry(h, now), scopes(h, workflows)...)
}

// demanded judges what a branch requires.
func demanded(change func(*demand)) []Result {
	d := demand{Rules: merging.Rules{Known: true}, of: github.Repository{DefaultBranch: "main", Methods: merging.Methods(), CanPush: true}, speaker: "olga"}
	change(&d)
	return slices.Concat(d.required(), d.approval(), d.way(), d.signedOff(), d.others())
}

func TestWhatIsWrongIsSaidWithItsLevel(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		found []Result
		want  string // w: a warning, f: a failure
	}{
		"a token that is well": {onHost(true, func(*host) {}), ""},
		"no scope":             {onHost(false, func(h *host) { h.info.Scopes = nil }), "f"},
		"public repositories":  {onHost(false, func(h *host) { h.info.Scopes = []string{"public_repo"} }), ""},
		"workflows":            {onHost(true, func(h *host) { h.info.Scopes = []string{"repo"} }), "w"},
		"scopes are not told":  {onHost(true, func(h *host) { h.info = github.TokenInfo{} }), ""},
		"expires in a week":    {onHost(true, func(h *host) { h.info.Expires = now.Add(6 * day) }), "w"},
		"expires in a month":   {onHost(true, func(h *host) { h.info.Expires = now.Add(30 * day) }), ""},

		"a repository":          {writable(github.Repository{CanPush: true}), ""},
		"archived and readonly": {writable(github.Repository{Archived: true}), "f"},
		"disabled":              {writable(github.Repository{Disabled: true, CanPush: true}), "f"},
		"may not push":          {writable(github.Repository{}), "f"},

		"nothing is required":     {demanded(func(*demand) {}), ""},
		"rules that are not told": {demanded(func(d *demand) { d.Known = false }), "w"},
		"people merge":            {demanded(func(d *demand) { d.Approvals, d.LastPush = 2, true }), ""},
		"nobody can approve":      {demanded(func(d *demand) { d.auto, d.Approvals, d.LastPush = true, 1, true }), "ff"},
		"somebody can":            {demanded(func(d *demand) { d.auto, d.Approvals, d.LastPush, d.approvers = true, 1, true, 1 }), ""},
		"two are wanted":          {demanded(func(d *demand) { d.auto, d.Approvals, d.approvers = true, 2, 1 }), "f"},
		"linear history":          {demanded(func(d *demand) { d.auto, d.Linear, d.method = true, true, merging.MergeCommit }), "f"},
		"no method in common": {demanded(func(d *demand) {
			d.auto, d.of.Methods, d.Methods = true, []merging.Method{merging.Squash}, []merging.Method{merging.Rebase}
		}), "f"},
		"a queue and a method": {demanded(func(d *demand) { d.auto, d.Queue, d.method = true, true, merging.Squash }), "w"},
		"sign-off":             {demanded(func(d *demand) { d.Checks = []string{"DCO"} }), "w"},
		"a rule for messages":  {demanded(func(d *demand) { d.Other = []string{restrictsMessages} }), "w"},
		"signed off":           {demanded(func(d *demand) { d.Checks, d.signOff = []string{"DCO"}, true }), ""},
		"other rules":          {demanded(func(d *demand) { d.Other = []string{"required_signatures"} }), "w"},

		"an agent":       {append(program(machine.Agent{Path: "/x"}), version(machine.Agent{Version: "1"})...), ""},
		"no agent":       {program(machine.Agent{Missing: &agent.MissingError{Says: "x", Do: "y"}}), "f"},
		"too old":        {version(machine.Agent{Drift: "x", TooOld: true}), "f"},
		"untested":       {version(machine.Agent{Drift: "x"}), "w"},
		"logged out":     {login(t.Context(), nil, machine.Agent{Login: agent.Login{Known: true}}), "f"},
		"no sandbox":     {box(t.Context(), nil, machine.Agent{Remedy: "x"}), "w"},
		"sandbox wanted": {box(t.Context(), nil, machine.Agent{Blocked: true, Remedy: "x"}), "f"},

		"a server":                 {ofServer(&store.Server{Free: 4}, 2), ""},
		"a full server":            {ofServer(&store.Server{Free: 3}, 2), "w"},
		"a database for everybody": {ofServer(&store.Server{Free: 9, Public: "mergexo"}, 1), "w"},
		"a lossy server":           {ofServer(&store.Server{Free: 9, Lossy: "fsync = off"}, 1), "w"},
		"a late server":            {ofServer(&store.Server{Free: 9, Behind: 6 * time.Second}, 1), "w"},
		"an early server":          {ofServer(&store.Server{Free: 9, Behind: -6 * time.Second}, 1), "w"},
	} {
		if got := levels(c.found); got != c.want {
			t.Errorf("%s: %q, want %q: %+v", name, got, c.want, c.found)
		}
		for _, f := range Only(c.found, Warning, Failure) {
			if f.Do == "" {
				t.Errorf("%s: it says %q, and not what mends it", name, f.Says)
			}
		}
	}
}

// Only a budget asks for a cost, and prices make it known only if the tokens are.
func TestAnUnknownCostMattersToABudget(t *testing.T) {
	for name, c := range map[string]struct {
		limit  float64
		agent  machine.Agent
		ran    usage
		want   string
		prices bool // they are advised
	}{
		"no budget":        {0, machine.Agent{NoCost: true}, usage{}, "", false},
		"never known":      {5, machine.Agent{NoCost: true}, usage{}, "w", true},
		"known":            {5, machine.Agent{}, usage{work.Known{Cost: true, Tokens: true}, true}, "", false},
		"never ran":        {5, machine.Agent{}, usage{}, "", false},
		"tokens known":     {5, machine.Agent{}, usage{work.Known{Tokens: true}, true}, "w", true},
		"nothing is known": {5, machine.Agent{}, usage{work.Known{}, true}, "w", false},
	} {
		e := &exam{cfg: &config.Config{}, stored: stored{usage: map[string]usage{"": c.ran}}}
		e.cfg.Runtime.Budgets.CostPerDay = c.limit
		found := cost(t.Context(), e, c.agent)
		if levels(found) != c.want || len(found) > 0 && strings.Contains(found[0].Do, "usd_per_million") != c.prices {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// What a variable holds gh cannot change.
func TestGhRefreshesItsOwnLoginOnly(t *testing.T) {
	t.Setenv("GH_CONFIG_DIR", t.TempDir())
	for variable, want := range map[string]string{"": "gh auth refresh --hostname github.com --scopes repo", "x": "give the token of GH_TOKEN that scope"} {
		t.Setenv("GH_TOKEN", variable)
		for _, f := range Only(onHost(false, func(h *host) { h.info.Scopes, h.variable = nil, github.TokenVariable(h.name) }), Failure) {
			if !strings.HasPrefix(f.Do, want) {
				t.Errorf("%q, want %q", f.Do, want)
			}
		}
	}
}

// Every check has a code of its own.
func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Table() {
		if seen[r.Code] || r.Title == "" {
			t.Errorf("%s: twice, or nothing says what it checks", r.Code)
		}
		seen[r.Code] = true
	}
}

// What is well about one thing is one line, and none beside a failure.
func TestOneLine(t *testing.T) {
	well := slices.Concat(ok("a"), warn("b", "do"), ok("c"))
	if got := oneLine(well); len(got) != 2 || got[0].Says != "a; c" {
		t.Errorf("%+v", got)
	}
	if got := oneLine(append(well, fail("d", "do")...)); len(got) != 2 || levels(got) != "wf" {
		t.Errorf("%+v", got)
	}
}

// A command must not change the repository of that name on another host.
func TestCommandsNameTheHost(t *testing.T) {
	for _, c := range []struct{ usual, host, want string }{
		{"github.com", "github.com", "gh repo unarchive octo/app,"},
		{"github.com", "ghe.test", "gh repo unarchive ghe.test/octo/app,"},
		{"ghe.test", "github.com", "gh repo unarchive github.com/octo/app,"},
	} {
		t.Setenv("GH_HOST", c.usual)
		all := writable(github.Repository{Archived: true, Current: work.RepoName{Host: c.host, Owner: "octo", Name: "app"}})
		if len(all) != 1 || !strings.HasPrefix(all[0].Do, c.want) {
			t.Errorf("%+v: %+v", c, all)
		}
	}
}
