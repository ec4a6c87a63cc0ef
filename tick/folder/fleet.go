package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Fleet is what a state folder remembers of the machines that share its database, in case the database
// is lost or set back.
type Fleet struct {
	Noted time.Time `json:"noted"` // the time in this machine's own row
	As    string    `json:"as"`    // the state folder that the row names: this one, on this machine
}

// Namesake returns a machine's row if another state folder has stored it since this one did, and still goes
// by the name; false: none has. A folder that never stored the row is a new one of the same machine, as a
// pod has that was made again.
func (f Fleet) Namesake(name string, known []work.Machine) (row work.Machine, is bool) {
	for _, m := range known {
		if m.Name == name {
			row = m
		}
	}
	renamed := slices.ContainsFunc(known, func(m work.Machine) bool {
		return m.Name != name && m.Installation == row.Installation && m.BeganAt.After(row.BeganAt)
	})
	return row, f.As != "" && row.Installation != "" && row.Installation != f.As && !row.BeganAt.Before(f.Noted) && !renamed
}

// Fleet returns what the folder remembers; the zero value: this machine has its database for itself.
func (d Dirs) Fleet() (f Fleet, err error) {
	b, err := os.ReadFile(d.fleetFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("read which machines share the database: %w", err)
	}
	if json.Unmarshal(b, &f) != nil { // a file that cannot be read says nothing
		f = Fleet{}
	}
	return f, nil
}

// RememberFleet replaces what the folder remembers.
func (d Dirs) RememberFleet(f Fleet) error {
	b, err := json.Marshal(f)
	if err == nil {
		err = files.Replace(d.fleetFile(), string(b)+"\n")
	}
	if err != nil {
		return fmt.Errorf("record which machines share the database: %w", err)
	}
	return nil
}

func (d Dirs) fleetFile() string { return filepath.Join(d.State, "fleet.json") }
