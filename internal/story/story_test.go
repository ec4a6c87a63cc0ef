//go:build unix

// Package story runs the stories in testdata/script: the real binary against a
// simulated GitHub, with real git and a scripted agent. It holds tests only.
// A story is testdata/script/FOLDER/NAME.txtar, which is played by
//
//	go test ./internal/story -run 'TestStories/FOLDER/NAME$'
//
// Each story has a hub of its own on a unix socket with the repository octo/app
// (and what it makes itself), a home folder, and a config.toml that waits for
// nothing: no quiet period, no interval between passes. gh is logged in as
// "operator", an admin of octo/app; "ann" and "bob" may write to it, "mallory"
// may not, and its owner, for whom hub acts when no --by is given, is "octo". A
// story finds in its variables:
//
//	$WORK      its folder, and the home of all that follows
//	$CONFIG    the config; $STATE the state folder
//	$AGENT     the scripted agent's folder; agent/rules.yaml in the story's
//	           archive says what it does, and without it it does its honest best
//	$SOURCE    the folder of this repository
//	$ORIGIN    the bare repository behind octo/app; $MIRROR its mirror, $CHECKOUTS the folder of its checkouts
//
// and these commands beside testscript's own:
//
//	hub …                    what people do on GitHub, and what is there: see internal/hubscript
//	tick [flags]             exec gh-mergexo tick
//	at OWNER/NAME            has all that follows happen in that repository, of which $ORIGIN, $MIRROR and $CHECKOUTS, too, then speak.
//	                         One that is not there is made as octo/app was. agent/OWNER/NAME.yaml has the agent's rules there
//	                         A pass works in all of them: stories that begin alike have one each, in one file, and share the passes
//	config SECTION KEY VALUE sets a key of the config; SECTION is runtime, agents.scripted, repo (where the story is, at first octo/app),
//	                         repo.review, repo:owner/name (made when it is not there) and so on; '' takes it out.
//	                         A wait or limit that no key sets (config.Timings) is set for the programs that start from now on
//	                         repo.reviewers:NAME is one of [[repo.reviewers]]; they stand in the order of their making
//	                         notify:NAME is one of [[notify]]
//	receiver FILE            takes what is posted on loopback to $RECEIVER, and what the program $TELL gets for [[notify]]: each
//	                         becomes a line of FILE; where FILE.code is there, the program fails and says what it holds
//	agent-runs [N]           prints a line for each run of the agent, "kind #number", or checks that there were N
//	agent-prompt [--masked] N prints the prompt of the Nth run, counted from 1; masked it is the same on every machine
//	db SQL                   prints what a query of state.db gives, tab separated; now() is the time, in milliseconds. After "at" it sees
//	                         the rows of that repository alone
//	await-db SQL WANT        waits until a query of state.db gives that in its first row and column
//	await FILE               waits until a background command has made a file
//	await-still FILE         waits until nobody writes to a file any more; await-more FILE: until somebody does
//	await-label NUMBER LABEL waits until an issue or pull request has a label
//	hub-many N NUMBER AUTHOR makes N comments, "comment number 1" and so on; a % in AUTHOR is the number
//	hub-subs N NUMBER AUTHOR makes N sub-issues of an issue
//	hub-paste NUMBER COMMENT AUTHOR has somebody post the words of a comment again, marker and all
//	marks NUMBER REVIEWER NAME sets $REVIEW, $FINDING and $ACTION to the markers of an approval of what the pull request
//	                         has now by that reviewer, who calls in NAME
//	later DURATION           lets time pass, for GitHub and for the program
//	clock hour               moves the clock to the next full hour, so that turns come at the same moments in each run
//	hub-clock DURATION       sets GitHub's clock ahead of the program's by that; -400s: behind it
//	other-host NAME          makes a second GitHub host with an octo/app of its own; other-hub is its hub
//	gh VERSION [ACCOUNT=TOKEN…] puts a gh of that version first on PATH that knows these accounts (hub token NAME prints
//	                         a token), until the next one; $WORK/gh.log has a line for each time that it was started
//	git-calls [MOST]         prints the git processes that the program started since the last time, from the first time on;
//	                         it fails when they are more than MOST, or none
//	extension                puts a gh first on PATH that has this program as its extension and a stored login, and takes GH_TOKEN away
//	fire                     has launchd start the job in its property list once, or skip that: "started" or "skipped"
//	talk FILE PROGRAM ARGUMENT… runs a program on a terminal, and says there what the file says: see cmdTalk
//	metrics FILE             prints a file of metrics, once Prometheus's own parser and linter accept it
//	machine NAME             has all that follows happen on a machine of several that share the database: it has a state
//	                         folder and a config of its own; the agent and gh's login are everybody's
//	end-sessions [left]      has the server end the sessions of all passes, as if it had lost their machines; left:
//	                         those that killed passes left, if it has not seen that yet
//	stranger [leaves]        has a session of the server that is no machine's take a lock of the database, until it leaves
//	keep-database            keeps the database on the server as it is, as a backup does
//	set-back-database        sets it back to that
//	hub-fail-node FILE       has every GraphQL query fail that asks for the node whose id is in the file
//
// What repeats things on a machine is none of this one's: crontab keeps $WORK/crontab, systemctl
// --user and launchctl answer where the folder $WORK/systemd or $WORK/launchd is there, and
// loginctl says what stands in $WORK/linger.
//
// Nobody waits for time to pass: the clock stands. Each pass begins a second later, and otherwise
// only "later" and "clock hour" move it. So all that people do between two passes shares a second,
// as far as GitHub's stamps tell; where their order matters, a story says "later 1s" between them.
//
// The condition [sandbox] says whether a sandbox works on this machine, [mounts] whether a process
// can have a file system of its own, [cron] whether a cron daemon can be started that is not the
// machine's, [bash-completion] whether bash can complete, [postgres] whether there is a server for
// databases.
//
// Where testpg.Variable names a server, a sample of the stories has its database there, see ofEngine.
//
// go test plays the stories that levels_test.go names, and with MERGEXO_TEST=long all of them. Then the
// program also runs each function given to the database's Update twice, see store.Options, and what
// status shows is compared with the answer to /mergexo status after each pass, not only at the end.
// What has not begun when three quarters of go test's limit have passed is left out, and the run says how
// many stories that is. MERGEXO_ORDER, a text such as a commit, shuffles the folders, so that a slow machine leaves
// out others for each commit.
//
// -update (go test ./internal/story -update) writes what cmp found into the stories.
package story

import (
	"database/sql"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // for the db command
	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // for the db command

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/hubscript"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

var update = flag.Bool("update", false, "write what cmp found into the stories")

func TestMain(m *testing.M) {
	config.TimingsVariable = timingsVariable
	debug.SetGCPercent(400) // the simulators are small, and collecting took a tenth of the suite's CPU
	testscript.Main(suite{testhome.Waiting{M: m}}, map[string]func(){"gh-mergexo": func() { os.Exit(runProgram()) }})
}

func TestStories(t *testing.T) {
	t.Cleanup(func() { checkCosts(t) })
	runFolders(t, params(t), ofEngine(t, played(t)))
}

func params(t *testing.T) testscript.Params {
	return testscript.Params{
		Setup:               func(e *testscript.Env) error { return setUp(e, t) },
		Cmds:                commands(),
		Condition:           condition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
	}
}

// commands are those of the stories, told about at the top.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	cmds := map[string]func(*testscript.TestScript, bool, []string){
		"tick":          cmdTick,
		"at":            cmdAt,
		"config":        cmdConfig,
		"agent-runs":    cmdAgentRuns,
		"agent-prompt":  cmdAgentPrompt,
		"db":            cmdDB,
		"await":         cmdAwait,
		"await-still":   cmdAwaitStill,
		"await-more":    cmdAwaitMore,
		"await-db":      cmdAwaitDB,
		"await-label":   cmdAwaitLabel,
		"hub-many":      cmdHubMany,
		"hub-subs":      cmdHubSubs,
		"hub-fail-node": cmdHubFailNode,
		"hub-paste":     cmdHubPaste,
		"receiver":      cmdReceiver,
		"marks":         cmdMarks,
		"later":         cmdLater,
		"clock":         cmdClock,
		"hub-clock":     cmdHubClock,
		"other-host":    cmdOtherHost,
		"gh":            cmdGh,
		"git-calls":     cmdGitCalls,
		"talk":          cmdTalk,
		"machine":       cmdMachine,
		"end-sessions":  cmdEndSessions,
		"stranger":      cmdStranger,
		"keep-database": cmdKeepDatabase,

		"set-back-database": cmdSetBackDatabase,

		"extension": cmdExtension,
		"fire":      cmdFire,
		"metrics":   cmdMetrics,
	}
	main := func(ts *testscript.TestScript) hubscript.Place {
		return hubscript.Place{Hub: worldOf(ts).hub, Repo: worldOf(ts).at}
	}
	other := func(ts *testscript.TestScript) hubscript.Place { return hubscript.Place{Hub: worldOf(ts).hosts.other} }
	maps.Copy(cmds, hubscript.Commands(main))
	cmds["other-hub"] = hubscript.Commands(other)["hub"]
	return cmds
}

// setUp makes the machine on which a story plays.
func setUp(e *testscript.Env, t *testing.T) error {
	if late(t, time.Now()) {
		spent.late.Add(1)
		e.T().Skip("left out: too little of go test's limit is left")
	}
	w, err := newWorld(e.WorkDir)
	if err != nil {
		return err
	}
	if err := w.useServer(e, t); err != nil {
		return err
	}
	e.Defer(func() { _ = os.RemoveAll(e.WorkDir) }) // after the rest: not all of them are kept until the last one ends
	e.Defer(func() {
		w.wakePasses()
		spent.add(e.WorkDir, w)
		if err := checkStandings(w); err != nil {
			t.Errorf("%s: %v", filepath.Base(e.WorkDir), err)
		}
		if err := checkSignatures(w); err != nil {
			t.Errorf("%s: %v", filepath.Base(e.WorkDir), err)
		}
		for _, state := range append(w.states, w.stateDir()) {
			if err := checkLogs(state); err != nil {
				t.Errorf("%s: %v", filepath.Base(e.WorkDir), err)
			}
		}
		if err := w.close(); err != nil {
			t.Errorf("%s: %v", filepath.Base(e.WorkDir), err)
		}
	})
	e.Values[worldKey{}] = w
	for name, value := range w.environ() {
		e.Setenv(name, value)
	}
	source, err := filepath.Abs(filepath.Join("..", ".."))
	e.Setenv("SOURCE", source)
	return err
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

func cmdTick(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("gh-mergexo", append([]string{"tick"}, args...)...)
	switch {
	case neg && err == nil:
		ts.Fatalf("tick: unexpected success")
	case !neg && err != nil:
		ts.Fatalf("tick: %v", err)
	case !neg && testhome.Long():
		ts.Check(checkStandings(worldOf(ts)))
	}
}

func cmdConfig(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: config SECTION KEY VALUE")
	}
	w := worldOf(ts)
	if name, ok := strings.CutPrefix(args[0], "repo:"); ok && !strings.Contains(name, ".") {
		w.addRepo(name)
	}
	if slices.Contains(timings, args[1]) {
		w.config.setTiming(args[1], strings.Trim(args[2], `"`))
		ts.Setenv(timingsVariable, w.config.timed())
		return
	}
	section := args[0]
	if table, ok := strings.CutPrefix(section, "repo"); ok && w.at != "" && !strings.HasPrefix(table, ":") {
		section = "repo:" + w.at + table
	}
	w.config.set(section, args[1], args[2])
	ts.Check(w.config.write())
}

func cmdAgentRuns(ts *testscript.TestScript, neg bool, args []string) {
	runs, err := worldOf(ts).runs()
	ts.Check(err)
	if neg || len(args) > 1 {
		ts.Fatalf("usage: agent-runs [N]")
	}
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, "%s #%d\n", r.Kind, r.Number)
	}
	if len(args) == 1 && args[0] != strconv.Itoa(len(runs)) {
		ts.Fatalf("the agent ran %d times, not %s:\n%s", len(runs), args[0], &b)
	}
	fmt.Fprint(ts.Stdout(), b.String())
}

func cmdAgentPrompt(ts *testscript.TestScript, neg bool, args []string) {
	runs, err := worldOf(ts).runs()
	ts.Check(err)
	show := func(prompt string) string { return prompt }
	if len(args) == 2 && args[0] == "--masked" {
		show, args = masked, args[1:]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: agent-prompt [--masked] N")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 || n > len(runs) {
		ts.Fatalf("no run %s: the agent ran %d times", args[0], len(runs))
	}
	prompt, err := runs[n-1].Prompt()
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), show(prompt))
}

// changing is what differs in a prompt from one run of a story to the next: the
// fence's nonce, commits, times.
var changing = []struct {
	what *regexp.Regexp
	mask string
}{
	{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "COMMIT"},
	{regexp.MustCompile(`(DATA )[0-9a-f]{20}\b`), "${1}NONCE"},
	{regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z`), "TIME"},
}

func masked(prompt string) string {
	for _, c := range changing {
		prompt = c.what.ReplaceAllString(prompt, c.mask)
	}
	return prompt
}

func cmdDB(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: db SQL")
	}
	now := strconv.FormatInt(worldOf(ts).clock.Now().UnixMilli(), 10)
	rows, err := query(worldOf(ts).stateDB(), worldOf(ts).ofRepo(strings.ReplaceAll(args[0], "now()", now)))
	ts.Check(err)
	for _, row := range rows {
		fmt.Fprintln(ts.Stdout(), strings.Join(row, "\t"))
	}
}

// repoTables are the tables whose rows belong to a repository, by the column that says to which.
var repoTables = map[string][]string{
	"repo_id": {"actions", "events", "history", "merges", "notifications", "pull_requests", "pull_reviews", "roadmaps", "turns", "work_items"},
	"pull_id": {"findings", "fixes", "merge_words", "review_calls", "reviews"},
	"item_id": {"agent_sessions", "dependencies", "proposals", "roadmap_nodes", "stops", "sub_issues"},
}

// ofRepo has a query see only the rows of the repository where the story is, if it says so.
func (w *world) ofRepo(text string) string {
	if w.at == "" {
		return text
	}
	schema := "main"
	if w.server != "" {
		schema = "public"
	}
	repo := fmt.Sprintf(`(SELECT id FROM %s.repositories WHERE name_key LIKE '%%/%s')`, schema, w.at)
	owners := map[string]string{
		"repo_id": repo,
		"pull_id": fmt.Sprintf(`(SELECT id FROM %s.pull_requests WHERE repo_id = %s)`, schema, repo),
		"item_id": fmt.Sprintf(`(SELECT id FROM %s.work_items WHERE repo_id = %s)`, schema, repo),
	}
	var tables []string
	for column, names := range repoTables {
		for _, name := range names {
			tables = append(tables, fmt.Sprintf(`%s AS (SELECT * FROM %s.%s WHERE %s IN %s)`, name, schema, name, column, owners[column]))
		}
	}
	return "WITH " + strings.Join(tables, ", ") + " " + text
}

// cell is a value of the database as SQLite writes it: a condition is a number.
type cell string

// Scan implements sql.Scanner.
func (c *cell) Scan(value any) error {
	if truth, ok := value.(bool); ok {
		value = 0
		if truth {
			value = 1
		}
	}
	var text sql.NullString
	err := text.Scan(value)
	*c = cell(text.String)
	return err
}

// query reads a state database.
func query(path, text string) (all [][]string, err error) {
	driver, at := "pgx", path
	if filepath.IsAbs(path) {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}
		driver, at = "sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
	}
	db, err := sql.Open(driver, at)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		cells, into := make([]cell, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// program finds one of the programs that TestMain registered.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	return filepath.Abs(path)
}
