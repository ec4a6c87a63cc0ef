package folder

import (
	"os"
	"time"
)

// Live is a turn that a living pass works on. Its times are this machine's.
type Live struct {
	Turn         string // its key
	Slot         int
	Since        time.Time // the pass took it up; zero: nobody noted when
	LastActivity time.Time // the last sign of life of its agent, or when the pass took it up
}

// LiveTurns are the turns that a living pass works on, by their keys: those that
// held slots name. Nothing else proves that somebody works, and no row does.
func (d Dirs) LiveTurns() (map[string]Live, error) {
	held, err := d.heldSlots(named)
	if err != nil {
		return nil, err
	}
	live := map[string]Live{}
	for k, h := range held {
		if h.Turn == "" {
			continue
		}
		l := Live{Turn: h.Turn, Slot: k, Since: h.Since}
		if info, err := os.Stat(d.slotPath(k)); err == nil {
			l.LastActivity = info.ModTime()
		}
		live[h.Turn] = l
	}
	return live, nil
}
