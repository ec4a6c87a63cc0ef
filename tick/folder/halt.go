package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Halt is a pause of everything on this machine, given by `pause --all`. It is a
// file in the state folder: whoever plans or works need not let go of anything for
// it, and it outlives the database. A file that cannot be read is a pause, too.
type Halt struct {
	Since time.Time `json:"since"`
	Why   string    `json:"reason"`
}

// maxHaltReason bounds a reason, in bytes.
const maxHaltReason = 500

// Reason is that everything is paused.
func (h Halt) Reason() work.Reason {
	r := work.Reason{Kind: work.WhyHalted, Text: h.Why}
	if !h.Since.IsZero() {
		r.At = h.Since.UnixMilli()
	}
	return r
}

// Says tells people that everything is paused, since when, why, and what ends it.
func (h Halt) Says() string {
	w := explain.Reason(h.Reason(), explain.Place{})
	return w.What + "; " + w.Next()
}

func (d Dirs) haltFile() string { return filepath.Join(d.State, "paused.json") }

// Halted tells whether everything is paused.
func (d Dirs) Halted() (Halt, bool) {
	if _, err := os.Lstat(d.haltFile()); err != nil {
		return Halt{}, false // it is not there; that the folder cannot be used is said where it is
	}
	var h Halt
	b, err := os.ReadFile(d.haltFile())
	if errors.Is(err, fs.ErrNotExist) {
		return Halt{}, false // any more
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

// HaltAll pauses everything. What is paused already stays so since then, with the
// new reason if there is one.
func (d Dirs) HaltAll(reason string, now time.Time) (h Halt, before bool, err error) {
	h, before = d.Halted()
	if !before || h.Since.IsZero() {
		h = Halt{Since: now.UTC().Truncate(time.Second)}
	}
	if reason = shortReason(reason); reason != "" {
		h.Why = reason
	}
	b, err := json.Marshal(h)
	if err != nil {
		return h, before, fmt.Errorf("write the pause: %w", err)
	}
	d.dropLeftHalts(now)
	return h, before, d.replace(d.haltFile(), append(b, '\n'))
}

// haltParts are the files of which a pause is made, and how long one is at most
// being written. An older one was left by a command that was killed.
const (
	haltParts    = "paused-*.tmp"
	haltPartTime = time.Minute
)

// dropLeftHalts removes what earlier pauses left half made. What cannot be removed
// harms nobody, and the next one tries again.
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

// replace writes a file as a whole: one that is read is never half written.
// It is durable when it returns.
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

// toldFile holds what was last said of a pause of everything.
func (d Dirs) toldFile() string { return filepath.Join(d.State, "paused.told") }

// TellHalt reports whether a pause is still to be told, and notes that it is told
// now: what a pass prints under cron is mailed, and once a pause is enough. Where it
// cannot be noted, it is told again.
func (d Dirs) TellHalt(h Halt) bool {
	pause, err := json.Marshal(h)
	if err != nil {
		return true // a time that cannot be written: told again
	}
	if told, err := os.ReadFile(d.toldFile()); err == nil && bytes.Equal(told, pause) {
		return false
	}
	_ = os.WriteFile(d.toldFile(), pause, 0o600)
	return true
}

// EndHalt ends the pause of everything; false where there was none.
func (d Dirs) EndHalt() (bool, error) {
	_ = os.Remove(d.toldFile()) // the next pause is another one
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

// shortReason is a reason on one line.
func shortReason(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > maxHaltReason {
		s = strings.ToValidUTF8(s[:maxHaltReason], "") + "…"
	}
	return s
}

// HaltedError says that everything was paused while a turn was under way, before
// its first effect. Its attempt is not counted, and the same turn resumes.
type HaltedError struct{ Halt }

func (e *HaltedError) Error() string { return e.Says() }
