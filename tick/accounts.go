package tick

import "github.com/mergexo/gh-mergexo/tick/env"

// open releases the leases of turns on hosts that this pass skips.
func (p *Pass) open(leases []*env.Lease) (kept []*env.Lease) {
	for _, l := range leases {
		if p.Accounts.ShutOut(l.Repo.Name.Host) == nil {
			kept = append(kept, l)
			continue
		}
		l.Release()
	}
	return kept
}
