package env

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

// place is a slot's checkout of one repository: a real directory, an index
// kept outside it, and a mark that stands while an agent may write there.
//
// A checkout whose mark is found standing had an unclean end, and in one in
// which somebody still works the end was only seemingly clean: something may
// write in it. It is abandoned, and the next turn gets a new path. Who is there
// is not ended for being there: it may be the operator's own shell.
type place struct {
	Dir   string
	Index string
	busy  string
	box   string // the private folders of a sandbox around it
}

// TakeCheckout finds the slot's current checkout, or makes a path for a new one.
func (d Dirs) TakeCheckout(repo work.Repo, slot int, occupied func(dir string) bool) (place, error) {
	parent := d.CheckoutParent(repo)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return place{}, fmt.Errorf("make the folder of checkouts: %w", err)
	}
	generation, err := newestGeneration(parent, slot)
	if err != nil {
		return place{}, err
	}
	pl := placeAt(parent, slot, generation)
	_, err = os.Stat(pl.busy)
	if err == nil || occupied(pl.Dir) {
		pl = placeAt(parent, slot, generation+1) // a survivor may still hold the old one: its path is not used again
	} else if !errors.Is(err, os.ErrNotExist) {
		return place{}, fmt.Errorf("look at a checkout's mark: %w", err)
	}
	if err := os.WriteFile(pl.busy, nil, 0o600); err != nil {
		return place{}, fmt.Errorf("mark a checkout as in use: %w", err)
	}
	dropLeftovers(parent, slot, pl)
	return pl, nil
}

func placeAt(parent string, slot, generation int) place {
	name := fmt.Sprintf("worker-%d", slot)
	if generation > 0 {
		name += fmt.Sprintf(".%d", generation)
	}
	at := filepath.Join(parent, name)
	return place{Dir: at, Index: at + ".index", busy: at + ".busy", box: sandbox.Around(at)}
}

// newestGeneration is the highest generation of a slot's checkout that left
// any trace.
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

// Leave takes the mark away: every process of the agent has ended.
func (pl place) Leave() error {
	if pl.busy == "" {
		return nil
	}
	if err := os.Remove(pl.busy); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("unmark a checkout: %w", err)
	}
	return nil
}
