//go:build unix

package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// An error is never taken for absence: whichever request GitHub answers with an error for ever, the exit
// code or status says so, what does not depend on it works, and nothing is there twice. A sample of
// requests and errors is played: five cases; with MERGEXO_TEST=long every second kind of request, with one kind of
// error each; with MERGEXO_TEST=all everything, each night.

// errorStory is played up to the line lastPasses, and then each case its own way.
const (
	errorStory = "every_kind_of_request"
	lastPasses = "# The last three passes."
)

// unhurried has a pass read all that changed, however slow the machine is.
const unhurried = "config runtime ingest_timeout 10m\n"

// losesDatabase are the lines after which the passes have no database.
const losesDatabase = "exec sh -c 'rm -f $STATE/state.db*'\n"

// fiveMore makes so many repositories that one query says which of them changed.
var fiveMore = func() (lines string) {
	for i := range 5 {
		lines += fmt.Sprintf("hub repo octo/more%[1]d\nhub --repo octo/more%[1]d user operator write\nconfig repo:octo/more%[1]d name octo/more%[1]d\n", i)
	}
	return lines
}()

// errorKind is one way to answer with an error; said matches what names it in the output of a pass or of status.
type errorKind struct {
	name   string
	answer githubsim.Fault
	said   *regexp.Regexp
}

var errorKinds = []errorKind{
	{"refused", githubsim.Fault{Status: 200, Body: `{"errors":[{"message":"Field 'gauge' doesn't exist on type 'Query'","extensions":{"code":"undefinedField","typeName":"Query","fieldName":"gauge"}}]}`}, regexp.MustCompile(`gauge|unexpected answer|not GitHub's API`)},
	{"page", githubsim.HTML(), regexp.MustCompile(`unexpected answer|not GitHub's API`)},
	{"other", githubsim.Fault{Status: 200, Body: `{}`}, regexp.MustCompile(`unexpected answer|not GitHub's API`)},
	{"403", refusing(403), regexp.MustCompile(`gauge 403|which GitHub does not show to this account`)},
	{"422", refusing(422), regexp.MustCompile(`gauge 422`)},
	{"451", refusing(451), regexp.MustCompile(`gauge 451|which GitHub does not show to this account`)},
	{"500", refusing(500), regexp.MustCompile(`gauge 500`)},
	{"502", refusing(502), regexp.MustCompile(`gauge 502`)},
}

// doneKinds are errors after which a write is done all the same: a pass finds that it is.
var doneKinds = []errorKind{
	{name: "done500", answer: done(refusing(500))},
	{name: "donepage", answer: done(githubsim.HTML())},
}

func done(f githubsim.Fault) githubsim.Fault {
	f.Applied = true
	return f
}

func refusing(status int) githubsim.Fault {
	return githubsim.Fault{Status: status, Body: fmt.Sprintf(`{"message":"gauge %d"}`, status)}
}

// needless are reads on whose errors nothing depends, and why: they are in the log only.
var needless = map[string]*regexp.Regexp{
	"an app has no account, and reads its own one otherwise":                     regexp.MustCompile(`^403 /user `),
	"rules that GitHub hides are unknown, and GitHub itself enforces them":       regexp.MustCompile(`^403 \S+/(rules/branches|branches)/`),
	"an agent is shown of a red check what GitHub shows":                         regexp.MustCompile(`^403 \S+/(check-runs/\d+|actions/runs) |^\w+ \S+/actions/jobs/\d+/logs `),
	"how many commits a pull request had at its end is unknown":                  regexp.MustCompile(`^\w+ \S+/pulls/\d+/commits `),
	"labels that only show a state are given up for a time if GitHub refuses it": regexp.MustCompile(`^(403|422) \S+/labels(/\S+)? `),
}

// undone selects what GitHub did not do, and what is no courtesy, which is given up and logged.
const undone = `SELECT kind, state, last_error FROM actions WHERE need = 'required' AND (sends > 0 AND state IN ('sent', 'void', 'dropped') OR state = 'planned' AND (sends > 0 OR last_error <> ''))`

// noAnswer matches what names a write whose answer does not say whether it was done.
var noAnswer = regexp.MustCompile(`no answer to a|answer to .* never (came|arrived)`)

// always are the cases of every level.
var always = []string{"lost Details refused", "kept POST-repos-octo-app-pulls 422", "kept POST-repos-octo-app-pulls done500", "kept mutation-CreateChild refused", "kept repos-octo-app-issues-2-timeline 403"}

// asked is what is the same in all requests of one kind: method and path, or the name of a query or mutation.
type asked struct{ method, path, query string }

// askedBy returns what a request asks; false if that is nothing of a pass's own.
func askedBy(rq githubsim.Request) (asked, bool) {
	if rq.Path != "/graphql" {
		return asked{method: rq.Method, path: rq.Path}, rq.Write || rq.Method == http.MethodGet
	}
	var in struct{ Query string }
	_ = json.Unmarshal([]byte(rq.Body), &in)
	name := regexp.MustCompile(`(query|mutation) \w+\(`).FindString(in.Query)
	return asked{method: rq.Method, path: rq.Path, query: name}, name != ""
}

// writes reports whether it changes something.
func (a asked) writes() bool {
	return strings.HasPrefix(a.query, "mutation ") || a.query == "" && a.method != http.MethodGet
}

// kinds are the errors by which it is answered.
func (a asked) kinds() []errorKind {
	if a.writes() {
		return slices.Concat(errorKinds, doneKinds)
	}
	return errorKinds
}

func (a asked) String() string {
	name := cmp.Or(strings.TrimPrefix(a.query, "query "), a.path)
	if a.query == "" && a.writes() {
		name = a.method + " " + name
	}
	return strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(name, "-"), "-")
}

// shape is the address without repository, numbers and commits.
func (a asked) shape() string {
	return a.method + regexp.MustCompile(`^/repos/octo/\w+|/\d+|[0-9a-f]{40}`).ReplaceAllString(a.path, "/N") + a.query
}

// family is what an answer is read by: reads and writes, by path and by query.
func (a asked) family() string { return fmt.Sprint(a.query != "", a.writes()) }

// ofOne reports whether a request concerns one issue or pull request of octo/app other than number.
func (a asked) ofOne(number string) bool {
	m := regexp.MustCompile(`^/repos/octo/app/(?:issues|pulls)/(\d+)`).FindStringSubmatch(a.path)
	return m != nil && m[1] != number
}

// errorSweep is what the cases share.
type errorSweep struct {
	mu     sync.Mutex
	asked  map[string]map[asked]bool // by variant
	ran    int
	missed int
	silent []string
}

func TestErrorsAreNeverAbsence(t *testing.T) {
	testhome.NotShort(t)
	text, err := os.ReadFile(filepath.Join(scripts, "github", errorStory+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), lastPasses)
	if !found {
		t.Fatalf("%s has no line %q", errorStory, lastPasses)
	}
	before += unhurried
	s := &errorSweep{asked: map[string]map[asked]bool{}}
	variants := map[string]string{"kept": before, "lost": before + losesDatabase, "many": before + fiveMore}
	records := map[string]string{}
	for name, text := range variants {
		records[name] = text + "record " + name + "\n"
	}
	s.play(t, "record", records)
	cases := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		done, nth := map[string]bool{}, map[string]int{}
		for _, a := range s.sorted(name) {
			if name == "many" && a.path != "/graphql" || !testhome.All() && done[a.shape()] {
				continue
			}
			done[a.shape()] = true
			for k, kind := range a.kinds() {
				if !sampled(nth[a.family()], k) && !slices.Contains(always, name+" "+a.String()+" "+kind.name) {
					continue
				}
				cases[fmt.Sprintf("%s_%s_%s", name, a, kind.name)] = fmt.Sprintf("%ssuffer %s %s %s '%s'\n", variants[name], kind.name, a.method, a.path, a.query)
			}
			nth[a.family()]++
		}
	}
	s.play(t, "cases", cases)
	t.Logf("%d requests × kinds of errors; never sent: %d; silent: %d\n%s", s.ran, s.missed, len(s.silent), strings.Join(s.silent, "\n"))
}

// sampled reports whether the nth kind of request of a family is played with the kth kind of error. Each second one is, in CI
// each fourth, each with the next kind of error, so that a family of many has met them all.
func sampled(nth, k int) bool {
	step := 2
	switch {
	case testhome.All():
		return true
	case !testhome.Long():
		return false
	case testhome.Rest():
		step = 4
	}
	return nth%step == 0 && nth/step%len(errorKinds) == k%len(errorKinds)
}

// sorted returns the requests of a variant in a fixed order.
func (s *errorSweep) sorted(variant string) []asked {
	return slices.SortedFunc(maps.Keys(s.asked[variant]), func(a, b asked) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.query, b.query), cmp.Compare(a.method, b.method))
	})
}

// play plays stories by name.
func (s *errorSweep) play(t *testing.T, name string, stories map[string]string) {
	t.Helper()
	dir := t.TempDir()
	p := params(t)
	p.WorkdirRoot = filepath.Join(worldDir(t), "w")
	if err := os.Mkdir(p.WorkdirRoot, 0o755); err != nil {
		t.Fatal(err)
	}
	p.Cmds = maps.Clone(p.Cmds)
	p.Cmds["record"], p.Cmds["suffer"] = s.cmdRecord, s.cmdSuffer
	for name, text := range stories {
		file := filepath.Join(dir, name+".txtar")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, file)
	}
	slices.Sort(p.Files)
	t.Run(name, func(t *testing.T) { testscript.Run(t, p) })
}

// passes makes the last passes and returns what status and the passes that failed printed. If only the
// last one met the request, another one sees what came of it.
func (s *errorSweep) passes(ts *testscript.TestScript, met func() bool) (said string) {
	for pass, last := 1, 3; pass <= last; pass++ {
		if pass == last && pass == 3 && !met() {
			last++
		}
		if err := ts.Exec("gh-mergexo", "tick"); err != nil {
			said += ts.ReadFile("stderr")
		}
		ts.Check(worldOf(ts).clock.later(time.Minute))
	}
	ts.Check(ts.Exec("gh-mergexo", "status"))
	return said + ts.ReadFile("stdout") + ts.ReadFile("stderr")
}

// cmdRecord notes what the last passes asked.
func (s *errorSweep) cmdRecord(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	w.hub.ResetLog()
	if said := s.passes(ts, func() bool { return true }); strings.Contains(said, "GitHub's API") {
		ts.Fatalf("an error without an error: %s", said)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[args[0]] = map[asked]bool{}
	for _, rq := range w.hub.Requests() {
		if a, ok := askedBy(rq); ok {
			s.asked[args[0]][a] = true
		}
	}
}

// cmdSuffer has GitHub answer one request with an error: "suffer KIND METHOD PATH QUERY".
func (s *errorSweep) cmdSuffer(ts *testscript.TestScript, _ bool, args []string) {
	w, a := worldOf(ts), asked{method: args[1], path: args[2], query: args[3]}
	kinds := a.kinds()
	kind := kinds[slices.IndexFunc(kinds, func(k errorKind) bool { return k.name == args[0] })]
	f := kind.answer
	f.Method, f.Path, f.Contains, f.Always = a.method, a.path, a.query, true
	w.hub.ResetLog()
	w.hub.AddFault(f)
	met := func() bool {
		return slices.ContainsFunc(w.hub.Requests(), func(rq githubsim.Request) bool { is, ok := askedBy(rq); return ok && is == a })
	}
	said := s.passes(ts, met)
	name := fmt.Sprintf("%s %s %s%s", kind.name, a.method, a.path, strings.TrimSuffix(" "+a.query, "("))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran++
	if !met() {
		s.missed++
		return
	}
	logged := slices.ContainsFunc(slices.Collect(maps.Values(needless)), func(r *regexp.Regexp) bool {
		return r.MatchString(kind.name + " " + a.path + " " + a.query)
	})
	named := kind.said == nil || kind.said.MatchString(said)
	if a.writes() && !named {
		rows, err := query(w.stateDB(), undone)
		ts.Check(err)
		logged, named = len(rows) == 0, noAnswer.MatchString(said)
		said += fmt.Sprintf("not done: %s", rows)
	}
	if !named && !logged {
		s.silent = append(s.silent, name)
		ts.Fatalf("%s: no pass that failed and no status names it:\n%s", name, said)
	}
	if twice := doneTwice(w.hub.Requests()); twice != "" {
		ts.Fatalf("%s: it is there twice: %s", name, twice)
	}
	if a.ofOne("8") && !slices.ContainsFunc(w.hub.Repo(mainRepo).Pulls(), isTitled("Stand alone")) {
		ts.Fatalf("%s: the work of an issue beside it did not begin:\n%s", name, said)
	}
	if strings.HasPrefix(a.path, "/repos/octo/app") && !slices.ContainsFunc(w.hub.Repo("octo/other").Pulls(), isTitled("Elsewhere")) {
		ts.Fatalf("%s: the work of another repository did not begin:\n%s", name, said)
	}
}

func isTitled(title string) func(githubsim.Pull) bool {
	return func(p githubsim.Pull) bool { return p.Title == title }
}

// doneTwice returns a request that made the same thing twice; empty: none did.
func doneTwice(all []githubsim.Request) string {
	made := map[string]bool{}
	for _, rq := range all {
		if !rq.Applied || !regexp.MustCompile(`^POST \S*/(comments|replies|pulls|issues|reviews)$`).MatchString(rq.Method+" "+rq.Path) {
			continue
		}
		what := rq.Method + " " + rq.Path + " " + rq.Body
		if made[what] {
			return what
		}
		made[what] = true
	}
	return ""
}
