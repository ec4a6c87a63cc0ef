package folder

import (
	"os"
	"time"
)

// Live is a turn that a running pass works on, with this machine's times.
type Live struct {
	Turn         string // its key
	Slot         int
	Since        time.Time // when the pass took it; zero: unknown
	LastActivity time.Time // last activity of its agent, or when the pass took it
}

// LiveTurns returns the turns of running passes by key, as named by held slots. Only a held slot
// proves that a pass works on a turn; no row does.
func (d Dirs) LiveTurns() (map[string]Live, error) {
	held, err := d.heldSlots(hasHolder)
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
