package prompts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// changed is a file of which a diff of about n characters is shown.
func changed(path string, n int) DiffFile {
	text := "diff --git a/" + path + " b/" + path + "\n" + strings.Repeat("+a line of forty characters, all in all\n", n/40)
	return DiffFile{Path: path, Text: text, Size: int64(n), Lines: n / 40}
}

// Every file is shown whole or named as one that is not, in one run; no file hides another one of its
// size or a smaller one.
func TestShareDiffTellsOfEveryFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var files []DiffFile
		for i := range rapid.IntRange(0, 30).Draw(t, "files") {
			name := rapid.SampledFrom([]string{"a/%d.go", "b/c/%d.go", "%d.md", "z/%d/package-lock.json"}).Draw(t, "name")
			f := changed(fmt.Sprintf(name, i), rapid.SampledFrom([]int{40, 4000, 30_000, 90_000, 190_000, 300_000, 1_000_000}).Draw(t, "size"))
			f.Generated = rapid.IntRange(0, 5).Draw(t, "generated") == 0
			if rapid.IntRange(0, 9).Draw(t, "binary") == 0 {
				f.Text, f.Lines = "", 1
			}
			files = append(files, f)
		}
		shares, unread := ShareDiff(files)
		if len(shares) > maxShares || len(shares) == 0 != (len(files) == 0) {
			t.Fatalf("%d files in %d runs", len(files), len(shares))
		}
		total := 0
		for _, f := range files {
			total += utf8.RuneCountInString(f.Text)
		}
		if total <= maxDiff && len(shares) > 1 {
			t.Fatalf("%d characters take %d runs", total, len(shares))
		}
		largest, smallest := 0, 1<<30 // of ordinary files: shown whole, not shown whole
		for _, f := range files {
			at := slices.IndexFunc(shares, func(s DiffShare) bool { return slices.Contains(s.Paths, f.Path) })
			if at < 0 {
				t.Fatalf("%s is in no run", f.Path)
			}
			cut := slices.ContainsFunc(shares[at].Cut, func(note string) bool { return strings.HasPrefix(note, f.Path+" (") })
			whole := f.Text != "" && strings.Contains(shares[at].Text, f.Text)
			if whole == cut || whole == slices.Contains(unread, f.Path) {
				t.Fatalf("%s: whole %v, named as cut %v, unread %q", f.Path, whole, cut, unread)
			}
			switch n := len(f.Text); {
			case f.Generated || strings.HasSuffix(f.Path, "lock.json") || n == 0:
			case whole:
				largest = max(largest, n)
			default:
				smallest = min(smallest, n)
			}
		}
		if smallest < largest {
			t.Fatalf("a file of %d characters is cut, and one of %d is not", smallest, largest)
		}
		for _, s := range shares {
			if n := utf8.RuneCountInString(s.Text); n > maxDiff {
				t.Fatalf("a run shows %d characters", n)
			}
		}
	})
}

// The smallest of very many files are shown whole.
func TestThousandsOfFilesAreShared(t *testing.T) {
	var files []DiffFile
	for i := range 3000 {
		files = append(files, changed(fmt.Sprintf("%d/%d.go", i%100, i), 4000+i))
	}
	shares, unread := ShareDiff(files)
	if len(shares) > maxShares || len(unread) < 2500 || slices.Contains(unread, files[0].Path) {
		t.Errorf("%d runs, %d files unread", len(shares), len(unread))
	}
}

// A change of very many files is shared while a pass can wait for it.
func TestAHundredThousandFilesAreShared(t *testing.T) {
	testhome.NotShort(t)
	var files []DiffFile
	for i := range 100_000 {
		files = append(files, changed(fmt.Sprintf("vendor/%d/%d.go", i%100, i), 200))
	}
	done := make(chan []DiffShare, 1)
	go func() {
		shares, _ := ShareDiff(files)
		done <- shares
	}()
	select {
	case shares := <-done:
		if len(shares) > maxShares {
			t.Errorf("%d runs", len(shares))
		}
	case <-time.After(testhome.Patience()):
		t.Error("it does not end")
	}
}

func TestGeneratedFilesComeLastAndShort(t *testing.T) {
	api := changed("api/a.pb.go", 9000)
	api.Generated = true
	shares, unread := ShareDiff([]DiffFile{api, changed("go.sum", 150_000), changed("package-lock.json", 400), changed("z/last.go", 180_000)})
	if len(shares) != 1 || !slices.Equal(unread, []string{"go.sum", "api/a.pb.go"}) || !slices.Equal(shares[0].Paths, []string{"z/last.go", "go.sum", "package-lock.json", "api/a.pb.go"}) {
		t.Fatalf("%d runs, unread %q, %q", len(shares), unread, shares[0].Paths)
	}
	if want := "api/a.pb.go (9000 bytes, 225 lines changed): only its beginning is shown"; shares[0].Cut[1] != want {
		t.Errorf("%q", shares[0].Cut)
	}
	if n := utf8.RuneCountInString(shares[0].Text); n > 180_000+3*cutDiff {
		t.Errorf("%d characters", n)
	}
}

// A large change takes several runs; a folder stays in one.
func TestALargeChangeIsSplitByFolder(t *testing.T) {
	shares, unread := ShareDiff([]DiffFile{changed("a/1", 90_000), changed("a/2", 20_000), changed("b/1", 80_000), changed("b/2", 80_000), changed("c", 10)})
	if len(shares) != 2 || len(unread) > 0 || !slices.Equal(shares[1].Paths, []string{"b/1", "b/2"}) {
		t.Fatalf("%+v", shares)
	}
	c := Context{Review: &Review{Reviewer: "quinn", Shares: shares, Parts: 2}, Findings: []Finding{{ID: "1", Path: "b/2"}, {ID: "2", Path: "gone"}, {ID: "3", Path: "a/1"}}}
	all := Split(c)
	for i, want := range []string{"2 3", "1"} {
		var ids []string
		for _, f := range all[i].Findings {
			ids = append(ids, f.ID)
		}
		r := Prepare(all[i]).Review
		if strings.Join(ids, " ") != want || r.Part != i+1 || r.Parts != 2 || r.Diff != shares[i].Text || AskedOf(work.KindReview, all[i]).Runs != 0 {
			t.Errorf("run %d: findings %q, part %d of %d", i, ids, r.Part, r.Parts)
		}
	}
	if AskedOf(work.KindReview, c).Runs != 2 || len(Split(Context{Review: &Review{Shares: shares[:1]}})) != 1 || len(Split(Context{})) != 1 {
		t.Error("runs of the whole")
	}
}

func TestJoinReviews(t *testing.T) {
	const (
		approves = `{"decision":"approve","summary":"Fine.","body":null,"comments":[],"earlier":[{"finding":"f1","resolved":true,"note":null}],"escalate":["sam"]}`
		rejects  = `{"decision":"request_changes","summary":"It leaks.","body":"See below.","comments":[{"path":"a","line":3,"severity":"major","confidence":"high","body":"Here."}],"earlier":[],"escalate":["sam","priya"]}`
	)
	asked := Asked{Findings: []Finding{{ID: "f1"}}, Escalations: []string{"sam", "priya"}, Runs: 2}
	for _, x := range []struct {
		answers []string
		want    review.Decision
		found   int
	}{
		{[]string{approves, `{"decision":"approve","summary":"Fine.","body":null,"comments":[],"earlier":[],"escalate":[]}`}, review.Approve, 0},
		{[]string{approves, rejects}, review.RequestChanges, 1},
		{[]string{rejects, approves}, review.RequestChanges, 1},
	} {
		var all []json.RawMessage
		for _, a := range x.answers {
			all = append(all, json.RawMessage(a))
		}
		raw, err := JoinReviews(all)
		if err != nil {
			t.Fatal(err)
		}
		a, violations := Decode(work.KindReview, raw, asked)
		if len(violations) > 0 || a.Decision != x.want || len(a.Comments) != x.found || len(a.Earlier) != 1 || len(a.Escalate) != 1+x.found || strings.Count(a.Summary, "Fine.") != 1 {
			t.Errorf("%q\n%q: %s", x.answers, violations, raw)
		}
	}
	large := strings.Replace(rejects, "See below.", strings.Repeat("x", MaxAnswer-len(rejects)), 1)
	raw, err := JoinReviews([]json.RawMessage{json.RawMessage(large), json.RawMessage(large), json.RawMessage(approves)})
	if a, violations := Decode(work.KindReview, raw, asked); err != nil || len(violations) > 0 || len(a.Comments) != 2 {
		t.Errorf("large answers: %v, %q", err, violations)
	}
}
