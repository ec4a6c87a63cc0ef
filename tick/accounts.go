package tick

import "github.com/mergexo/gh-mergexo/tick/env"

// dropSkippedHosts releases the leases of turns on hosts that this pass skips.
func (p *Pass) dropSkippedHosts(leases []*env.Lease) (kept []*env.Lease) {
	for _, l := range leases {
		if p.Accounts.HostSkipped(l.Repo.Name.Host) == nil {
			kept = append(kept, l)
			continue
		}
		l.Release()
	}
	return kept
}
