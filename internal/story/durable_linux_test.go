package story

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A power loss forgets what no fsync has put on disk, which no kill shows.
// So a whole pass of the real binary is run under strace, and its system calls
// are read: before each effect, the row of its intent was written to the
// database's log and the log was synced.
func TestEveryIntentIsSyncedBeforeItsEffect(t *testing.T) {
	testhome.OnlyLong(t)
	needStrace(t)
	p := tracedPass(t, buildBinary(t, nil))
	for _, complaint := range p.unsynced() {
		t.Error(complaint)
	}
	for _, effect := range p.effects {
		t.Logf("%d syncs of the log before %s", p.syncsBefore(effect), p.kind(effect))
	}
	if kinds := p.kinds(); !slices.Equal(kinds, []string{"push", "POST", "POST"}) { // branch, pull request, comment
		t.Errorf("the pass's effects were %q", kinds)
	}
	for _, sent := range p.intents {
		if sent != "1" {
			t.Errorf("at a write request %s actions were on record as sent and not settled, want 1", sent)
		}
	}
	p.answered(t)
}

// answered checks that the commit and its ref are on disk before the row that says that the agent has answered.
func (p *traced) answered(t *testing.T) {
	t.Helper()
	rows, err := query(p.w.stateDB(), `SELECT turn_key, commit_oid FROM turns`)
	if err != nil || len(rows) != 1 {
		t.Fatalf("turns: %q, %v", rows, err)
	}
	key, commit := rows[0][0], rows[0][1]

	ended := p.agentEnd()
	turnRef, turnSynced := p.named("turns/" + key)
	_, commitSynced := p.named(commit[:2] + "/" + commit[2:])
	row := p.firstAfter(ended, slices.DeleteFunc(p.logWrites(), func(c call) bool {
		schema := strings.Contains(c.said, "CREATE TABLE") // its comments have the word, too
		return schema || !strings.Contains(c.said, string(work.StepAnswered))
	}))
	for _, order := range []struct {
		what   string
		points []int
	}{
		{"the commit is synced, then named by its ref", []int{ended, commitSynced, turnRef}},
		{"the turn's ref is synced, takes its name, and the row comes later", []int{ended, turnSynced, turnRef, row}},
	} {
		if slices.Contains(order.points, 0) || !slices.IsSorted(order.points) {
			t.Errorf("not so: %s (lines %d of the trace)", order.what, order.points)
		}
	}
}

// The test above would not be worth much if it passed for a database that
// leaves syncing to checkpoints.
func TestALazyDatabaseIsFoundOut(t *testing.T) {
	testhome.OnlyLong(t)
	needStrace(t)
	lazy := buildBinary(t, func(source string) string {
		return strings.Replace(source, `"synchronous(FULL)"`, `"synchronous(NORMAL)"`, 1)
	})
	p := tracedPass(t, lazy)
	if got := p.unsynced(); len(got) != len(p.effects) {
		t.Errorf("with synchronous=NORMAL %d of %d effects were found to come before their intent was on disk: %q", len(got), len(p.effects), got)
	}
}

// A pause of everything outlives a power loss, and so does its end.
func TestAPauseOfEverythingIsOnDisk(t *testing.T) {
	testhome.OnlyLong(t)
	needStrace(t)
	binary, err := program("gh-mergexo")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.close() })
	for _, verb := range []string{"pause", "resume"} {
		names := map[string][]string{"pause": {"rename", "renameat", "renameat2"}, "resume": {"unlink", "unlinkat"}}[verb]
		p := &traced{w: w, file: filepath.Join(w.work, "trace-"+verb)}
		p.run(t, binary, verb, "--all")
		changed, folder := 0, 0
		for _, c := range p.calls {
			switch {
			case slices.Contains(names, c.name) && strings.Contains(c.said, `/paused.json"`) && strings.Contains(c.said, "= 0"):
				changed = c.end
			case c.name == "fsync" && strings.Contains(c.said, "<"+w.stateDir()+">") && changed > 0:
				folder = c.begin
			}
		}
		if changed == 0 || folder < changed {
			t.Errorf("%s --all: line %d of the trace changes the folder, and line %d syncs it", verb, changed, folder)
		}
	}
}

// needStrace skips where processes cannot be traced; CI must not be such a place.
func needStrace(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "strace", "-f", "-e", "trace=fsync", "true").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("strace does not work here, and what is on disk when was not tested: %v: %s", err, out)
	}
	t.Skipf("strace does not work here: %v: %s", err, out)
}

// buildBinary builds the program as it is released, or with store/sqlite.go changed.
func buildBinary(t *testing.T, change func(source string) string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"build", "-o", filepath.Join(dir, "gh-mergexo")}
	if change != nil {
		path, err := filepath.Abs("../../store/sqlite.go")
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := change(string(source))
		if changed == string(source) {
			t.Fatal("store/sqlite.go does not say what is to be changed any more")
		}
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: filepath.Join(dir, "open.go")}})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"open.go": changed, "overlay.json": string(overlay)} {
			if err := put(filepath.Join(dir, name), text); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, "-overlay", filepath.Join(dir, "overlay.json"))
	}
	c := exec.CommandContext(t.Context(), "go", append(args, "../../cmd/gh-mergexo")...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "gh-mergexo")
}

// traced is a pass that opened a pull request, and its system calls.
type traced struct {
	w       *world
	file    string
	calls   []call
	effects []call   // what reached GitHub, oldest first
	intents []string // how many sent actions the database knew at each write request
}

// call is a system call. It may be begun on one line of the trace and ended on
// a later one.
type call struct {
	pid, name, said string
	begin, end      int
}

func tracedPass(t *testing.T, binary string) *traced {
	t.Helper()
	w, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	r := w.hub.Repo(mainRepo)
	n, err := r.OpenIssue("ann", "Crash on start", "")
	if err == nil {
		err = r.Label(n, "octo", "agent:bugfix")
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &traced{w: w, file: filepath.Join(w.work, "trace")}
	var mu sync.Mutex
	w.hub.OnRequest(func(rq githubsim.Request) {
		if !rq.Write || rq.Done {
			return
		}
		rows, err := query(w.stateDB(), `SELECT count(*) FROM actions WHERE state = 'sent' AND sends = 1`)
		if err != nil {
			rows = [][]string{{err.Error()}}
		}
		mu.Lock()
		defer mu.Unlock()
		p.intents = append(p.intents, rows[0][0])
	})
	p.run(t, binary, "tick")
	return p
}

// run runs the program under strace, and reads the trace.
func (p *traced) run(t *testing.T, binary string, args ...string) {
	t.Helper()
	calls := "trace=execve,write,pwrite64,sendto,sendmsg,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat"
	c := exec.CommandContext(t.Context(), "strace", append([]string{"-f", "--seccomp-bpf", "-y", "-s", "5000", "-e", calls, "-o", p.file, binary}, args...)...)
	c.Env = append(os.Environ(), "PATH="+os.Getenv("PATH"))
	for name, value := range maps.All(p.w.environ()) {
		c.Env = append(c.Env, name+"="+value)
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	p.read(t)
}

var (
	line   = regexp.MustCompile(`^(\d+) +(?:(\w+)\((.*)|<\.\.\. (\w+) resumed>(.*))$`)
	exited = regexp.MustCompile(`^(\d+) +\+\+\+ exited`)
	sent   = regexp.MustCompile(`^\d+<[^>]*>, "(POST|PATCH|PUT|DELETE) (/\S+)`)
)

// read understands the trace.
func (p *traced) read(t *testing.T) {
	t.Helper()
	f, err := os.Open(p.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	open := map[string]int{} // by process: its call that has not ended
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if m := exited.FindStringSubmatch(lines.Text()); m != nil {
			p.calls = append(p.calls, call{pid: m[1], name: "exit", begin: n, end: n})
			continue
		}
		m := line.FindStringSubmatch(lines.Text())
		switch {
		case m == nil:
		case m[4] != "":
			if i, ok := open[m[1]]; ok {
				p.calls[i].end = n
				p.calls[i].said += m[5] // what came of it
				delete(open, m[1])
			}
		default:
			c := call{pid: m[1], name: m[2], said: m[3], begin: n, end: n}
			if strings.HasSuffix(m[3], "<unfinished ...>") {
				c.end = 1 << 30
				open[c.pid] = len(p.calls)
			}
			p.calls = append(p.calls, c)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range p.calls {
		if p.kind(c) != "" {
			p.effects = append(p.effects, c)
		}
	}
}

// kind says what a call sends to GitHub, if it does.
func (p *traced) kind(c call) string {
	switch c.name {
	case "execve":
		if strings.Contains(c.said, `"push", `) && strings.Contains(c.said, "= 0") {
			return "push"
		}
	case "write", "sendto", "sendmsg":
		if m := sent.FindStringSubmatch(c.said); m != nil && !strings.HasSuffix(m[2], "/graphql") {
			return m[1]
		}
	}
	return ""
}

func (p *traced) kinds() []string {
	var all []string
	for _, e := range p.effects {
		all = append(all, p.kind(e))
	}
	return all
}

// onLog tells whether a call is one of these on the database's log.
func onLog(c call, names ...string) bool {
	return slices.Contains(names, c.name) && strings.Contains(strings.SplitN(c.said, ",", 2)[0], "/state.db-wal>")
}

func (p *traced) logWrites() []call {
	return slices.DeleteFunc(slices.Clone(p.calls), func(c call) bool { return !onLog(c, "write", "pwrite64") })
}

// unsynced says of which effects the intent was not on disk: between the effect
// before and this one nothing was written to the log, or what was written was
// not synced.
func (p *traced) unsynced() []string {
	var all []string
	before := 0
	for _, effect := range p.effects {
		written, synced := 0, 0
		for _, c := range p.calls {
			switch {
			case c.begin < before || c.end >= effect.begin:
			case onLog(c, "write", "pwrite64"):
				written, synced = c.end, 0
			case onLog(c, "fsync", "fdatasync") && written > 0 && c.begin > written:
				synced = c.end
			}
		}
		if synced == 0 {
			all = append(all, fmt.Sprintf("line %d of the trace: %.120s: log written at %d and not synced since", effect.begin, effect.said, written))
		}
		before = effect.begin
	}
	return all
}

// syncsBefore counts the syncs of the log between an effect and the one before.
func (p *traced) syncsBefore(effect call) int {
	n, before := 0, 0
	for _, e := range p.effects {
		if e.begin < effect.begin {
			before = e.begin
		}
	}
	for _, c := range p.calls {
		if onLog(c, "fsync", "fdatasync") && c.begin > before && c.end < effect.begin {
			n++
		}
	}
	return n
}

// agentEnd is when the agent's process ended.
func (p *traced) agentEnd() int {
	pid := ""
	for _, c := range p.calls {
		if c.name == "execve" && strings.Contains(c.said, "scripted-agent") && strings.Contains(c.said, "= 0") {
			pid = c.pid
		}
		if c.name == "exit" && c.pid == pid {
			return c.begin
		}
	}
	return 0
}

func (p *traced) firstAfter(n int, calls []call) int {
	for _, c := range calls {
		if c.begin > n {
			return c.begin
		}
	}
	return 0
}

var quoted = regexp.MustCompile(`"([^"]*)"`)

// tail is a file by its name and folder: git names files relative to where it is.
func tail(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// named says when a file got its name, and when what got it had been synced: 0
// is never.
func (p *traced) named(name string) (at, synced int) {
	onDisk := map[string]int{}
	path := regexp.MustCompile(`^\d+<([^>]*)>`)
	for _, c := range p.calls {
		switch c.name {
		case "fsync", "fdatasync":
			if m := path.FindStringSubmatch(c.said); m != nil {
				onDisk[tail(m[1])] = c.end
			}
		case "rename", "renameat", "renameat2", "link", "linkat":
			m := quoted.FindAllStringSubmatch(c.said, -1)
			if len(m) == 2 && strings.Contains(c.said, "= 0") && tail(m[1][1]) == name {
				at, synced = c.end, onDisk[tail(m[0][1])]
			}
		}
	}
	return at, synced
}
