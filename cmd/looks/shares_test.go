package looks

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Who has a repository is told by the share of the next pass, whichever the last one had; and
// that another machine holds it only where a pass was told so.
func TestWhoHasARepositoryIsToldByTheShareOfTheNextPass(t *testing.T) {
	mine, theirs := shard.Shard{Index: 1, Of: 2}, shard.Shard{Index: 2, Of: 2}
	if !mine.Takes("R_1") {
		mine, theirs = theirs, mine
	}
	here, there := mine.String(), theirs.String()
	until := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		was   *work.Share // as the last pass stored it; nil: it stored nothing
		now   shard.Shard
		want  work.Share
		late  bool
		error string // of its row, "the last pass" before
		fails int    // how often in a row the last passes failed there
	}{
		"ours":                       {&work.Share{Shard: here, OID: "a"}, mine, work.Share{Shard: here, OID: "a"}, false, "the last pass", 0},
		"another one's":              {&work.Share{Shard: there, Theirs: true}, theirs, work.Share{Shard: there, Theirs: true}, false, "", 0},
		"held":                       {&work.Share{Shard: here, Until: until}, mine, work.Share{Shard: here, Until: until}, false, "the last pass", 0},
		"held, told otherwise since": {&work.Share{Shard: here, Until: until}, theirs, work.Share{Shard: there, Theirs: true, Until: until}, true, "", 0},
		"held, of other shares since": {
			&work.Share{Shard: here},
			shard.Shard{Index: 1, Of: 1},
			work.Share{Shard: "1/1"},
			true,
			"held by another machine; if that machine has share 1/1 as well, give it another", // behind its name
			0,
		},
		"to be given back":               {&work.Share{Shard: here, OID: "a"}, theirs, work.Share{Shard: there, Theirs: true, OID: "a"}, true, "", 0},
		"to be asked for":                {&work.Share{Shard: there, Theirs: true}, mine, work.Share{Shard: here, Comes: true}, true, "", 0},
		"asked for in vain":              {&work.Share{Shard: there, Theirs: true}, mine, work.Share{Shard: here}, true, "the last pass", 1},
		"handed back in vain":            {&work.Share{Shard: there, Theirs: true, OID: "a"}, theirs, work.Share{Shard: there, Theirs: true, OID: "a"}, false, "the last pass", 1},
		"not read, and to be given back": {&work.Share{Shard: here, OID: "a"}, theirs, work.Share{Shard: there, Theirs: true, OID: "a"}, true, "", 1},
		"not read, and another one's":    {&work.Share{Shard: there, Theirs: true}, theirs, work.Share{Shard: there, Theirs: true}, false, "", 1},
		"ours again":                     {&work.Share{Shard: there, Theirs: true, OID: "a"}, mine, work.Share{Shard: here, OID: "a"}, true, "the last pass", 0},
		"all":                            {&work.Share{Shard: there, Theirs: true}, shard.Shard{}, work.Share{Comes: true}, true, "", 0},
		"no share before":                {nil, mine, work.Share{}, false, "the last pass", 0},
		"a share since":                  {nil, theirs, work.Share{Shard: there, Theirs: true}, true, "", 0},
		"no shares at all":               {nil, shard.Shard{}, work.Share{}, false, "the last pass", 0},
	} {
		var was work.Share
		if c.was != nil {
			was = *c.was
		}
		row := work.Repo{NodeID: "R_1", Name: work.RepoName{Owner: "o", Name: "a"}, LastError: "the last pass", Failures: c.fails, NotBefore: until}
		got := judge(was, c.was != nil, c.now, row)
		if got.Share != c.want || got.late != c.late {
			t.Errorf("%s: %+v, want %+v, %v", name, got, c.want, c.late)
		}
		row = Repo{Share: got.Share, late: got.late}.Today(row, until.Add(time.Hour))
		if row.LastError != c.error {
			t.Errorf("%s: its row says %q, want %q", name, row.LastError, c.error)
		}
	}
}
