package folder

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Dirs are the folders below the state folder.
type Dirs struct{ State string }

// At returns the folders below the state folder of a config. Its path is resolved here, because a
// sandbox shows agents the checkout at its real path only.
func At(state string) Dirs { return Dirs{State: files.Resolve(state)} }

func (d Dirs) locks() string { return filepath.Join(d.State, "locks") }

// CheckoutParent returns the folder of a repository's checkouts.
func (d Dirs) CheckoutParent(r work.Repo) string { return d.of("checkouts", r) }

// CheckoutParents is a pattern for the folders of all repositories' checkouts.
func (d Dirs) CheckoutParents() string { return filepath.Join(d.State, "checkouts", "*", "*") }

// HomesDir returns the folder of the home folders that agents get in a sandbox, one per work item,
// named by its number.
func (d Dirs) HomesDir(r work.Repo) string { return d.of("homes", r) }

// SetupsDir returns the folder of what a repository's set-up made.
func (d Dirs) SetupsDir(r work.Repo) string { return d.of("setups", r) }

// SetupCheckout returns the checkout in which a repository's set-up runs. Only the holder of
// LockSetup uses it.
func (d Dirs) SetupCheckout(r work.Repo) Checkout { return checkoutIn(d.SetupsDir(r), "checkout") }

// LockSetup takes the lock for all below SetupsDir. It waits at most wait for its holder.
func (d Dirs) LockSetup(ctx context.Context, r work.Repo, wait time.Duration) (FileLock, bool, error) {
	return lockWithin(ctx, d.lock("setup", r), wait)
}

// MirrorDir returns a repository's mirror.
func (d Dirs) MirrorDir(r work.Repo) string { return d.of("repos", r) + ".git" }

// of returns a repository's folder. Its name is made of host and node id, so that two repositories
// that had one name share no file.
func (d Dirs) of(kind string, r work.Repo) string {
	return filepath.Join(d.State, kind, r.Name.Host, r.Folder())
}

// RepoLock returns the lock for writes to a repository's mirror.
func (d Dirs) RepoLock(r work.Repo) string { return d.lock("repo", r) }

// NoticesLock returns the lock for sending a repository's notices.
func (d Dirs) NoticesLock(r work.Repo) string { return d.lock("notices", r) }

// MergeLock returns the lock for merging a repository's pull requests.
func (d Dirs) MergeLock(r work.Repo) string { return d.lock("merge", r) }

// NotifyLock returns the lock for sending messages outside GitHub.
func (d Dirs) NotifyLock() string { return filepath.Join(d.locks(), "notify.lock") }

// lock returns a repository's lock. Its name does not depend on the database: another pass may hold
// it while the database is lost.
func (d Dirs) lock(kind string, r work.Repo) string {
	return filepath.Join(d.locks(), kind+"-"+r.Name.Host+"-"+r.Folder()+".lock")
}

// Installation names this state folder, on this machine, among those of other machines. It
// outlives the database. The first call makes the name. A folder that was copied to a machine with
// another id has another name there.
func (d Dirs) Installation(machine string) (string, error) {
	name, err := d.installed()
	if err != nil {
		return "", err
	}
	if name == "" {
		name = rand.Text()
		if err := d.writeInstallation(name, nil); err != nil {
			return "", err
		}
	}
	return installationOn(machine, name), nil
}

// Installed is Installation, and makes no name; empty: there is none yet.
func (d Dirs) Installed(machine string) (string, error) {
	name, err := d.installed()
	if name == "" || err != nil {
		return "", err
	}
	return installationOn(machine, name), nil
}

func (d Dirs) installationFile() string { return filepath.Join(d.State, "installation") }

// installed returns the name in the state folder; empty: there is none yet.
func (d Dirs) installed() (string, error) {
	b, err := os.ReadFile(d.installationFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return strings.TrimSpace(name), nil
}

// installationOn returns the name of a state folder on a machine.
func installationOn(machine, name string) string {
	if machine == "" {
		return name
	}
	sum := sha256.Sum256([]byte(name + "\n" + machine)) // hashed, so that the machine's id is not published
	return name + "-" + hex.EncodeToString(sum[:4])
}

// MachineName returns the name by which other machines know this one: named, or else one that
// follows from Installation. It is empty before Installation was called for the first time.
func (d Dirs) MachineName(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	name, err := d.installed()
	if name == "" || err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(installationOn(MachineID(), name)))
	return strings.ToLower(name[:min(len(name), 4)]) + hex.EncodeToString(sum[:3]), nil
}

// Machine is a machine as the state folder remembers it.
type Machine struct {
	ID   string    `json:"id"`   // a hash of its id; empty: it has none, and is not told from others
	Name string    `json:"name"` // its host name, for people
	At   time.Time `json:"at"`   // when a pass last began there
}

// ThisMachine returns the machine that the program runs on.
func ThisMachine() Machine {
	m := Machine{}
	m.Name, _ = os.Hostname() // only for people
	if id := MachineID(); id != "" {
		sum := sha256.Sum256([]byte("gh mergexo\n" + id))
		m.ID = hex.EncodeToString(sum[:8])
	}
	return m
}

// elsewhereFor is how long a state folder that another machine used is left to that machine.
const elsewhereFor = time.Hour

// ElsewhereError means that passes of another machine used the state folder, or the folder that it
// is a copy of, a short while ago.
type ElsewhereError struct {
	Last Machine
	File string // to delete if that machine has stopped
}

// Do is what makes the folder usable here.
func (e *ElsewhereError) Do() string {
	return fmt.Sprintf("gh mergexo schedule remove on %s; then here: rm '%s'", e.Last.Name, e.File)
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("%s used this state folder, or the one that it is a copy of, at %s: two machines at work would do the same work twice. "+
		"If no pass runs there any more (gh mergexo schedule remove), use it here: rm '%s'", e.Last.Name, work.Stamp(e.Last.At), e.File)
}

// UseOn records that a pass begins on a machine. former is the machine that used the folder before,
// if it was another one; it is an ElsewhereError if that was a short while ago.
func (d Dirs) UseOn(m Machine, now time.Time) (former *Machine, err error) {
	if m.ID == "" {
		return nil, nil
	}
	last, known, err := d.lastMachine()
	if err != nil {
		return nil, err
	}
	age := now.Sub(last.At).Abs()
	switch elsewhere := d.elsewhere(last, known, m, now); {
	case elsewhere != nil:
		return &last, elsewhere
	case known && last.ID != m.ID:
		former = &last
	case known && age < elsewhereFor/10: // an idle pass writes as little as it can
		return nil, nil
	}
	m.At = now.UTC()
	b, err := json.Marshal(m)
	if err == nil {
		err = files.Replace(d.machineFile(), string(b)+"\n")
	}
	if err != nil {
		return former, fmt.Errorf("record which machine uses the state folder: %w", err)
	}
	return former, nil
}

// Elsewhere returns why a pass may not begin on a machine, if another one used the folder a short
// while ago; nil: it may. It writes nothing.
func (d Dirs) Elsewhere(m Machine, now time.Time) *ElsewhereError {
	last, known, _ := d.lastMachine() // that the file cannot be read is another check's
	return d.elsewhere(last, known, m, now)
}

func (d Dirs) elsewhere(last Machine, known bool, m Machine, now time.Time) *ElsewhereError {
	if !known || m.ID == "" || last.ID == m.ID || now.Sub(last.At).Abs() >= elsewhereFor {
		return nil
	}
	return &ElsewhereError{Last: last, File: d.machineFile()}
}

// lastMachine returns the machine that used the folder last, if it is known.
func (d Dirs) lastMachine() (last Machine, known bool, err error) {
	b, err := os.ReadFile(d.machineFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return last, false, fmt.Errorf("read which machine uses the state folder: %w", err)
	}
	known = json.Unmarshal(b, &last) == nil && last.ID != "" // a file that cannot be read says nothing
	return last, known, nil
}

func (d Dirs) machineFile() string { return filepath.Join(d.State, "machine") }

// MachineID returns Linux's machine id; empty: there is none.
func MachineID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		b, err := os.ReadFile(path)
		if id := strings.TrimSpace(string(b)); err == nil && id != "" && id != "uninitialized" {
			return id
		}
	}
	return ""
}

// InstallationID returns the id of this installation in the markers of what it writes. It is made of the
// machine and the config's path: a state folder that is lost, or moved on the machine, has it again. named is
// the machine's name in the config.
func InstallationID(named, config string) string {
	short := func(parts ...string) string {
		sum := sha256.Sum256([]byte("gh mergexo\n" + strings.Join(parts, "\n"))) // hashed: GitHub shows it
		return hex.EncodeToString(sum[:4])
	}
	where := named
	if named == "" {
		host, _ := os.Hostname() // tells machines apart that have no id, or a copied one
		where = MachineID() + "\n" + host
	}
	return short(where) + "-" + short(where, files.Resolve(config))
}

// Installations returns the installations whose texts the folder remembers as ours.
func (d Dirs) Installations() (all []work.Installation, err error) {
	b, err := os.ReadFile(d.installationFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		id, since, has := strings.Cut(strings.TrimSpace(line), " ")
		if ms, err := strconv.ParseInt(since, 10, 64); has && err == nil { // the first line is the folder's name
			all = append(all, work.Installation{ID: id, Since: time.UnixMilli(ms).UTC()})
		}
	}
	return all, nil
}

// RememberInstallations replaces what Installations returns.
func (d Dirs) RememberInstallations(all []work.Installation) error {
	name, err := d.installed()
	if err == nil {
		err = d.writeInstallation(cmp.Or(name, rand.Text()), all)
	}
	if err != nil {
		return fmt.Errorf("record which installation this is: %w", err)
	}
	return nil
}

// Accounts returns the accounts, by host, with which passes in this folder were logged in: a lost database
// forgets them.
func (d Dirs) Accounts() (byHost map[string][]work.Account, err error) {
	b, err := os.ReadFile(d.accountsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read with which accounts passes worked: %w", err)
	}
	if json.Unmarshal(b, &byHost) != nil { // a file that cannot be read says nothing, and is written again
		byHost = nil
	}
	return byHost, nil
}

// RememberAccounts replaces what Accounts returns.
func (d Dirs) RememberAccounts(byHost map[string][]work.Account) error {
	b, err := json.Marshal(byHost)
	if err == nil {
		err = files.Replace(d.accountsFile(), string(b))
	}
	if err != nil {
		return fmt.Errorf("record with which accounts passes work: %w", err)
	}
	return nil
}

func (d Dirs) accountsFile() string { return filepath.Join(d.State, "accounts.json") }

// writeInstallation writes the folder's name, and below it the installations that are ours.
func (d Dirs) writeInstallation(name string, ours []work.Installation) error {
	var text strings.Builder
	text.WriteString(name + "\n")
	for _, i := range ours {
		fmt.Fprintf(&text, "%s %d\n", i.ID, i.Since.UnixMilli())
	}
	return files.Replace(d.installationFile(), text.String())
}
