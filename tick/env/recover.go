package env

import "github.com/mergexo/gh-mergexo/internal/work"

// InFlight reports whether a held slot names the turn.
func (p *Env) InFlight(key string) bool {
	for _, h := range p.Held {
		if h.Turn == key {
			return true
		}
	}
	return false
}

// Mark is what every process of a turn's agent carries in its environment, and
// no other process on this machine: two state folders may know the same turn.
func (p *Env) Mark(t work.Turn) string {
	return "MERGEXO_MARK=" + work.ContentHash(p.Dirs.State) + "-" + t.Key
}
