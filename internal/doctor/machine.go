package doctor

import (
	"fmt"
	"strings"
	"time"
)

func agents(f Facts) []Check {
	var all []Check
	for _, g := range f.Agents {
		all = append(all, agent(g)...)
	}
	return all
}

func agent(g Agent) []Check {
	a := &about{name: g.Name}
	if g.Missing != "" {
		a.fail(CodeAgent, g.Missing, "")
		return a.all
	}
	a.ok(CodeAgent, g.Path)
	switch {
	case g.TooOld:
		a.fail(CodeVersion, g.Drift, "")
	case g.Drift != "":
		a.warn(CodeVersion, g.Drift, "")
	case g.Version != "":
		a.ok(CodeVersion, g.Version+" is known to work")
	}
	switch {
	case !g.Login.Known && g.Login.Says == "":
	case !g.Login.Known:
		a.ok(CodeAgentLogin, g.Login.Says)
	case g.Login.In:
		a.ok(CodeAgentLogin, g.Login.Says)
	default:
		a.fail(CodeAgentLogin, g.Login.Says, g.Login.Do)
	}
	return a.all
}

func sandboxes(f Facts) []Check {
	var all []Check
	for _, g := range f.Agents {
		a, s := &about{name: g.Name}, g.Sandbox
		switch {
		case s.Blocked != "":
			a.fail(CodeSandbox, s.Blocked, s.Do)
		case !s.Hides:
			a.warn(CodeSandbox, s.Says, s.Do)
		default:
			writes := ""
			if len(s.Writes) > 0 {
				writes = "; beside its checkout it may write " + strings.Join(s.Writes, ", ")
			}
			a.ok(CodeSandbox, fmt.Sprintf("%s%s; to list what it sees: gh mergexo sandbox show %s", s.Says, writes, g.Name))
		}
		all = append(all, a.all...)
	}
	return all
}

func machine(f Facts) []Check {
	a := &about{}
	if f.Git != nil {
		program(a, CodeGit, "git", *f.Git)
	}
	if f.Home != nil {
		folder(a, CodeHome, *f.Home)
	}
	if f.State != nil {
		folder(a, CodeState, *f.State)
	}
	database(a, f.Database)
	disk(a, f.Disk)
	all := a.all
	for _, h := range f.Hosts {
		if h.Ahead != nil {
			all = append(all, clock(h)...)
		}
	}
	return all
}

func folder(a *about, code Code, f Folder) {
	switch {
	case f.Trouble != "":
		a.fail(code, f.Trouble, f.Do)
	case f.New:
		a.ok(code, f.Path+" can be created")
	default:
		a.ok(code, f.Path+" can be written")
	}
}

func database(a *about, d *Database) {
	switch {
	case d == nil:
	case d.Trouble != "":
		a.fail(CodeDatabase, d.Trouble, d.Do)
	case d.Missing:
		a.ok(CodeDatabase, "none yet: the first pass creates it")
	case d.Older:
		a.ok(CodeDatabase, "of an older version: the next pass migrates it")
	default:
		a.ok(CodeDatabase, d.Path+" is whole")
	}
}

// Below noRoom a pass cannot even record what it does; below littleRoom a checkout may not fit.
const (
	noRoom     = 64 << 20
	littleRoom = 1 << 30
)

func disk(a *about, d *Disk) {
	const do = "make room, or set runtime.state_dir in the config to a folder on a larger disk"
	switch {
	case d == nil:
	case d.Free < noRoom:
		a.fail(CodeDisk, fmt.Sprintf("the disk of %s is full: %s left", d.Path, size(d.Free)), do)
	case d.Free < littleRoom:
		a.warn(CodeDisk, fmt.Sprintf("the disk of %s is nearly full: %s left", d.Path, size(d.Free)), do)
	default:
		a.ok(CodeDisk, fmt.Sprintf("%s left for %s", size(d.Free), d.Path))
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

func clock(h Host) []Check {
	a := &about{}
	const do = "synchronize it, for example: sudo timedatectl set-ntp true"
	away, how := *h.Ahead, "ahead of"
	if away < 0 {
		away, how = -away, "behind"
	}
	says := fmt.Sprintf("this machine's clock is %s %s that of %s", roughly(away), how, h.Name)
	switch {
	case away >= wrongClock:
		a.fail(CodeClock, says+": passes correct for that, but logins and certificates depend on it", do)
	case away > 0:
		a.warn(CodeClock, says+"; passes correct for that", do)
	default:
		a.ok(CodeClock, "it agrees with that of "+h.Name)
	}
	return a.all
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
