package doctor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

var now = time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)

// found are the codes that came out at a level.
func found(all []doctor.Check, level doctor.Level) []string {
	var codes []string
	for _, c := range doctor.Only(all, level) {
		codes = append(codes, string(c.Code))
	}
	return codes
}

func host() doctor.Host {
	return doctor.Host{
		Name: "github.com", LoggedIn: true, Asked: true, Account: "olga", Source: "gh's hosts.yml",
		Token: doctor.Token{Kind: doctor.TokenOAuth, Scoped: true, Scopes: []string{"repo", "workflow"}},
	}
}

func repo(change func(*doctor.Repo)) doctor.Facts {
	r := doctor.Repo{
		Name: "octo/app", Host: "github.com", Current: "octo/app", DefaultBranch: "main", CanPush: true, Methods: merging.Methods(),
		Rules: &merging.Rules{Known: true}, Labels: &doctor.Labels{Wanted: 4}, Gates: doctor.Gates{Speaker: "olga"},
	}
	change(&r)
	return doctor.Facts{Repos: []doctor.Repo{r}, Now: now}
}

func onHost(change func(*doctor.Host)) doctor.Facts {
	h := host()
	change(&h)
	return doctor.Facts{Hosts: []doctor.Host{h}, Now: now}
}

// saysItself are the checks whose warning comes with its remedy.
var saysItself = []doctor.Code{"config", "agent"}

func TestWhatIsWrongIsSaidWithItsLevel(t *testing.T) {
	hour := time.Hour
	for name, c := range map[string]struct {
		facts              doctor.Facts
		failures, warnings []string
	}{
		"a host that is well":   {facts: onHost(func(*doctor.Host) {})},
		"no login":              {onHost(func(h *doctor.Host) { h.LoggedIn = false }), []string{"login"}, nil},
		"down":                  {onHost(func(h *doctor.Host) { h.Down = &doctor.Trouble{Says: "x"} }), []string{"login"}, nil},
		"not asked":             {facts: onHost(func(h *doctor.Host) { h.Asked = false })},
		"refused":               {onHost(func(h *doctor.Host) { h.Refused = &doctor.Trouble{Says: "x"} }), []string{"login"}, nil},
		"limited":               {onHost(func(h *doctor.Host) { h.Limited = "x" }), nil, []string{"login"}},
		"no scope":              {onHost(func(h *doctor.Host) { h.Token.Scopes = nil }), []string{"token"}, nil},
		"public repositories":   {facts: onHost(func(h *doctor.Host) { h.Token.Scopes = []string{"public_repo"} })},
		"a private one":         {onHost(func(h *doctor.Host) { h.Token.Scopes, h.Needs.Private = []string{"public_repo"}, true }), []string{"token"}, nil},
		"workflows":             {onHost(func(h *doctor.Host) { h.Token.Scopes, h.Needs.Workflows = []string{"repo"}, true }), nil, []string{"token"}},
		"scopes are not told":   {facts: onHost(func(h *doctor.Host) { h.Token = doctor.Token{Kind: doctor.TokenFineGrained} })},
		"expires in a week":     {onHost(func(h *doctor.Host) { h.Token.Expires = now.Add(6 * 24 * hour) }), nil, []string{"token"}},
		"expires in a month":    {facts: onHost(func(h *doctor.Host) { h.Token.Expires = now.Add(30 * 24 * hour) })},
		"clock":                 {onHost(func(h *doctor.Host) { h.Ahead = &hour }), []string{"clock"}, nil},
		"a repository":          {facts: repo(func(*doctor.Repo) {})},
		"not asked about":       {repo(func(r *doctor.Repo) { r.Unasked = "x" }), nil, []string{"repository"}},
		"archived and readonly": {repo(func(r *doctor.Repo) { r.Archived, r.CanPush = true, false }), []string{"repository"}, nil},
		"may not push":          {repo(func(r *doctor.Repo) { r.CanPush = false }), []string{"repository"}, nil},
		"renamed":               {repo(func(r *doctor.Repo) { r.Current = "octo/other" }), nil, []string{"repository"}},
		"no issues":             {repo(func(r *doctor.Repo) { r.NoIssues = true }), []string{"reads"}, nil},
		"labels":                {repo(func(r *doctor.Repo) { r.Labels.Missing = []string{"a"} }), nil, []string{"labels"}},
		"unreadable": {repo(func(r *doctor.Repo) {
			r.Unreadable = []doctor.Unread{{What: "issues", Needed: true}, {What: "checks"}}
		}), []string{"reads"}, []string{"reads"}},
		"rules that are not told": {repo(func(r *doctor.Repo) { r.Rules.Known = false }), nil, []string{"rules"}},
		"people merge":            {facts: repo(func(r *doctor.Repo) { r.Rules.Approvals, r.Rules.LastPush = 2, true })},
		"somebody else's approval": {repo(func(r *doctor.Repo) {
			r.Rules.Approvals, r.Rules.LastPush, r.Gates.AutoMerge = 1, true, true
		}), []string{"rules", "rules"}, nil},
		"somebody else is there": {facts: repo(func(r *doctor.Repo) {
			r.Rules.Approvals, r.Rules.LastPush, r.Gates.AutoMerge, r.Gates.Approvers = 1, true, true, 1
		})},
		"two are wanted": {repo(func(r *doctor.Repo) {
			r.Rules.Approvals, r.Gates.AutoMerge, r.Gates.Approvers = 2, true, 1
		}), []string{"rules"}, nil},
		"linear history": {repo(func(r *doctor.Repo) {
			r.Rules.Linear, r.Gates.AutoMerge, r.Gates.Method = true, true, merging.MergeCommit
		}), []string{"rules"}, nil},
		"no method in common": {repo(func(r *doctor.Repo) {
			r.Gates.AutoMerge, r.Methods, r.Rules.Methods = true, []merging.Method{merging.Squash}, []merging.Method{merging.Rebase}
		}), []string{"rules"}, nil},
		"a queue and a method": {repo(func(r *doctor.Repo) {
			r.Gates.AutoMerge, r.Gates.Method, r.Rules.Queue = true, merging.Squash, true
		}), nil, []string{"rules"}},
		"sign-off":       {repo(func(r *doctor.Repo) { r.Rules.Checks = []string{"DCO"} }), nil, []string{"rules"}},
		"signed off":     {facts: repo(func(r *doctor.Repo) { r.Rules.Checks, r.Gates.SignOff = []string{"DCO"}, true })},
		"other rules":    {repo(func(r *doctor.Repo) { r.Rules.Other = []string{"required_signatures"} }), nil, []string{"rules"}},
		"work branches":  {repo(func(r *doctor.Repo) { r.WorkRules = []string{"pull_request"} }), []string{"rules"}, nil},
		"another":        {repo(func(r *doctor.Repo) { r.Others = []doctor.Other{{Account: "robo"}} }), nil, []string{"repository"}},
		"remote":         {repo(func(r *doctor.Repo) { r.AsksGit, r.Git = true, &doctor.Trouble{Says: "x", Do: "y"} }), []string{"remote"}, nil},
		"no tests":       {doctor.Facts{Commands: []doctor.Command{{Repo: "o/r", Key: "required_tests", Program: "x", Needed: true, Missing: true}}}, []string{"commands"}, nil},
		"no set-up":      {doctor.Facts{Commands: []doctor.Command{{Repo: "o/r", Key: "setup", Program: "x", Missing: true}}}, nil, []string{"commands"}},
		"programs there": {facts: doctor.Facts{Commands: []doctor.Command{{Repo: "o/r", Key: "setup", Program: "x"}}}},
		"remote reached": {facts: repo(func(r *doctor.Repo) { r.AsksGit = true })},
		"does not start": {doctor.Facts{Agents: []doctor.Agent{{Name: "a", Hides: true, Fails: &doctor.Trouble{Says: "x"}}}}, []string{"agent_start"}, nil},
		"keeps nothing":  {doctor.Facts{Agents: []doctor.Agent{{Name: "a", Hides: true, Keeps: &doctor.Trouble{Says: "x", Do: "y"}}}}, []string{"agent"}, nil},
		"home":           {doctor.Facts{Home: &doctor.Folder{Trouble: "x"}, Agents: []doctor.Agent{{Name: "a"}}}, nil, []string{"sandbox", "state"}},
		"home, in a box": {facts: doctor.Facts{Home: &doctor.Folder{Trouble: "x"}, Agents: []doctor.Agent{{Name: "a", Hides: true}}}},
		"state":          {doctor.Facts{State: &doctor.Folder{Path: "s", Trouble: "x"}}, []string{"state"}, nil},
		"unsafe state":   {doctor.Facts{State: &doctor.Folder{Path: "s", Trouble: "x"}}, []string{"state"}, nil},
		"metrics":        {doctor.Facts{Metrics: &doctor.Folder{Path: "s", Trouble: "x"}}, []string{"metrics_file"}, nil},
		"inodes":         {doctor.Facts{Disk: &doctor.Disk{Free: 5 << 30, Inodes: 10}}, []string{"disk"}, nil},
		"no agent":       {doctor.Facts{Agents: []doctor.Agent{{Name: "a", Missing: "x", Hides: true}}}, []string{"agent"}, nil},
		"agent too old":  {doctor.Facts{Agents: []doctor.Agent{{Name: "a", Drift: "x", TooOld: true, Hides: true}}}, []string{"agent"}, nil},
		"not logged in":  {doctor.Facts{Agents: []doctor.Agent{{Name: "a", Login: doctor.Login{Known: true}, Hides: true}}}, []string{"agent"}, nil},
		"cost unknown": {doctor.Facts{
			Agents: []doctor.Agent{{Name: "a", CostUnknown: true, Hides: true}}, LimitsCost: true, Now: now,
		}, nil, []string{"agent"}},
		"cost unlimited": {facts: doctor.Facts{
			Agents: []doctor.Agent{{Name: "a", CostUnknown: true, Hides: true}}, Now: now,
		}},
		"no sandbox":               {doctor.Facts{Agents: []doctor.Agent{{Name: "a"}}}, nil, []string{"sandbox"}},
		"sandbox wanted":           {doctor.Facts{Agents: []doctor.Agent{{Name: "a", Blocked: true}}}, []string{"sandbox"}, nil},
		"full":                     {doctor.Facts{Disk: &doctor.Disk{Free: 1 << 20, Inodes: -1}}, []string{"disk"}, nil},
		"nearly full":              {doctor.Facts{Disk: &doctor.Disk{Free: 500 << 20, Inodes: -1}}, nil, []string{"disk"}},
		"room":                     {facts: doctor.Facts{Disk: &doctor.Disk{Free: 5 << 30, Inodes: 2000}}},
		"a server":                 {doctor.Facts{Database: &doctor.Database{Server: &doctor.Server{Free: 4, Machines: 2, TLS: "TLS 1.3"}}}, nil, nil},
		"a full server":            {doctor.Facts{Database: &doctor.Database{Server: &doctor.Server{Free: 3, Machines: 2}}}, nil, []string{"database"}},
		"a database for everybody": {doctor.Facts{Database: &doctor.Database{Server: &doctor.Server{Free: 9, Public: "mergexo"}}}, nil, []string{"database"}},
		"a lossy server":           {doctor.Facts{Database: &doctor.Database{Server: &doctor.Server{Free: 9, Lossy: "fsync = off"}}}, nil, []string{"database"}},
		"a late server":            {doctor.Facts{Database: &doctor.Database{Server: &doctor.Server{Free: 9, Ahead: 6 * time.Second}}}, nil, []string{"database"}},
		"an early server":          {doctor.Facts{Database: &doctor.Database{Server: &doctor.Server{Free: 9, Ahead: -6 * time.Second}}}, nil, []string{"database"}},
		"damaged":                  {doctor.Facts{Database: &doctor.Database{Trouble: "x"}}, []string{"database"}, nil},
		"nothing repeats":          {doctor.Facts{Schedule: &doctor.Schedule{}}, nil, []string{"schedule"}},
		"not in force":             {doctor.Facts{Schedule: &doctor.Schedule{Installed: true}}, nil, []string{"schedule"}},
		"no cron daemon":           {doctor.Facts{Schedule: &doctor.Schedule{Installed: true, Active: true, CronSleeps: true}}, nil, []string{"schedule"}},
		"the job lacks an agent":   {doctor.Facts{Schedule: &doctor.Schedule{Installed: true, Active: true, Lacks: []doctor.Trouble{{Says: "x", Do: "y"}}}}, nil, []string{"scheduled_agents"}},
		"no config":                {doctor.Facts{Config: doctor.Config{Problems: []string{"a", "b"}}}, []string{"config", "config"}, nil},
	} {
		all := doctor.Run(c.facts, doctor.AtDoctor)
		if got := found(all, doctor.Failure); !slices.Equal(got, c.failures) {
			t.Errorf("%s: failures %q, want %q", name, got, c.failures)
		}
		if got := found(all, doctor.Warning); !slices.Equal(got, c.warnings) {
			t.Errorf("%s: warnings %q, want %q", name, got, c.warnings)
		}
		for _, found := range doctor.Only(all, doctor.Failure, doctor.Warning) {
			if found.Do == "" && (found.Level == doctor.Failure || !slices.Contains(saysItself, found.Code)) {
				t.Errorf("%s: %s says %q, and not what mends it", name, found.Code, found.Says)
			}
		}
	}
}

// Prices make a cost known only if the tokens are.
func TestPricesAreNamedWhereTheyHelp(t *testing.T) {
	for _, unknown := range []bool{true, false} {
		f := doctor.Facts{
			Agents:     []doctor.Agent{{Name: "a", CostUnknown: true, TokensUnknown: unknown, Hides: true}},
			LimitsCost: true,
		}
		for _, c := range doctor.Only(doctor.Run(f, doctor.AtDoctor), doctor.Warning) {
			if c.Code == "agent" && strings.Contains(c.Do, "usd_per_million") == unknown {
				t.Errorf("tokens unknown: %v: %q", unknown, c.Do)
			}
		}
	}
}

// TestGhRefreshesItsOwnLoginOnly: what a variable holds gh cannot change.
func TestGhRefreshesItsOwnLoginOnly(t *testing.T) {
	for source, want := range map[string]string{"gh's hosts.yml": "gh auth refresh --hostname github.com --scopes repo", "GH_TOKEN": "give the token of GH_TOKEN that scope"} {
		f := onHost(func(h *doctor.Host) { h.Token.Scopes, h.Source = nil, source })
		for _, c := range doctor.Only(doctor.Run(f, doctor.AtDoctor), doctor.Failure) {
			if !strings.HasPrefix(c.Do, want) {
				t.Errorf("%s: %q, want %q", source, c.Do, want)
			}
		}
	}
}

// TestRows: every check has a code of its own, and a group with a heading.
func TestRows(t *testing.T) {
	seen := map[doctor.Code]bool{}
	for _, r := range doctor.Table() {
		if seen[r.Code] || r.Group.Title() == "" {
			t.Errorf("%s: twice, or its group %s has no heading", r.Code, r.Group)
		}
		seen[r.Code] = true
	}
}

// TestChecksAboutOneThingStandTogether: by group, and within it by host, repository or agent.
func TestChecksAboutOneThingStandTogether(t *testing.T) {
	f := repo(func(*doctor.Repo) {})
	f.Repos = append(f.Repos, doctor.Repo{Name: "octo/lib", Unasked: "x"})
	f.Agents = []doctor.Agent{{Name: "codex", Version: "1", Hides: true}, {Name: "claude", Missing: "x", Hides: true}}
	var got []string
	for _, c := range doctor.Run(f, doctor.AtDoctor) {
		if about := string(c.Group) + " " + c.About; len(got) == 0 || got[len(got)-1] != about {
			got = append(got, about)
		}
	}
	want := []string{"config ", "repositories octo/app", "repositories octo/lib", "agents codex", "agents claude", "sandbox codex", "sandbox claude"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAPlaceMakesItsChecksAlone: before a turn only git is looked at, and what fails there is an
// error.
func TestAPlaceMakesItsChecksAlone(t *testing.T) {
	f := doctor.Facts{Git: &doctor.Program{Name: "git"}, Gh: &doctor.Program{Name: "gh", Version: "2.39.2", Path: "/bin/gh", Accounts: true}}
	for at, want := range map[doctor.Place]string{
		doctor.BeforeTurn:    "git is not on PATH; install git 2.38 or later",
		doctor.BeforeAccount: "gh 2.39.2 is too old to have the tokens of several accounts; install gh 2.40 or later (https://cli.github.com), or remove account from the config",
	} {
		if err := doctor.Refusal(f, at); err == nil || err.Error() != want {
			t.Errorf("%d: %v, want %s", at, err, want)
		}
	}
	if err := doctor.Refusal(f, doctor.AtInit); err != nil {
		t.Errorf("init: %v", err)
	}
}

// A command must not change the repository of that name on another host.
func TestCommandsNameTheHost(t *testing.T) {
	for host, want := range map[string]string{"github.com": "gh repo unarchive octo/app,", "ghe.test": "gh repo unarchive ghe.test/octo/app,"} {
		all := doctor.Only(doctor.Run(repo(func(r *doctor.Repo) { r.Host, r.Archived = host, true }), doctor.AtDoctor), doctor.Failure)
		if len(all) != 1 || !strings.HasPrefix(all[0].Do, want) {
			t.Errorf("%s: %+v", host, all)
		}
	}
}
