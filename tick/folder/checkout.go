package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Checkout is a slot's checkout of one repository: a directory, an index outside it, and a mark
// file that exists while an agent may write there.
//
// A checkout is abandoned, and the next turn gets a new path, if its mark still exists, because its
// turn did not end cleanly, or if a process still works in it. That process is not ended: it may be
// the operator's shell.
type Checkout struct {
	Dir   string
	Index string
	busy  string
	box   string // private folders of a sandbox around it
}

// TakeCheckout returns the slot's current checkout, or a path for a new one, and marks it.
func (d Dirs) TakeCheckout(repo work.Repo, slot int, occupied func(dir string) bool) (Checkout, error) {
	parent := d.CheckoutParent(repo)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return Checkout{}, fmt.Errorf("make the folder of checkouts: %w", err)
	}
	generation, err := newestGeneration(parent, slot)
	if err != nil {
		return Checkout{}, err
	}
	c := checkoutAt(parent, slot, generation)
	_, err = os.Stat(c.busy)
	if err == nil || occupied(c.Dir) {
		c = checkoutAt(parent, slot, generation+1) // a surviving process may use the old path, so it is not used again
	} else if !errors.Is(err, os.ErrNotExist) {
		return Checkout{}, fmt.Errorf("look at a checkout's mark: %w", err)
	}
	if err := os.WriteFile(c.busy, nil, 0o600); err != nil {
		return Checkout{}, fmt.Errorf("mark a checkout as in use: %w", err)
	}
	dropLeftovers(parent, slot, c)
	return c, nil
}

func checkoutAt(parent string, slot, generation int) Checkout {
	name := fmt.Sprintf("worker-%d", slot)
	if generation > 0 {
		name += fmt.Sprintf(".%d", generation)
	}
	return checkoutIn(parent, name)
}

func checkoutIn(parent, name string) Checkout {
	at := filepath.Join(parent, name)
	return Checkout{Dir: at, Index: at + ".index", busy: at + ".busy", box: sandbox.Around(at)}
}

// newestGeneration returns the highest generation of a slot's checkout with any file left.
func newestGeneration(parent string, slot int) (int, error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return 0, fmt.Errorf("list the checkouts: %w", err)
	}
	newest := 0
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), fmt.Sprintf("worker-%d.", slot))
		if !ok {
			continue
		}
		digits, _, _ := strings.Cut(rest, ".")
		if g, err := strconv.Atoi(digits); err == nil && g > newest {
			newest = g
		}
	}
	return newest, nil
}

// Unmark removes the mark. Call it once every process of the agent has ended.
func (c Checkout) Unmark() error {
	if c.busy == "" {
		return nil
	}
	if err := os.Remove(c.busy); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("unmark a checkout: %w", err)
	}
	return nil
}

// dropLeftovers removes a slot's abandoned checkouts and sandbox folders, which could not be
// removed when they were abandoned. Failures are tried again when the slot is next used.
func dropLeftovers(parent string, slot int, current Checkout) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // the next user of the folder reports the error
	}
	name := fmt.Sprintf("worker-%d", slot)
	for _, e := range entries {
		path := filepath.Join(parent, e.Name())
		ofSlot := e.Name() == name || strings.HasPrefix(e.Name(), name+".")
		if ofSlot && e.IsDir() && path != current.Dir && path != current.box { // files stay: they show which paths were used
			_ = sandbox.Remove(path)
		}
	}
}
