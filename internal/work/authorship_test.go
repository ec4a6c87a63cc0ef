package work

import (
	"testing"
)

func TestByUs(t *testing.T) {
	us, ann, github := Account{ID: 1, Login: "operator"}, Account{ID: 2, Login: "ann"}, Account{ID: 3, Login: webFlow}
	made := Authorship{Ours: func(id int64) bool { return id == us.ID }, Known: func(oid string) bool { return oid == "known" }}
	const trailer = "Fix it\n\nMergexo-Turn: 0123456789abcdef\n"
	for what, c := range map[string]struct {
		commit Commit
		want   bool
	}{
		"of a turn":                                {Commit{OID: "known", Author: ann, Committer: ann}, true},
		"by its trailer, after a loss":             {Commit{OID: "x", Message: trailer, Author: us, Committer: us}, true},
		"by its trailer, of no account":            {Commit{OID: "x", Message: trailer}, true},
		"without one":                              {Commit{OID: "x", Message: "Fix it", Author: us, Committer: us}, false},
		"a person's":                               {Commit{OID: "x", Message: "Fix it", Author: ann, Committer: ann}, false},
		"a person's that names a turn":             {Commit{OID: "x", Message: trailer, Author: ann, Committer: ann}, false},
		"ours, committed again by a person":        {Commit{OID: "x", Message: trailer, Author: us, Committer: ann}, false},
		"the base, merged in for us":               {Commit{OID: "x", Message: "Merge", Author: us, Committer: github, Parents: 2}, true},
		"the base, merged in by a person's button": {Commit{OID: "x", Message: "Merge", Author: ann, Committer: github, Parents: 2}, false},
		"edited in a browser":                      {Commit{OID: "x", Message: "Update", Author: us, Committer: github, Parents: 1}, false},
	} {
		if got := made.ByUs(c.commit); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
