//go:build unix

package story

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/mergexo/gh-mergexo/internal/story/scripted"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// machineOn is a world whose config names a database on the server for tests. Without a server the test
// is skipped.
type machineOn struct {
	*world
	t   *testing.T
	env []string // beside the world's
}

func onServerOf(t *testing.T) *machineOn {
	t.Helper()
	t.Parallel()
	m := &machineOn{t: t}
	at := m.newDatabase()
	w, err := newWorld(worldDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	m.world, w.server = w, at
	m.configure("database", at)
	return m
}

// newDatabase makes an empty database, and returns its URL.
func (m *machineOn) newDatabase() string {
	m.t.Helper()
	if !testpg.Set() {
		m.t.Skip("no PostgreSQL: run this test by script/postgres")
	}
	at, drop, err := testpg.New(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			m.t.Error(err)
		}
	})
	return at
}

func (m *machineOn) configure(key, value string) {
	m.t.Helper()
	m.config.set("runtime", key, value)
	if err := m.config.write(); err != nil {
		m.t.Fatal(err)
	}
}

// command is the program with arguments.
func (m *machineOn) command(args ...string) *exec.Cmd {
	m.t.Helper()
	mergexo, err := program("gh-mergexo")
	if err != nil {
		m.t.Fatal(err)
	}
	c := exec.CommandContext(m.t.Context(), mergexo, args...)
	c.Dir = m.work
	c.Env = append(os.Environ(), "WORK="+m.work)
	for name, value := range maps.All(m.environ()) {
		c.Env = append(c.Env, name+"="+value)
	}
	c.Env = append(c.Env, m.env...)
	return c
}

// run runs the program.
func (m *machineOn) run(args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	c := m.command(args...)
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		m.t.Fatal(err)
	} else if ok {
		code = exit.ExitCode()
	}
	return code, out.String(), problems.String()
}

// ran runs the program, which must succeed.
func (m *machineOn) ran(args ...string) (stdout string) {
	m.t.Helper()
	code, stdout, stderr := m.run(args...)
	if code != 0 {
		m.t.Fatalf("%q: code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout
}

// fails runs the program, which must fail with one line that has each of the words.
func (m *machineOn) fails(args []string, want ...string) {
	m.t.Helper()
	code, stdout, stderr := m.run(args...)
	said, _, _ := strings.Cut(stderr, "see gh mergexo ")
	if code != 1 || strings.Count(said, "\n") != 1 {
		m.t.Errorf("%q: code %d\n%s%s", args, code, stdout, stderr)
	}
	for _, words := range want {
		if !strings.Contains(stderr, words) {
			m.t.Errorf("%q lacks %q: %s", args, words, stderr)
		}
	}
}

// pullRequest has a pass open a pull request for an issue.
func (m *machineOn) pullRequest() {
	m.t.Helper()
	if _, err := m.hub.Repo(mainRepo).OpenIssue("ann", "Crash on start", "", "agent:bugfix"); err != nil {
		m.t.Fatal(err)
	}
	if out := m.ran("tick"); !strings.Contains(out, "octo/app#1\tbugfix_start\tdone") {
		m.t.Fatal(out)
	}
}

// commandLines are all commands with arguments. The ones that need no database say why, and are left out.
var commandLines = map[string]struct {
	args []string
	none string // why it needs no database
}{
	"demo":          {none: "it has a world of its own"},
	"demo-agent":    {none: "it is the demo's agent"},
	"answer-tool":   {none: "an agent talks to it"},
	"init":          {none: "its stories have a clone and a config to write; it ends with doctor's checks"},
	"config agents": {},
	"config":        {},
	"status":        {},
	"show":          {args: []string{"octo/app#1"}},
	"followup":      {args: []string{"octo/app#1", "1"}},
	"replan":        {args: []string{"octo/app#1", "to be quicker"}},
	"logs":          {},
	"report":        {},
	"report cost":   {},
	"doctor":        {},
	"machines":      {},
	"mcp":           {},
	"prompts list":  {},
	"prompts show":  {args: []string{"bugfix_start", "octo/app#1"}},
	"version":       {},

	"schedule install": {none: "its stories have a gh with the extension; it writes a job, and asks no database"},
	"schedule status":  {},
	"schedule print":   {args: []string{"--kind", "cron"}},
	"schedule remove":  {args: []string{"--all", "--yes"}},

	"tick":            {},
	"machines forget": {args: []string{"elsewhere"}},
	"database move":   {args: []string{"--to", "postgres:///other?host=/nowhere"}},
}

// toNowhere is where no server is.
const toNowhere = "postgres:///nowhere?host=/nowhere"

// leaves calls do with each command of the program that can be run.
func leaves(do func(path string, c *cobra.Command)) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		_, path, _ := strings.Cut(strings.TrimPrefix(c.CommandPath(), "gh "), " ")
		if c.Runnable() && (!c.HasSubCommands() || path == "config" || path == "report") && path != "" && !strings.HasPrefix(path, "completion") && !strings.HasPrefix(path, "help") && !strings.HasPrefix(path, "__") {
			do(path, c)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cmd.Tree(demo.Commands))
}

// Every command works on a PostgreSQL database, for people and as JSON. While the database cannot be
// reached, each says so in one line with the cure, or does without it.
func TestOnAServerEveryCommandWorks(t *testing.T) {
	m := onServerOf(t)
	m.config.set("notify:chat", "command", `["true"]`)
	m.configure("machine", "alpha")
	m.pullRequest()
	type line struct {
		path string
		args []string
		json bool
		item bool
	}
	var all []line
	leaves(func(path string, c *cobra.Command) {
		l, known := commandLines[path]
		switch {
		case !known && c.GroupID == "item":
			l.args = []string{"octo/app#1"}
		case !known:
			t.Errorf("%s is not in the table", path)
		}
		if l.none == "" {
			all = append(all, line{path, append(strings.Fields(path), l.args...), c.Flags().Lookup("json") != nil, c.GroupID == "item"})
		}
	})
	last := func(l line) int {
		return slices.Index([]string{"database move", "schedule remove"}, l.path)
	}
	slices.SortStableFunc(all, func(a, b line) int { return last(a) - last(b) })

	at := m.server
	play := func(there bool) {
		for _, l := range all {
			if l.path == "schedule remove" && !there {
				continue // it deletes the state folder without asking the database
			}
			code, stdout, stderr := m.run(l.args...)
			refuses := map[string]string{
				"machines forget": `there is no machine "elsewhere"; there are: alpha`, "database move": "first: gh mergexo pause --all",
			}
			said := stdout + stderr
			outage := code != 0 && strings.Contains(stderr, "database "+toNowhere+": ") && strings.Contains(stderr, "check that the server runs")
			words, may := refuses[l.path]
			may = may || l.item // what people may say depends on the item
			switch {
			case l.path == "doctor": // it says in one line of many that the database cannot be reached
			case strings.Contains(said, "panic") || strings.Contains(said, "state.db"):
				t.Errorf("%q: %s", l.args, said)
			case !there && code != 0 && (!outage || strings.Count(stderr, "\n") != 1):
				t.Errorf("%q without the database: code %d\n%s", l.args, code, said)
			case there && (outage || code != 0 && (!may || !strings.Contains(said, words))):
				t.Errorf("%q: code %d\n%s", l.args, code, said)
			}
			if !l.json || there && l.path == "schedule remove" {
				continue
			}
			args := append(slices.Clone(l.args), "--json")
			if l.path != "logs" { // its lines are JSON as they are
				args = append(args, fieldsOf(m, l.args))
			}
			code, stdout, stderr = m.run(args...)
			var failed struct {
				Error struct{ Code, Message, Do string }
			}
			switch {
			case code != 0 && l.path != "doctor":
				if err := json.Unmarshal([]byte(stderr), &failed); err != nil || !there && (failed.Error.Code != "database" || !strings.HasPrefix(failed.Error.Do, "check that the server runs")) {
					t.Errorf("%q --json: code %d, %v\n%s%s", l.args, code, err, stdout, stderr)
				}
			case !json.Valid([]byte(stdout)) && l.path != "logs":
				t.Errorf("%q --json: code %d\n%s%s", l.args, code, stdout, stderr)
			}
		}
	}
	m.configure("database", toNowhere)
	play(false)
	m.fails([]string{"pause", "--all"}, "all work on this machine is paused, but not on the others: the database that they share cannot be reached", "when it can be, pause them, too")
	m.fails([]string{"resume", "--all"}, "the pause of this machine is over, but not that of the others")
	m.configure("database", at)
	if out := m.ran("doctor", "--json", "checks", "--jq", `.checks[] | select(.code == "database") | "\(.level): \(.says)"`); strings.Count(out, "ok: ") != 1 || !strings.Contains(out, "PostgreSQL ") || !strings.Contains(out, "warning: the database server may lose rows") {
		t.Error(out)
	}
	play(true)
	if rows, err := query(at, `SELECT turn_key FROM turns`); err != nil || len(rows) == 0 {
		t.Errorf("the state folder is gone, and %d turns are left in the database: %v", len(rows), err)
	}
}

// fieldsOf returns the fields of a command's JSON.
func fieldsOf(m *machineOn, args []string) string {
	_, _, stderr := m.run(append(slices.Clone(args), "--json")...)
	var usage struct{ Error struct{ Message string } }
	if json.Unmarshal([]byte(stderr), &usage) != nil {
		return ""
	}
	_, list, _ := strings.Cut(usage.Error.Message, "\n")
	return strings.Join(strings.Fields(list), ",")
}

// A scheduler's passes tell once that the database cannot be used, and again when the reason changes or
// after it could be used.
func TestOnAServerAnOutageIsToldOnce(t *testing.T) {
	m := onServerOf(t)
	m.ran("tick")
	at := m.server
	told := func(want ...string) {
		t.Helper()
		m.fails([]string{"tick"}, want...)
		if code, stdout, stderr := m.run("tick"); code != 0 || stdout+stderr != "" {
			t.Errorf("again: code %d, %s%s", code, stdout, stderr)
		}
	}
	m.configure("database", toNowhere)
	told("database "+toNowhere, "check that the server runs and can be reached from this machine\n")
	m.fails([]string{"status"}, "check that the server runs and can be reached from this machine\n")
	m.fails([]string{"status", "--json", "items"}, `{"error":{"code":"database",`)
	m.fails([]string{"show", "octo/app#1"}, "can be reached from this machine\n")
	for _, args := range [][]string{{"pause", "octo/app#1"}, {"resume", "--merging", "octo/app"}, {"machines", "forget", "elsewhere"}, {"database", "move", "--to", at}} {
		m.fails(args, "check that the server runs and can be reached from this machine. Nothing was done: then type this again\n")
	}
	m.fails([]string{"tick", "--now"}, "check that the server runs")
	m.configure("database", "postgres://mergexo@127.0.0.1:1/nowhere")
	if code, stdout, stderr := m.run("tick"); code != 0 || stdout+stderr != "" { // the same is to be done about it
		t.Errorf("in other words: code %d, %s%s", code, stdout, stderr)
	}
	m.configure("database", at+"&search_path=nowhere")
	told("names no schema", "correct search_path")
	m.configure("database", at)
	m.ran("tick")
	m.configure("database", at+"&search_path=nowhere")
	told("names no schema")
	if _, out, _ := m.run("doctor", "--json", "checks", "--jq", `.checks[] | select(.code == "database") | .says + "; " + .do`); !strings.Contains(out, "names no schema that exists; ") {
		t.Error(out)
	}
}

// Of a database that another program's version wrote, doctor names the cure.
func TestOnAServerAnotherSchemaHasItsCure(t *testing.T) {
	m := onServerOf(t)
	m.ran("tick")
	u, err := url.Parse(m.server)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ change, says, do string }{
		{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, TRUE)`, "was written by a newer gh mergexo", "gh extension upgrade mergexo"},
		{
			`UPDATE goose_db_version SET version_id = 1 WHERE version_id > 0`, "from before its first release",
			"name a new database in the config, or drop its tables if nothing else is in it: dropdb --force " + u.Path[1:] + ", then createdb -E UTF8 -T template0 -O mergexo " + u.Path[1:] + "; the next pass fills a new one from GitHub",
		},
	} {
		if _, err := query(m.server, c.change); err != nil {
			t.Fatal(err)
		}
		_, out, _ := m.run("doctor", "--json", "checks", "--jq", `.checks[] | select(.code == "database") | "\(.level) \(.says)\n\(.do)"`)
		if says, do, _ := strings.Cut(out, "\n"); !strings.HasPrefix(says, "failure ") || !strings.Contains(says, c.says) || do != c.do+"\n" {
			t.Error(out)
		}
		m.fails([]string{"tick"}, c.says, "); "+c.do)
	}
}

// A database is moved to PostgreSQL and back, also if the command is killed on its way, and no pass uses
// the old one any more.
func TestOnAServerADatabaseIsMoved(t *testing.T) {
	m := onServerOf(t)
	m.configure("database", "")
	other := m.newDatabase()
	move := []string{"database", "move", "--to", other}
	m.fails(move, "no pass has run yet")
	m.pullRequest()
	m.fails([]string{"database", "move", "--to", filepath.Join(m.state, "other.db")}, "is no URL of a PostgreSQL database")
	m.fails(move, "first: gh mergexo pause --all")
	m.ran("pause", "--all")
	m.fails([]string{"database", "move", "--to-env", "THE_DATABASE"}, "THE_DATABASE is not set in this environment")
	m.fails([]string{"database", "move", "--to", strings.Replace(other, "mergexo@", "mergexo:sesame-0815@", 1)}, "--to-env NAME")
	m.fails([]string{"database", "move", "--to", "sqlite"}, "nothing to move")

	kill := func(args []string) (killed int) {
		for wait := time.Millisecond; ; wait *= 2 {
			c := m.command(args...)
			var said bytes.Buffer
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait) // until it is somewhere on its way
			_ = c.Process.Kill()
			if err := c.Wait(); err == nil || strings.Contains(said.String(), "the database was moved to ") { // the last one was killed between the move and its answer
				return killed
			}
			killed++
			if wait > time.Minute {
				t.Fatalf("%q never ends: %s", args, said.String())
			}
		}
	}
	if kill(move) == 0 {
		t.Error("it was not killed")
	}
	m.fails(move, "the database was moved to "+other)
	m.fails([]string{"resume", "--all"}, "the database was moved to "+other, "and then: gh mergexo resume --all")

	m.env = append(m.env, "THE_DATABASE="+other)
	m.configure("database", "$THE_DATABASE")
	m.ran("resume", "--all")
	reply := func() {
		t.Helper()
		if _, err := m.hub.Repo(mainRepo).Comment(2, "bob", "And test it."); err != nil {
			t.Fatal(err)
		}
		if out := m.ran("tick"); !strings.Contains(out, "octo/app#2\timplementation_feedback\tdone") {
			t.Error(out)
		}
	}
	reply()

	back := []string{"database", "move", "--to", "sqlite"}
	m.ran("pause", "--all")
	m.fails(back, "has rows, and nothing was moved", "mv ")
	for _, path := range []string{"state.db", "state.db-wal", "state.db-shm"} {
		if err := os.Remove(filepath.Join(m.state, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	kill(back)
	if _, out, stderr := m.run("tick"); !strings.Contains(stderr, "the database was moved to "+filepath.Join(m.state, "state.db")+"; on the machine that has this file, remove database from [runtime]") {
		t.Error(out, stderr)
	}
	m.configure("database", "")
	if out := m.ran("resume", "--all"); !strings.Contains(out, "is over") {
		t.Error(out)
	}
	reply()
	runs, err := scripted.Runs(m.agentDir())
	if err != nil || len(runs) != 3 {
		t.Errorf("%d runs of agents, %v", len(runs), err)
	}
}

// A pause of everything survives a move and the loss of the database: it ends only where a person ends it. Until
// the config names the other database, each command says so, and none does anything.
func TestOnAServerAPauseSurvivesAMove(t *testing.T) {
	m := onServerOf(t)
	m.configure("database", "")
	m.pullRequest()
	other := m.newDatabase()
	m.ran("pause", "--all", "checking the bill")
	m.ran("database", "move", "--to", other)
	next := "the database was moved to " + other + "; write database with its URL under [runtime] in the config of this machine"
	m.fails([]string{"resume", "--all"}, next+", and then: gh mergexo resume --all")
	for _, args := range [][]string{{"pause", "octo/app#1"}, {"resume", "--merging", "octo/app"}, {"machines", "forget", "elsewhere"}, {"database", "move", "--to", other}} {
		m.fails(args, next)
	}
	for _, args := range [][]string{{"tick"}, {"tick", "--dry-run"}, {"status"}} {
		if _, stdout, stderr := m.run(args...); !strings.Contains(stderr, next+"\n") || strings.Contains(stderr, "resume --all") {
			t.Errorf("%q: %s%s", args, stdout, stderr)
		}
	}
	if _, out, _ := m.run("doctor", "--json", "checks", "--jq", `.checks[] | select(.level == "failure") | "\(.code): \(.says); \(.do)"`); out != "database: "+next+"\n" {
		t.Error(out)
	}

	paused := func(where, want string) {
		t.Helper()
		for _, args := range [][]string{{"tick", "--now"}, {"status"}} {
			if code, stdout, stderr := m.run(args...); code != 0 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "checking the bill") {
				t.Errorf("%s, %q: code %d\n%s%s", where, args, code, stdout, stderr)
			}
		}
	}
	m.configure("database", other)
	paused("the machine that moved it", "as on all machines, by ")
	if err := m.becomeMachine("b"); err != nil {
		t.Fatal(err)
	}
	paused("another machine", "as on all machines, by ")
	if err := m.becomeMachine("a"); err != nil {
		t.Fatal(err)
	}
	m.ran("pause", "--all", "checking the bill")
	m.configure("database", m.newDatabase())
	paused("the database is lost", "everything on this machine is paused since ")
	m.ran("resume", "--all")
	if _, _, stderr := m.run("tick", "--now"); strings.Contains(stderr, "paused") {
		t.Error(stderr)
	}
}

// The password of the database is in no output, log, file, row or message, and in no environment of an
// agent, a set-up, tests, a notification or git.
func TestOnAServerThePasswordIsNowhere(t *testing.T) {
	m := onServerOf(t)
	const planted, wrong, ofClient = "pl4nted", "wr0ng-one", "fr0m-libpq" // the first is too short for the redactor
	at := m.server
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`DO $$ BEGIN CREATE ROLE locked LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`,
		`ALTER ROLE locked PASSWORD '` + planted + `'`, `ALTER DATABASE ` + strings.TrimPrefix(u.Path, "/") + ` OWNER TO locked`,
	} {
		if _, err := query(at, statement); err != nil {
			t.Fatal(err)
		}
	}
	with := func(password string) []string {
		v := *u
		v.User = url.UserPassword("locked", password)
		return []string{"THE_DATABASE=" + v.String(), "PGPASSWORD=" + ofClient, "PGSERVICEFILE=" + ofClient, "NAMED=seen"}
	}
	environOf := func(name string) string {
		return fmt.Sprintf(`["sh", "-c", "env >%s"]`, filepath.Join(m.work, name+".environ"))
	}
	m.config.set("runtime", "database", "")
	m.config.set("runtime", "metrics_file", filepath.Join(m.work, "metrics.prom"))
	m.config.set("notify:chat", "command", environOf("notify"))
	m.config.set("notify:chat", "env_pass", `["NAMED"]`)
	m.config.set("agents.scripted", "env_pass", `["NAMED"]`)
	m.config.set("repo", "setup", environOf("setup"))
	m.config.set("repo", "required_tests", environOf("tests"))
	m.configure("database", "$THE_DATABASE")
	hooks := filepath.Join(m.hub.Repo(mainRepo).GitDir(), "hooks") // our git starts them
	if err := errors.Join(
		put(filepath.Join(m.agentDir(), "rules.yaml"), "- env: agent.environ\n  write: {work/1.txt: done}\n"),
		os.MkdirAll(hooks, 0o755),
		os.WriteFile(filepath.Join(hooks, "pre-receive"), fmt.Appendf(nil, "#!/bin/sh\nenv >%s\n", filepath.Join(m.work, "git.environ")), 0o755),
	); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	play := func(env []string) {
		m.env = env
		for _, args := range [][]string{
			{"tick"},
			{"tick", "--now"},
			{"tick", "--dry-run"},
			{"tick", "--json", "turns"},
			{"status"},
			{"show", "octo/app#1"},
			{"show", "octo/app#1", "--log"},
			{"logs"},
			{"report", "--format", "markdown"},
			{"report", "cost"},
			{"doctor"},
			{"config"},
			{"config", "--json", "runtime"},
			{"machines"},
			{"doctor", "--notify"},
			{"schedule", "install", "--kind", "cron"},
			{"schedule", "print", "--kind", "cron"},
			{"pause", "--all"},
			{"status"},
			{"database", "move", "--to", "sqlite"},
			{"resume", "--all"},
		} {
			_, stdout, stderr := m.run(args...)
			fmt.Fprintf(&said, "== %q\n%s%s", args, stdout, stderr)
		}
	}
	if _, err := m.hub.Repo(mainRepo).OpenIssue("ann", "Crash on start", "", "agent:bugfix"); err != nil {
		t.Fatal(err)
	}
	play(with(wrong))
	play(with(planted))
	if !strings.Contains(said.String(), "octo/app#1\tbugfix_start\tdone") || !strings.Contains(said.String(), "password authentication failed") {
		t.Fatal(said.String()[strings.LastIndex(said.String(), `== ["tick"]`):])
	}
	found := func(where, text string) {
		for _, secret := range []string{planted, wrong, ofClient} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s has %s: …%s", where, secret, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
	found("the output", said.String())
	environs := 0
	err = filepath.WalkDir(m.work, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		found(path, string(text))
		if strings.HasSuffix(path, ".environ") {
			environs++
			if name := filepath.Base(path); (name == "agent.environ" || name == "notify.environ") && !bytes.Contains(text, []byte("NAMED=seen")) {
				t.Errorf("%s is not the one of the program: %s", path, text)
			}
		}
		return err
	})
	if err != nil || environs != 5 {
		t.Errorf("%d environments, %v", environs, err)
	}
	git := exec.CommandContext(t.Context(), "git", "-C", m.dirs().MirrorDir(m.here()), "cat-file", "--batch-all-objects", "--batch")
	objects, err := git.Output()
	if err != nil || len(objects) == 0 {
		t.Error(err)
	}
	found("the mirror", string(objects))
	tables, err := query(at, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
	if err != nil || len(tables) < 20 {
		t.Fatal(len(tables), err)
	}
	for _, table := range tables {
		rows, err := query(at, `SELECT t::text FROM `+table[0]+` t`)
		if err != nil {
			t.Error(err)
		}
		found(table[0], fmt.Sprint(rows))
	}
}
