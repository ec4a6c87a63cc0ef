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
	}{
		"ours":                       {&work.Share{Shard: here, OID: "a"}, mine, work.Share{Shard: here, OID: "a"}, false, "the last pass"},
		"another one's":              {&work.Share{Shard: there, Theirs: true}, theirs, work.Share{Shard: there, Theirs: true}, false, ""},
		"held":                       {&work.Share{Shard: here, Until: until}, mine, work.Share{Shard: here, Until: until}, false, "the last pass"},
		"held, told otherwise since": {&work.Share{Shard: here, Until: until}, theirs, work.Share{Shard: there, Theirs: true, Until: until}, true, ""},
		"held, of other shares since": {
			&work.Share{Shard: here},
			shard.Shard{Index: 1, Of: 1},
			work.Share{Shard: "1/1"},
			true,
			"o/a is held by another machine; if that machine has share 1/1 as well, give it another",
		},
		"to be given back": {&work.Share{Shard: here, OID: "a"}, theirs, work.Share{Shard: there, Theirs: true, OID: "a"}, true, ""},
		"to be asked for":  {&work.Share{Shard: there, Theirs: true}, mine, work.Share{Shard: here, Comes: true}, true, ""},
		"ours again":       {&work.Share{Shard: there, Theirs: true, OID: "a"}, mine, work.Share{Shard: here, OID: "a"}, true, "the last pass"},
		"all":              {&work.Share{Shard: there, Theirs: true}, shard.Shard{}, work.Share{Comes: true}, true, ""},
		"no share before":  {nil, mine, work.Share{}, false, "the last pass"},
		"a share since":    {nil, theirs, work.Share{Shard: there, Theirs: true}, true, ""},
		"no shares at all": {nil, shard.Shard{}, work.Share{}, false, "the last pass"},
	} {
		var was work.Share
		if c.was != nil {
			was = *c.was
		}
		got := judge(was, c.was != nil, c.now, "R_1")
		if got.Share != c.want || got.late != c.late {
			t.Errorf("%s: %+v, want %+v, %v", name, got, c.want, c.late)
		}
		row := work.Repo{Name: work.RepoName{Owner: "o", Name: "a"}, LastError: "the last pass", NotBefore: until}
		row = Repo{Share: got.Share, late: got.late}.Today(row, until.Add(time.Hour))
		if row.LastError != c.error {
			t.Errorf("%s: its row says %q, want %q", name, row.LastError, c.error)
		}
	}
}
