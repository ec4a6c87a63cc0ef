package githubsim

import "slices"

// mergeTrouble is something that goes wrong with merges to come, so many times.
type mergeTrouble struct {
	times  int
	refuse *apiError         // nothing is done
	half   bool              // the commit lands, the pull request stays open, and the answer is a 500
	files  map[string]string // are landed besides
}

// takeTrouble uses up the first trouble that fits; nil when there is none.
func (r *Repo) takeTrouble(fits func(*mergeTrouble) bool) *mergeTrouble {
	i := slices.IndexFunc(r.troubles, fits)
	if i < 0 {
		return nil
	}
	t := r.troubles[i]
	if t.times--; t.times <= 0 {
		r.troubles = slices.Delete(r.troubles, i, i+1)
	}
	return t
}

// halfMerge is a merge that was not finished: its commit is on the base, the pull request is open.
type halfMerge struct {
	by         *user
	oid        string
	base, head string
}

// smuggle makes the commit again, with other files.
func (g *gitDir) smuggle(oid string, files map[string]string) (string, error) {
	was, err := g.commit(oid)
	if err != nil {
		return "", err
	}
	more, err := g.commitFiles(oid, files, "more", was.author)
	if err != nil {
		return "", err
	}
	changed, err := g.commit(more)
	if err != nil {
		return "", err
	}
	return g.commitTree(changed.tree, was.parents, was.message+"\n", was.author, was.committer)
}
