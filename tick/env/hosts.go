package env

// HostOf returns the GitHub of a host on which the config names a repository; false: it names none.
func (p *Env) HostOf(r *Repo, host string) (GitHub, bool) {
	if r.Name.Host == host {
		return r.GitHub, true
	}
	for _, o := range p.All {
		if o.Name.Host == host {
			return o.GitHub, true
		}
	}
	return nil, false
}
