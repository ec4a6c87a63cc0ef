package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

func config(f Facts) []Check {
	var all []Check
	for _, p := range f.Config.Problems {
		all = append(all, fail(p, cmp.Or(f.Config.Do, "correct that, then: gh mergexo config"))...)
	}
	if len(all) == 0 {
		return ok(fmt.Sprintf("%s, %s", f.Config.Path, count(f.Config.Repos, "repository", "repositories")))
	}
	return all
}

func settings(f Facts) []Check {
	var all []Check
	for _, d := range f.Config.Doubts {
		all = append(all, warn(d, "")...)
	}
	return all
}

func program(g Agent) []Check {
	if g.Missing != "" {
		return fail(g.Missing, fmt.Sprintf("install that program, or correct command of [agents.%s]", g.Name))
	}
	if g.Tells != "" {
		return ok(fmt.Sprintf("%s; usage that it reports: %s", g.Path, g.Tells))
	}
	return ok(g.Path)
}

func version(g Agent) []Check {
	switch {
	case g.TooOld:
		return fail(g.Drift, "install a newer version of its program")
	case g.Drift != "":
		return warn(g.Drift, "if its turns fail, install one of those")
	case g.Version != "":
		return ok(g.Version + " is in the range of the tested ones")
	}
	return nil
}

func agentLogin(g Agent) []Check {
	switch l := g.Login; {
	case !l.Known && l.Says == "":
		return nil
	case l.Known && !l.In:
		return fail(l.Says, cmp.Or(l.Do, "log in with its own program"))
	default:
		return ok(l.Says)
	}
}

func sandbox(g Agent) []Check {
	switch {
	case g.Blocked:
		return fail(g.Says, cmp.Or(g.Remedy, "gh mergexo doctor --sandbox "+g.Name))
	case !g.Hides:
		return warn(g.Says, cmp.Or(g.Remedy, "gh mergexo doctor --sandbox "+g.Name))
	}
	writes := ""
	if len(g.Writes) > 0 {
		writes = "; beside its checkout it may write " + strings.Join(g.Writes, ", ")
	}
	return ok(fmt.Sprintf("%s%s; to list what it sees: gh mergexo doctor --sandbox %s", g.Says, writes, g.Name))
}

func commands(f Facts) []Check {
	return each(f.Commands, func(c Command) bool { return c.Missing }, func(c Command) []Check {
		says := fmt.Sprintf("agent %q does not find the program %q of %s", c.Agent, c.Program, c.Key)
		do := fmt.Sprintf("install it, or correct %s in [[repo]]", c.Key)
		if c.Needed {
			return fail(says, do)
		}
		return warn(says+": turns run without what it would make", do)
	})
}

func messages(f Facts) []Check {
	return each(f.Messages, always, func(m Message) []Check {
		switch {
		case m.Target == "":
			return fail(m.Says, "gh mergexo config --example shows one")
		case !m.Arrived:
			return fail("the test message did not arrive: "+m.Says, "correct its command in [[notify]]")
		}
		return ok("the test message arrived: " + m.Says)
	})
}

func git(f Facts) []Check { return required(f.Git, "install git 2.38 or later") }

// agentHome is silent where all is well: most agents need no more than their login.
func agentHome(g Agent) []Check {
	if g.Keeps == nil {
		return nil
	}
	return fail(g.Keeps.Says, g.Keeps.Do)
}

func agentStart(g Agent) []Check {
	switch {
	case g.Blocked: // reported by sandbox
		return nil
	case g.Fails != nil:
		return fail("its turns cannot start: "+g.Fails.Says, cmp.Or(g.Fails.Do, fmt.Sprintf("gh mergexo doctor --sandbox %s lists what it sees; readable in [agents.%s] lets in more", g.Name, g.Name)))
	}
	return ok("its program starts as in a turn")
}

// home is about turns without a sandbox: in one, agents get a home of their own. What an agent keeps
// in the real one has its own check.
func home(f Facts) []Check {
	switch {
	case f.Home == nil || f.Home.Trouble == "":
		return nil
	case slices.ContainsFunc(f.Agents, func(g Agent) bool { return !g.Hides }):
		return warn(f.Home.Trouble+": agents without a sandbox may need it", "mount it for writing, set HOME to a folder that you may write to, or give the agents a sandbox")
	}
	return ok(f.Home.Trouble + ", and no turn needs it")
}

func metricsFile(f Facts) []Check {
	return folder(f.Metrics, "set metrics_file in [runtime] to a file in another folder")
}

func state(f Facts) []Check {
	if f.State != nil && f.State.Path == "" {
		return fail("no folder for the state is known: HOME is not set", "set HOME, or state_dir in [runtime] to an absolute path")
	}
	return folder(f.State, work.AnotherFolder)
}

func folder(f *Folder, do string) []Check {
	switch {
	case f == nil:
		return nil
	case f.Trouble != "":
		return fail(f.Trouble, cmp.Or(f.Do, do))
	case f.New:
		return ok(f.Path + " can be created")
	}
	return ok(f.Path + " can be written")
}

func database(f Facts) []Check {
	switch d := f.Database; {
	case d == nil:
		return nil
	case d.Damage != "":
		return fail(d.Path+" is damaged: "+d.Damage, d.Mend+"; the next pass finds the work again on GitHub (docs/guarantees.md)")
	case d.Trouble != "":
		return fail(d.Trouble, cmp.Or(d.Do, "gh mergexo tick shows whether a pass can use it"))
	case d.Missing && d.Server != nil:
		return ok(d.Server.says() + ": no pass has used it yet; the first one creates its tables")
	case d.Missing:
		return ok("none yet: the first pass creates it")
	case d.Older:
		return ok("of an older version: the next pass migrates it")
	case d.Server != nil:
		return ok(fmt.Sprintf("%s, with schema %d: it can be written, and keeps the locks of a pass", d.Server.says(), d.Server.Schema))
	default:
		return ok(d.Path + " is whole and can be written")
	}
}

func (s *Server) says() string {
	encrypted := "not encrypted, on this machine"
	if s.TLS != "" {
		encrypted = "encrypted by " + s.TLS
	}
	return fmt.Sprintf("%s, PostgreSQL %s, %s", s.Address, s.Version, encrypted)
}

// server asks about the server of a database that passes can use.
func server(ask func(*Server) []Check) func(Facts) []Check {
	return func(f Facts) []Check {
		if f.Database == nil || f.Database.Server == nil {
			return nil
		}
		return ask(f.Database.Server)
	}
}

// connectionsOfPass is how many connections a pass has: its session, and those of its transactions.
const connectionsOfPass = 2

func connections(s *Server) []Check {
	needed := connectionsOfPass * max(s.Machines, 1)
	if s.Free < needed {
		return warn(fmt.Sprintf("the database server accepts %s more; the passes of %s need %d", count(s.Free, "connection", "connections"), count(max(s.Machines, 1), "machine", "machines"), needed),
			"raise max_connections of the server, or the limit of the user or the database, or let fewer programs use it")
	}
	return ok(fmt.Sprintf("the database server accepts %s more", count(s.Free, "connection", "connections")))
}

func durability(s *Server) []Check {
	if s.Lossy != "" {
		return warn("the database server may lose rows when it or its machine crashes: "+s.Lossy, "set it to on in postgresql.conf: a pass relies on what it has stored")
	}
	return ok("the database server keeps what it has committed")
}

func databaseAccess(s *Server) []Check {
	if s.Public != "" {
		return warn("every role of the database server may connect to the database, see which locks passes hold, and take them", "as the database's owner or a superuser: REVOKE CONNECT ON DATABASE "+s.Public+" FROM PUBLIC")
	}
	return ok("not every role of the database server may connect to the database")
}

// serverClock allows for what a connection takes.
const serverClock = 5 * time.Second

func databaseClock(s *Server) []Check {
	away, how := s.Ahead, "ahead of"
	if away < 0 {
		away, how = -away, "behind"
	}
	if away > serverClock {
		return warn(fmt.Sprintf("this machine's clock is %s %s that of the database server; beyond a minute no pass uses the database", roughly(away), how), "synchronize both, for example: sudo timedatectl set-ntp true")
	}
	return ok("it agrees with that of the database server")
}

// Below noRoom a pass cannot even record what it does; below littleRoom a checkout may not fit.
// With fewer than noInodes no checkout does.
const (
	noRoom     = 64 << 20
	littleRoom = 1 << 30
	noInodes   = 1000
)

func disk(f Facts) []Check {
	const do = "make room: 64 MiB for a pass, 1 GiB or more for mirrors and checkouts; or set runtime.state_dir in the config to a folder on a larger disk"
	switch d := f.Disk; {
	case d == nil:
		return nil
	case d.Free < noRoom:
		return fail(fmt.Sprintf("the disk of %s is full: %s left", d.Path, size(d.Free)), do)
	case d.Inodes >= 0 && d.Inodes < noInodes:
		return fail(fmt.Sprintf("the disk of %s has %s left: it can hold hardly any more files", d.Path, count(int(d.Inodes), "inode", "inodes")), "delete files there (df -i shows how many it can hold), or "+work.AnotherFolder)
	case d.Free < littleRoom:
		return warn(fmt.Sprintf("the disk of %s is nearly full: %s left", d.Path, size(d.Free)), do)
	default:
		return ok(fmt.Sprintf("%s left for %s", size(d.Free), d.Path))
	}
}

// size formats a number of bytes for people.
func size(n int64) string {
	unit, value := 0, float64(n)
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1<<10 && unit < len(units)-1 {
		value, unit = value/(1<<10), unit+1
	}
	return fmt.Sprintf("%.4g %s", value, units[unit])
}

// wrongClock is the clock error from which logins and certificates may be judged wrongly.
const wrongClock = 5 * time.Minute

func clock(f Facts) []Check {
	const do = "synchronize it, for example: sudo timedatectl set-ntp true"
	var all []Check
	for _, h := range f.Hosts {
		if h.Ahead == nil {
			continue
		}
		away, how := *h.Ahead, "ahead of"
		if away < 0 {
			away, how = -away, "behind"
		}
		says := fmt.Sprintf("this machine's clock is %s %s that of %s", roughly(away), how, h.Name)
		switch {
		case away >= wrongClock:
			all = append(all, fail(says+": passes correct for that, but logins and certificates depend on it", do)...)
		case away > 0:
			all = append(all, warn(says+"; passes correct for that", do)...)
		default:
			all = append(all, ok("it agrees with that of "+h.Name)...)
		}
	}
	return all
}

// roughly rounds a duration for people.
func roughly(d time.Duration) string {
	if d < wrongClock {
		return d.Round(time.Second).String()
	}
	text := strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	if strings.HasSuffix(text, "h0m") {
		return strings.TrimSuffix(text, "0m")
	}
	return text
}

func schedule(f Facts) []Check {
	const do = "gh mergexo schedule install"
	s := f.Schedule
	switch {
	case s == nil:
		return nil
	case s.Trouble != "":
		return warn(s.Trouble, cmp.Or(s.Do, "gh mergexo schedule status"))
	case !s.Installed:
		return warn("gh mergexo has installed no schedule here", do)
	}
	var all []Check
	for _, why := range s.Differs {
		all = append(all, warn(s.Says+", and "+why, do)...)
	}
	switch {
	case len(all) > 0:
		return all
	case !s.Active:
		return warn(s.Says+", and is not active", do)
	}
	return ok(s.Says)
}

func cronDaemon(f Facts) []Check {
	if f.Schedule == nil || !f.Schedule.CronSleeps {
		return nil
	}
	return warn("no cron daemon runs, so nothing starts the passes of the crontab", "sudo service cron start")
}

func lacks(f Facts) []Check {
	if f.Schedule == nil {
		return nil
	}
	var all []Check
	for _, t := range f.Schedule.Lacks {
		all = append(all, warn(t.Says, t.Do)...)
	}
	return all
}

func machineName(f Facts) []Check {
	switch n := f.Namesake; {
	case n.Says == "":
		return nil
	case n.Refused:
		return fail(n.Says, n.Do)
	default:
		return warn(n.Says+"; once a pass begins here, passes there are refused", n.Do)
	}
}

func machineConfigs(f Facts) (all []Check) {
	for _, t := range f.Unlike {
		all = append(all, warn(t.Says, t.Do)...)
	}
	return all
}

// agentCost asks about agents only where a budget limits the cost.
func agentCost(f Facts) []Check {
	if !f.LimitsCost {
		return nil
	}
	return each(f.Agents, func(g Agent) bool { return g.CostUnknown }, func(g Agent) []Check {
		return warn(spending.CostWarning, spending.CostRemedy(!g.TokensUnknown))
	})
}
