//go:build unix

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// Three machines have a database on a server: each has a state folder, and reaches the server by a
// proxy of its own. Something happens to a pass of the first, or to its database; from then on the
// machines make passes in turn, the second first.

// fleets plays the scenarios of several machines instead of those of one.
var fleets = os.Getenv("MERGEXO_CRASH_FLEET") != ""

// fleet is what the machines of a world share in one run. A nil fleet is one machine.
type fleet struct {
	w       *world
	server  *cluster // that has the database now
	replica *cluster // that follows it; nil: none
	wal     *testpg.Proxy
	name    string // of the database
	proxies map[string]*testpg.Proxy

	halt    chan struct{} // closed when a pass was stopped
	stopped map[*exec.Cmd]chan struct{}
	turn    int // counts the passes that were made in turn; less than 0: the first machine makes all
	full    atomic.Bool

	mu   sync.Mutex
	look *pgx.Conn
}

var fleetMachines = []string{"b", "c", "a"} // in the order of their turns

// machines are the names of a world's machines, that of the first one first.
func (w *world) machines() []string {
	if w.fleet == nil {
		return []string{""}
	}
	if w.scenario.storm {
		return []string{"a", "b", "c", "d", "e"}
	}
	return []string{"a", "b", "c"}
}

// beginFleet makes the database of a run.
func (w *world) beginFleet() (err error) {
	if w.fleet = nil; !w.scenario.fleet {
		return nil
	}
	if w.server == nil {
		if w.server, err = newCluster(); err != nil {
			return err
		}
	}
	w.databases++
	f := &fleet{w: w, server: w.server, name: "run" + strconv.Itoa(w.databases), proxies: map[string]*testpg.Proxy{}, halt: make(chan struct{}), turn: -1}
	if err := f.server.run("postgres", `CREATE DATABASE `+f.name+` OWNER `+programUser+` TEMPLATE template0`); err != nil {
		return err
	}
	w.fleet = f
	for _, machine := range w.machines() {
		if f.proxies[machine], err = testpg.OpenProxy(f.url()); err != nil {
			return err
		}
		f.proxies[machine].OnFlight(func(one testpg.Flight) string { return w.rig.onFlight(machine, one) })
	}
	return nil
}

// end removes what a run has made, and has the first server run again.
func (f *fleet) end() error {
	if f == nil {
		return nil
	}
	f.forgetLook()
	var errs []error
	for _, p := range f.proxies {
		errs = append(errs, p.Close())
	}
	if f.wal != nil {
		errs = append(errs, f.wal.Close())
	}
	if f.replica != nil {
		errs = append(errs, f.replica.remove())
	}
	if f.w.server.running == nil {
		errs = append(errs, f.w.server.start())
	}
	return errors.Join(append(errs,
		f.w.server.run("postgres", `ALTER ROLE `+programUser+` CONNECTION LIMIT -1`),
		f.w.server.run("postgres", `DROP DATABASE `+f.name+` WITH (FORCE)`))...)
}

// closeFleet removes a world's server.
func (w *world) closeFleet() {
	if w.server != nil {
		_ = w.server.remove()
	}
}

// url is that of the database, for looking.
func (f *fleet) url() string { return f.server.url(f.name, programUser) }

// sharedDatabase is what the config of a machine of a fleet says of its database.
func (w *world) sharedDatabase() string {
	if w.fleet == nil {
		return ""
	}
	machine := strings.TrimPrefix(w.suffix(), "-")
	budgets := ""
	if w.scenario.storm {
		budgets = fmt.Sprintf("max_turns_per_item = 0\nmax_turns_per_day = %d\n", w.scenario.budget)
	}
	return fmt.Sprintf("database = %q\nmachine = %q\n", w.fleet.proxies[machine].Through(w.fleet.url()), w.nameOf(machine)) + budgets
}

// onFlight numbers what the first machine sends to the database.
func (r *rig) onFlight(machine string, f testpg.Flight) (sqlstate string) {
	on := r.w.fleet
	if machine != "a" {
		return ""
	}
	r.mu.Lock()
	n, known := r.query[f.N]
	if !known && !f.Done {
		r.queries++
		n = r.queries
		r.query[f.N] = n
		r.said = append(r.said, fmt.Sprintf("statement %d: %s", n, firstWords(f.SQL)))
	}
	lags := !f.Done && r.plan.act == actFailover && !r.struck && n == r.plan.lags().n
	r.mu.Unlock()
	if lags {
		on.wal.Freeze()
	}
	when := before
	if f.Done {
		when = after
		if changesRows.MatchString(f.SQL) {
			r.ends()
		}
		r.noteStatement(n, after, f)
	} else if !known {
		r.noteStatement(n, before, f)
		if changesRows.MatchString(f.SQL) {
			r.begins()
		}
	}
	if n > 0 && r.strikes(atStatement, n, when) {
		r.strike()
	}
	if at, nth := r.sends(f); nth > 0 && r.strikes(at, nth, after) {
		r.strike()
	}
	if on.full.Load() && !f.Done && writesRows.MatchString(f.SQL) {
		return "53100"
	}
	return ""
}

// sends counts what a pass hears right before it sends: that its intent is stored, and that it still
// has its session.
func (r *rig) sends(f testpg.Flight) (at place, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case strings.Contains(f.SQL, "UPDATE actions SET state = 'sent'"):
		r.intend[f.Conn] = true
	case f.Done && strings.EqualFold(f.SQL, "commit") && r.intend[f.Conn]:
		delete(r.intend, f.Conn)
		r.intents++
		return atIntent, r.intents
	case f.Done && strings.HasPrefix(f.SQL, "SELECT count(*) FROM pg_locks"):
		r.asked++
		return atAsked, r.asked
	}
	return "", 0
}

var (
	writesRows  = regexp.MustCompile(`(?i)^\s*(insert|update|delete|create|alter)\b`)
	changesRows = regexp.MustCompile(`(?i)\b(insert|update|delete|create|alter|commit)\b`) // for others, too
)

func firstWords(sql string) string {
	sql = strings.Join(strings.Fields(sql), " ")
	return sql[:min(len(sql), 100)]
}

// strike does what a point says, to the first machine's way to the database or to the server.
func (f *fleet) strike(act deed) error {
	switch act { //nolint:exhaustive // others are no strikes at a place
	case actCut:
		f.proxies["a"].Cut()
	case actStop, actRouse:
		return f.stop()
	case actRestart:
		f.forgetLook()
		return errors.Join(f.server.kill(), f.server.start())
	case actFailover:
		return f.failover()
	case actFull:
		f.full.Store(true)
	}
	return nil
}

// follow starts a replica.
func (f *fleet) follow() (err error) {
	f.replica, f.wal, err = f.server.replica()
	return err
}

// failover ends the server, and sends every machine to the replica.
func (f *fleet) failover() error {
	f.forgetLook()
	if err := errors.Join(f.server.kill(), f.replica.promote()); err != nil {
		return err
	}
	f.server = f.replica
	for _, p := range f.proxies {
		p.Cut()
		if err := p.Target(f.url()); err != nil {
			return err
		}
	}
	return nil
}

// stop stops the pass, and has the server end its session, and transactions that wait for it.
func (f *fleet) stop() error {
	f.w.mu.Lock()
	var errs []error
	f.stopped = maps.Clone(f.w.live)
	for c := range f.stopped {
		errs = append(errs, c.Process.Signal(syscall.SIGSTOP), stands(c.Process.Pid))
	}
	f.w.mu.Unlock()
	// A transaction under way waits for its next statement soon. Who migrates has a session of its own.
	errs = append(errs, f.await(`SELECT count(CASE WHEN holds OR state LIKE 'idle in transaction%' THEN pg_terminate_backend(pid) ELSE TRUE END)::text
		FROM (SELECT pid, state, application_name = 'gh mergexo pass' OR pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory') AS holds
			FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'gh mergexo%') AS a WHERE holds OR state <> 'idle'`))
	close(f.halt)
	return errors.Join(errs...)
}

// await waits until a query finds the text 0.
func (f *fleet) await(query string) error {
	for range 3000 {
		n, err := f.server.ask(f.name, query)
		if err != nil || n == "0" {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("this did not come to its end: %s", query)
}

// stands waits until a process does nothing any more.
func stands(pid int) error {
	for range 2000 {
		state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "T") {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("the process %d did not stop", pid)
}

// wake has the stopped pass continue, and waits for its end.
func (f *fleet) wake() error {
	for c := range f.stopped {
		_ = c.Process.Signal(syscall.SIGCONT)
	}
	for _, done := range f.stopped {
		select {
		case <-done:
		case <-time.After(longest):
			return fmt.Errorf("the pass that was stopped hung for %s", longest)
		}
	}
	f.stopped, f.turn = nil, 0
	return nil
}

// halted is closed when the pass was stopped.
func (w *world) halted() <-chan struct{} {
	if w.fleet == nil {
		return nil
	}
	return w.fleet.halt
}

// struck waits until what has happened is over, and nobody makes anything of it any more.
func (f *fleet) struck() {
	f.w.rig.striking.Wait()
	select {
	case <-f.halt:
		f.halt = nil // the passes of the others are not stopped
	default:
	}
	f.full.Store(false)
}

// slowDown has each statement take as long as to another town.
func (f *fleet) slowDown(there time.Duration) {
	for _, p := range f.proxies {
		p.Delay(there / 2)
	}
	f.rotate()
}

// rotate has the machines make passes in turn from now on.
func (f *fleet) rotate() {
	if f != nil {
		f.turn = 0
	}
}

// nextMachine has the next pass made on the next machine.
func (f *fleet) nextMachine() error {
	if f == nil || f.turn < 0 {
		return nil
	}
	all := fleetMachines
	if f.stopped != nil {
		all = all[:2]
	}
	f.turn++
	return f.visit((f.turn - 1) % len(all))
}

// visit has passes made on a machine, some minutes later: for as long the others leave a repository
// to the machine that worked there last.
func (f *fleet) visit(nth int) error {
	if f == nil {
		return nil
	}
	f.w.on(fleetMachines[nth])
	return f.server.run(f.name, `DO $$ BEGIN IF to_regclass('repositories') IS NOT NULL THEN UPDATE repositories SET served_at = served_at - 600000; END IF; END $$`)
}

// allCame reports whether each machine had its turn.
func (f *fleet) allCame() bool {
	return f == nil || f.turn < 0 || f.turn >= len(fleetMachines) || f.stopped != nil
}

// cut ends the connections of the dead.
func (f *fleet) cut() {
	if f == nil {
		return
	}
	for _, p := range f.proxies {
		p.Cut()
	}
}

// sessionsEnd waits until the server has noticed that they are dead.
func (f *fleet) sessionsEnd() error {
	if f == nil {
		return nil
	}
	return f.await(`SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'gh mergexo%'`)
}

// committed changes with each transaction that writes.
func (f *fleet) committed() (seen string, err error) {
	if f == nil {
		return "", nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.look == nil {
		if f.look, err = pgx.Connect(context.Background(), f.url()); err != nil {
			return "", err
		}
	}
	err = f.look.QueryRow(context.Background(), `SELECT pg_current_snapshot()::text`).Scan(&seen)
	return seen, err
}

func (f *fleet) forgetLook() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.look != nil {
		_ = f.look.Close(context.Background())
		f.look = nil
	}
}

// stored is everything in the database, as one text that differs if a row does.
func (f *fleet) stored() (string, error) {
	tables, err := f.server.ask(f.name, `SELECT coalesce(string_agg(tablename, ' ' ORDER BY tablename), '') FROM pg_tables WHERE schemaname = 'public'`)
	var b strings.Builder
	for table := range strings.FieldsSeq(tables) {
		rows, tableErr := f.server.ask(f.name, `SELECT coalesce(string_agg(t::text, E'\n' ORDER BY t::text), '') FROM `+table+` AS t`)
		err = errors.Join(err, tableErr)
		fmt.Fprintf(&b, "%s\n%s\n", table, rows)
	}
	return b.String(), err
}

// fewConnections makes a pass while the server allows so many connections. If they are too few, the
// pass ends with one line, and has changed nothing.
func (w *world) fewConnections(n int) error {
	limit := func(n int) error {
		return w.fleet.server.run("postgres", fmt.Sprintf(`ALTER ROLE %s CONNECTION LIMIT %d`, programUser, n))
	}
	hub, was := w.hub.Dump(), ""
	var err error
	if was, err = w.fleet.stored(); err != nil {
		return err
	}
	said := w.said()
	if err := limit(n); err != nil {
		return err
	}
	_, failed := w.pass()
	if err := limit(-1); err != nil {
		return err
	}
	if failed == nil {
		return nil // they are enough
	}
	now, err := w.fleet.stored()
	switch lines := strings.Count(strings.TrimPrefix(w.said(), said), "\n"); {
	case err != nil:
		return err
	case lines != 1:
		return fmt.Errorf("with %d connections a pass says %d lines", n, lines)
	case now != was:
		return fmt.Errorf("with %d connections a pass fails, and changes the database:\n%s", n, diff(was, now))
	case w.hub.Dump() != hub:
		return fmt.Errorf("with %d connections a pass fails, and changes GitHub:\n%s", n, diff(hub, w.hub.Dump()))
	}
	return nil
}

// said is what the passes have printed.
func (w *world) said() string {
	text, _ := os.ReadFile(w.path("log"))
	return string(text)
}

// kindsOfFleet has the lines of the table.
var kindsOfFleet = map[deed]string{
	actCut:      "fleet: connections cut",
	actStop:     "fleet: stopped past its session",
	actRouse:    "fleet: stopped, awake during the next turn",
	actRestart:  "fleet: server killed",
	actFailover: "fleet: failover to a replica behind",
	actFull:     "fleet: server's disk full",
	actFew:      "fleet: few connections",
	actSlow:     "fleet: 20 ms to the database",
}

// fleetPoints are those that are run of a scenario with several machines.
func (s scenario) fleetPoints(want outcome, r *rand.Rand, out *table) (points []point) {
	c := want.counts
	add := func(act deed, at place, when moment, n int) {
		points = append(points, upTo(n, point{act: act, at: at, when: when})...)
	}
	add(actKill, atRequest, before, c.requests)
	add(actKill, atWrite, after, c.writes)
	add(actKill, atStatement, before, c.queries)
	add(actKill, atAgent, before, c.agents)
	add(actKill, atAgent, after, c.agents)
	out.enumerated(s.name, kindKill, 3*(c.requests+c.agents)+2*c.queries) // answered is before the next
	for _, act := range []deed{actCut, actStop} {
		add(act, atRequest, before, c.requests)
		add(act, atWrite, after, c.writes)
		add(act, atStatement, after, c.queries)
		add(act, atIntent, after, c.intents)
		add(act, atAsked, after, c.asked)
	}
	add(actCut, atStatement, before, c.queries)
	add(actStop, atAgent, after, c.agents)
	add(actRouse, atAgent, after, c.agents)
	add(actRestart, atStatement, before, c.queries)
	add(actRestart, atWrite, after, c.writes)
	full := upTo(c.queries, point{act: actFull, at: atStatement, when: before}) // it strikes at the next statement that writes
	points = append(points, slices.DeleteFunc(full, func(p point) bool { return !want.found[spot{p.at, p.n, p.when}].writes })...)
	for n := 1; n <= c.queries; n++ {
		less := []int{4, 20, 100}[n%3]
		points = append(points, point{act: actFailover, at: atStatement, n: n, when: after, less: less})
	}
	points = distinct(points, want.found, r)
	points = append(points, overlaps(c)...)
	if s.setup != nil {
		points = append(points, upTo(6, point{act: actFew})...)
	}
	if mode != "ci" || s.setup != nil { // it takes a minute where much happens
		points = append(points, point{act: actSlow, n: 20})
	}
	most := map[string]int{"ci": 1, "single": 40, "all": len(points)}[mode]
	return eachKind(points, most, r)
}

// eachKind takes so many points of each kind; all kills, but in CI.
func eachKind(points []point, most int, r *rand.Rand) (some []point) {
	byKind := map[string][]point{}
	var kinds []string
	for _, p := range points {
		if byKind[p.kind()] == nil {
			kinds = append(kinds, p.kind())
		}
		byKind[p.kind()] = append(byKind[p.kind()], p)
	}
	for _, kind := range kinds {
		n := most
		if kind == kindKill && mode != "ci" {
			n = len(points)
		}
		some = append(some, spread(byKind[kind], n, r)...)
	}
	return slices.Clip(some)
}
