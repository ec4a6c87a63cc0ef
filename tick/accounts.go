package tick

import "github.com/mergexo/gh-mergexo/tick/env"

// open drops the leases on turns of hosts that are left alone. Where none is open
// there is no pass.
func (p *Pass) open(leases []*env.Lease) (kept []*env.Lease, err error) {
	for _, l := range leases {
		if p.Accounts.ShutOut(l.Repo.Name.Host) == nil {
			kept = append(kept, l)
			continue
		}
		l.Release()
	}
	for _, r := range p.Repositories() {
		if p.Selected(r) && p.Accounts.ShutOut(r.Name.Host) == nil {
			return kept, nil
		}
	}
	return kept, p.Accounts.ShutHosts(func(string) bool { return true })
}
