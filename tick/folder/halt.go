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

// Halt is `pause --all`. It is a file in the state folder: it needs no lock and outlives the
// database. An unreadable file is a pause too.
type Halt struct {
	Since time.Time `json:"since"`
	Why   string    `json:"reason"`
}

// maxHaltReason limits a reason, in bytes.
const maxHaltReason = 500

// Reason returns the reason for waiting turns.
func (h Halt) Reason() work.Reason {
	r := work.Reason{Kind: work.WhyHalted, Text: h.Why}
	if !h.Since.IsZero() {
		r.At = h.Since.UnixMilli()
	}
	return r
}

// Says returns a text: that everything is paused, since when, why, and how to resume.
func (h Halt) Says() string {
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
	if told, err := os.ReadFile(d.reportedHaltFile()); err == nil && bytes.Equal(told, pause) {
		return false
	}
	_ = os.WriteFile(d.reportedHaltFile(), pause, 0o600)
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
