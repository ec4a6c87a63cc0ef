package tick

// People knows what people may do.
type People struct{ *harvest }

// Comments takes in what people wrote.
type Comments struct {
	*harvest
	people *People
}

// Pulls takes in what became of pull requests.
type Pulls struct {
	*harvest
	people   *People
	comments *Comments
}

// Issues takes in what became of issues.
type Issues struct {
	*harvest
	people   *People
	comments *Comments
	rebuild  *Rebuild
}

// Rebuild finds again what a lost database knew.
type Rebuild struct {
	*harvest
	people   *People
	comments *Comments
	pulls    *Pulls
	issues   *Issues
}

// Reading is one ingest of one repository.
type Reading struct {
	*harvest
	people   *People
	comments *Comments
	pulls    *Pulls
	issues   *Issues
	rebuild  *Rebuild
}

func newReading(p *Ingest, r *remote) *Reading {
	b := newHarvest(p, r)
	h := &Reading{harvest: b, people: &People{b}}
	h.comments = &Comments{b, h.people}
	h.pulls = &Pulls{b, h.people, h.comments}
	h.rebuild = &Rebuild{b, h.people, h.comments, h.pulls, nil}
	h.issues = &Issues{b, h.people, h.comments, h.rebuild}
	h.rebuild.issues = h.issues
	return h
}
