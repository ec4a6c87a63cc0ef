package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// tickTells is what to do where the error has no remedy.
const tickTells = "gh mergexo tick shows whether a pass can use it"

func database(ctx context.Context, e *exam) []Result {
	dir := e.cfg.Runtime.StateDir
	if dir == "" || machine.GuardState(dir) != nil { // the state folder has a check of its own
		return nil
	}
	at, err := machine.DatabaseAt(e.cfg)
	if wrong, ok := errors.AsType[*config.DatabaseError](err); ok {
		return fail(wrong.Error(), wrong.Do)
	}
	if err != nil {
		return failure(machine.TroubleOf(err, tickTells))
	}
	if moved, is := errors.AsType[*store.MovedError](e.stored.fleet.Moved()); is {
		return fail(moved.Says(), moved.Do())
	}
	if e.cfg.Runtime.DatabaseKey() != "" {
		return onServer(ctx, at, max(len(e.stored.machines), 1))
	}
	if e.machine.TryState() != nil { // what mends the folder mends this
		return nil
	}
	return inFile(ctx, at)
}

// inFile writes to the database as a pass does, and has SQLite check all of it.
func inFile(ctx context.Context, at string) []Result {
	var unwritable error
	if files.Exists(at) {
		unwritable = store.TryWrite(ctx, at)
	}
	if locked, ok := errors.AsType[*store.LockedError](unwritable); ok {
		return fail(locked.Error(), fmt.Sprintf("find the program and end it: fuser -v %q", at))
	}
	there, err := whole(ctx, at)
	damaged, isDamaged := errors.AsType[*store.DamagedError](err)
	switch {
	case isDamaged:
		return fail(at+" is damaged: "+damaged.Words, damaged.MoveAway()+"; the next pass finds the work again on GitHub (docs/guarantees.md)")
	case errors.Is(err, store.ErrOlder):
		return ok("of an older version: the next pass migrates it")
	case err != nil:
		return failure(machine.TroubleOf(err, tickTells))
	case !there:
		return ok("none yet: the first pass creates it")
	case unwritable != nil:
		return failure(machine.TroubleOf(unwritable, "run gh mergexo as the user to whom the state folder belongs, and make room"))
	}
	return ok(at + " is whole and can be written")
}

// whole has a database check what it stores; false: there is none yet.
func whole(ctx context.Context, at string) (there bool, err error) {
	db, there, err := store.OpenReadOnly(ctx, at)
	if there {
		err = errors.Join(db.Check(ctx), db.Close())
	}
	return there, err
}

// onServer tries a database on a server, which so many machines use.
func onServer(ctx context.Context, at string, machines int) []Result {
	s, err := store.Inspect(ctx, at)
	if err == nil && s.Schema == s.Newest {
		_, err = whole(ctx, at)
	}
	if err != nil {
		return failure(machine.TroubleOf(err, tickTells))
	}
	encrypted := "not encrypted, on this machine"
	if s.TLS != "" {
		encrypted = "encrypted by " + s.TLS
	}
	says := fmt.Sprintf("%s, PostgreSQL %s, %s", s.Address, s.Version, encrypted)
	switch {
	case s.Schema == 0:
		says += ": no pass has used it yet; the first one creates its tables"
	case s.Schema < s.Newest:
		says = "of an older version: the next pass migrates it"
	default:
		says += fmt.Sprintf(", with schema %d: it can be written, and keeps the locks of a pass", s.Schema)
	}
	return slices.Concat(ok(says), ofServer(s, machines))
}

// connectionsOfPass is how many connections a pass has: its session, and those of its transactions.
const connectionsOfPass = 2

// serverClock allows for what a connection takes.
const serverClock = 5 * time.Second

// ofServer judges a server that so many machines use.
func ofServer(s *store.Server, machines int) (all []Result) {
	if needed := connectionsOfPass * machines; s.Free < needed {
		all = warn(fmt.Sprintf("the database server accepts %s more; the passes of %s need %d", work.Count(s.Free, "connection"), work.Count(machines, "machine"), needed),
			"raise max_connections of the server, or the limit of the user or the database, or let fewer programs use it")
	}
	if s.Public != "" {
		all = append(all, warn("every role of the database server may connect to the database, see which locks passes hold, and take them",
			"as the database's owner or a superuser: REVOKE CONNECT ON DATABASE "+s.Public+" FROM PUBLIC")...)
	}
	if s.Lossy != "" {
		all = append(all, warn("the database server may lose rows when it or its machine crashes: "+s.Lossy, "set it to on in postgresql.conf: a pass relies on what it has stored")...)
	}
	if s.Behind.Abs() > serverClock {
		all = append(all, warn(fmt.Sprintf("this machine's clock is %s that of the database server; beyond a minute no pass uses the database", away(s.Behind)), "synchronize both, "+synchronize)...)
	}
	return all
}

// namesake is about another machine that goes by the name of this one.
func namesake(_ context.Context, e *exam) []Result {
	if e.cfg.Runtime.DatabaseKey() == "" {
		return nil
	}
	dirs := folder.At(e.cfg.Runtime.StateDir)
	remembered, err := dirs.Fleet()
	if err != nil {
		return nil // the state folder has a check of its own
	}
	here, err := dirs.Installed(folder.MachineID())
	if err != nil {
		return nil
	}
	m, refused := remembered.Namesake(cli.ThisMachine(e.cfg), e.stored.machines)
	says, do := m.Namesake()
	_, silent := m.Silent(e.Now())
	switch {
	case refused && remembered.As == here:
		return fail(says, do)
	case remembered.As != "" || m.Installation == "" || m.Installation == here || silent:
		return nil
	}
	return warn(says+"; once a pass begins here, passes there are refused", do)
}

// unlike is about other machines whose config differs from the one here, whether a pass has read that or not.
func unlike(_ context.Context, e *exam) (all []Result) {
	known, here := slices.Clone(e.stored.machines), cli.ThisMachine(e.cfg)
	for i := range known {
		if known[i].Name == here {
			known[i].Config = e.cfg.Shared()
		}
	}
	for _, line := range cli.Machines(known).Unlike(here) {
		all = append(all, warn(line[0], line[1])...)
	}
	return all
}
