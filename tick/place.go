package tick

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// place is a slot's checkout of one repository: a real directory, an index
// kept outside it, and a mark that stands while an agent may write there.
//
// A checkout whose mark is found standing had an unclean end: something may
// still write in it. It is abandoned, and the next turn gets a new path.
type place struct {
	dir   string
	index string
	busy  string
}

// takePlace finds the slot's current checkout, or makes a path for a new one.
func (d Dirs) takePlace(repo work.RepoName, slot int) (place, error) {
	parent := d.CheckoutParent(repo)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return place{}, fmt.Errorf("make the folder of checkouts: %w", err)
	}
	generation, err := newestGeneration(parent, slot)
	if err != nil {
		return place{}, err
	}
	pl := placeAt(parent, slot, generation)
	if _, err := os.Stat(pl.busy); err == nil {
		abandoned := pl
		pl = placeAt(parent, slot, generation+1)
		_ = os.RemoveAll(abandoned.dir) // a survivor may still hold it; the path is not used again
	} else if !errors.Is(err, os.ErrNotExist) {
		return place{}, fmt.Errorf("look at a checkout's mark: %w", err)
	}
	if err := os.WriteFile(pl.busy, nil, 0o600); err != nil {
		return place{}, fmt.Errorf("mark a checkout as in use: %w", err)
	}
	return pl, nil
}

func placeAt(parent string, slot, generation int) place {
	name := fmt.Sprintf("worker-%d", slot)
	if generation > 0 {
		name += fmt.Sprintf(".%d", generation)
	}
	at := filepath.Join(parent, name)
	return place{dir: at, index: at + ".index", busy: at + ".busy"}
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

// leave takes the mark away: every process of the agent has ended.
func (pl place) leave() error {
	if pl.busy == "" {
		return nil
	}
	if err := os.Remove(pl.busy); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("unmark a checkout: %w", err)
	}
	return nil
}
