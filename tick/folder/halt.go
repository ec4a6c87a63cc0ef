package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Halt is `pause --all`. It is a file in the state folder: it needs no lock and outlives the
// database. An unreadable file is a pause too.
type Halt struct {
	Since time.Time `json:"since"`
	Why   string    `json:"reason"`
	// Fleet says that all machines on the database are paused. The database decides whether they
	// still are.
	Fleet bool   `json:"fleet,omitempty"`
	By    string `json:"-"` // who paused them; only the database knows
	On    string `json:"-"` // the machine on which they did
	Moved bool   `json:"-"` // for good: the database was moved to another one, and Why says what to do
}

// maxHaltReason limits a reason, in bytes.
const maxHaltReason = 500

// Reason returns the reason for waiting turns.
func (h Halt) Reason() work.Reason {
	r := work.Reason{Kind: work.WhyHalted, Text: h.Why}
	if h.Fleet && !h.Moved {
		r.Text = "as on all machines"
		if h.By != "" || h.On != "" {
			r.Text += ", by " + strings.TrimPrefix(strings.TrimSuffix(h.By+" on "+h.On, " on "), " on ")
		}
		r.Text = strings.TrimSuffix(r.Text+": "+h.Why, ": ")
	}
	if !h.Since.IsZero() {
		r.At = h.Since.UnixMilli()
	}
	return r
}

// Says returns a text: that everything is paused, since when, why, and how to resume.
func (h Halt) Says() string {
	if h.Moved {
		return h.Why
	}
	w := explain.Reason(h.Reason(), explain.Place{})
	return w.What + "; " + w.Next()
}

func (d Dirs) haltFile() string { return filepath.Join(d.State, "paused.json") }

// Halted returns the pause of everything; false: there is none.
func (d Dirs) Halted() (Halt, bool) {
	if _, err := os.Lstat(d.haltFile()); err != nil {
		return Halt{}, false // not there; an unusable state folder is reported elsewhere
	}
	var h Halt
	b, err := os.ReadFile(d.haltFile())
	if errors.Is(err, fs.ErrNotExist) {
		return Halt{}, false // removed since it was listed
	}
	if err == nil {
		err = json.Unmarshal(b, &h)
	}
	if err != nil {
		return Halt{Why: "the file paused.json in the state folder cannot be read"}, true
	}
	h.Why = shortReason(h.Why)
	return h, true
}

// HaltAll pauses everything. An existing pause keeps its start and takes the new reason, if any;
// before is true then.
func (d Dirs) HaltAll(reason string, now time.Time) (h Halt, before bool, err error) {
	h, before = d.Halted()
	h.Fleet = false // until the database has it
	if !before || h.Since.IsZero() {
		h = Halt{Since: now.UTC().Truncate(time.Second)}
	}
	if reason = shortReason(reason); reason != "" {
		h.Why = reason
	}
	d.dropLeftHalts(now)
	return h, before, d.writeHalt(h)
}

func (d Dirs) writeHalt(h Halt) error {
	b, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("write the pause: %w", err)
	}
	return d.replace(d.haltFile(), append(b, '\n'))
}

// HaltFleet notes that the database has the pause, for all machines: it ends there, for this machine
// too.
func (d Dirs) HaltFleet(h Halt) (Halt, error) {
	h.Fleet = true
	return h, d.writeHalt(h)
}

// haltParts matches the temporary files of pauses. One older than haltPartTime was left by a
// command that was killed.
const (
	haltParts    = "paused-*.tmp"
	haltPartTime = time.Minute
)

// dropLeftHalts removes temporary files of killed commands. One that cannot be removed is harmless,
// and the next call tries again.
func (d Dirs) dropLeftHalts(now time.Time) {
	parts, err := fs.Glob(os.DirFS(d.State), haltParts)
	if err != nil {
		return
	}
	for _, name := range parts {
		path := filepath.Join(d.State, name)
		if info, err := os.Lstat(path); err == nil && info.ModTime().Before(now.Add(-haltPartTime)) {
			_ = os.Remove(path)
		}
	}
}

// replace writes a file atomically. It is durable when replace returns.
func (d Dirs) replace(path string, b []byte) (err error) {
	f, err := os.CreateTemp(d.State, haltParts)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", filepath.Base(path), err)
		}
	}()
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return files.SyncFolder(d.State)
}

// reportedHaltFile has the pause that was last reported.
func (d Dirs) reportedHaltFile() string { return filepath.Join(d.State, "paused.told") }

// ShouldReportHalt reports whether a pause must still be reported, and stores that it is. Cron
// mails what a pass prints, and once per pause is enough. If that cannot be stored, the pause is
// reported again.
func (d Dirs) ShouldReportHalt(h Halt) bool {
	pause, err := json.Marshal(h)
	if err != nil {
		return true // a time that JSON cannot encode: report again
	}
	return tellOnce(d.reportedHaltFile(), string(pause))
}

// tellOnce reports whether a file does not have a text yet, and stores the text.
func tellOnce(file, says string) bool {
	if told, err := os.ReadFile(file); err == nil && string(told) == says {
		return false
	}
	_ = os.WriteFile(file, []byte(says), 0o600)
	return true
}

// EndHalt ends the pause of everything; false: there was none.
func (d Dirs) EndHalt() (bool, error) {
	_ = os.Remove(d.reportedHaltFile()) // a later pause is reported again
	err := os.Remove(d.haltFile())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = files.SyncFolder(d.State)
	}
	if err != nil {
		return false, fmt.Errorf("end the pause: %w", err)
	}
	return true, nil
}

// shortReason returns a reason on one line, shortened.
func shortReason(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > maxHaltReason {
		s = strings.ToValidUTF8(s[:maxHaltReason], "") + "…"
	}
	return s
}

// HaltedError ends a turn before its first effect because everything was paused. No attempt is
// counted, and the same turn resumes.
type HaltedError struct{ Halt }

func (e *HaltedError) Error() string { return e.Says() }

// stoppedFile is the file which says that merging is stopped in a repository until a person resumes
// it. The database has the same and decides; the file is for its loss.
func (d Dirs) stoppedFile(r work.Repo) string {
	return filepath.Join(d.State, "merging-stopped-"+r.Name.Host+"-"+r.Folder()+".json")
}

// keptStop is what the file has.
type keptStop struct {
	Why work.Reason `json:"why"`
	At  time.Time   `json:"at"` // as in the database
}

// StopMerging stores why and since when merging is stopped in a repository.
func (d Dirs) StopMerging(r work.Repo, halt merging.Halt) error {
	b, err := json.Marshal(keptStop{halt.Why, halt.At.UTC()})
	if err != nil {
		return fmt.Errorf("keep that merging is stopped: %w", err)
	}
	return d.replace(d.stoppedFile(r), append(b, '\n'))
}

// MergingStopped returns why and since when merging was stopped in a repository; false: it was not.
// An unreadable file is a stop too, without a time.
func (d Dirs) MergingStopped(r work.Repo) (merging.Halt, bool) {
	b, err := os.ReadFile(d.stoppedFile(r))
	if errors.Is(err, fs.ErrNotExist) {
		return merging.Halt{}, false
	}
	var kept keptStop
	if err == nil {
		err = json.Unmarshal(b, &kept)
	}
	if err != nil || kept.Why.None() {
		kept = keptStop{Why: work.Reason{Kind: work.WhyMergeDiffers, Text: "the file " + filepath.Base(d.stoppedFile(r)) + " in the state folder cannot be read"}}
	}
	return merging.Halt{Why: kept.Why, At: kept.At}, true
}

// ResumeMerging deletes the file.
func (d Dirs) ResumeMerging(r work.Repo) error {
	err := os.Remove(d.stoppedFile(r))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = files.SyncFolder(d.State)
	}
	if err != nil {
		return fmt.Errorf("resume merging: %w", err)
	}
	return nil
}

// HeldLocks returns the names of held locks; none: no pass is running.
func (d Dirs) HeldLocks() ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(d.locks(), "*.lock"))
	if err != nil {
		return nil, fmt.Errorf("list the locks: %w", err)
	}
	var held []string
	for _, path := range paths {
		l, free, err := TryLock(path)
		if err != nil {
			return nil, err
		}
		if free {
			l.Unlock()
		} else {
			held = append(held, filepath.Base(path))
		}
	}
	return held, nil
}

// Outcome is a pass's result for one turn or merge.
type Outcome struct {
	Key   string // of the turn or merge
	Says  string // its result
	Waits bool   // nothing was done, and the next pass may report the same
}

// reportedWait is the last reported text of a waiting turn or merge.
type reportedWait struct {
	Says string    `json:"says"`
	At   time.Time `json:"at"` // when a pass met it last
}

// waitForgotten is how long a wait must be unseen before it is reported again.
const waitForgotten = 24 * time.Hour

// waitsFile has the reported waits.
func (d Dirs) waitsFile() string { return filepath.Join(d.State, "waits.told") }

// OutcomesToReport returns for each outcome whether to report it, and stores that it was reported.
// Cron mails each line, so a wait is reported once, until its text changes or something is done. If
// that cannot be stored, it is reported again.
func (d Dirs) OutcomesToReport(all []Outcome, now time.Time) []bool {
	told, tell := d.loadReportedWaits(now), make([]bool, len(all))
	before := maps.Clone(told)
	for i, o := range all {
		says := work.WithoutDigits(o.Says)
		tell[i] = !o.Waits || told[o.Key].Says != says
		delete(told, o.Key)
		if o.Waits {
			told[o.Key] = reportedWait{says, now.UTC()}
		}
	}
	if maps.Equal(before, told) {
		return tell
	}
	if b, err := json.Marshal(told); err == nil {
		_ = os.WriteFile(d.waitsFile(), b, 0o600)
	}
	return tell
}

// loadReportedWaits reads the reported waits without those unseen for long.
func (d Dirs) loadReportedWaits(now time.Time) map[string]reportedWait {
	told := map[string]reportedWait{}
	if b, err := os.ReadFile(d.waitsFile()); err != nil || json.Unmarshal(b, &told) != nil {
		return map[string]reportedWait{}
	}
	maps.DeleteFunc(told, func(_ string, t reportedWait) bool { return now.Sub(t.At) >= waitForgotten })
	return told
}
