package tick

import "github.com/mergexo/gh-mergexo/tick/env"

// open drops the leases on turns of hosts that are left alone.
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
