package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func TestWhatAPassSaysOfMerges(t *testing.T) {
	landed := strings.Repeat("ab", 20)
	all := []env.MergeReport{
		{Number: 9, Outcome: env.MergeDone, Method: "squash", Base: "main", Commit: landed, URL: "https://github.com/octo/app/pull/9"},
		{Number: 8, Outcome: env.MergeDone, Base: "main", Commit: landed, Differs: "a.go has\nother lines"},
		{Number: 7, Outcome: env.MergeQueued, Base: "main"},
		{Number: 6, Outcome: env.MergeUpdated, Base: "next"},
		{Number: 5, Outcome: env.MergeWaits, Reason: "GitHub is finding out whether it can be merged", Code: work.WhyMergeUnknown},
		{Number: 4, Outcome: env.MergeBlocked, Reason: "the account may not merge here", Code: work.WhyMergePermission},
	}
	rep := env.NewReport(time.Time{})
	for _, m := range all {
		m.Repo = "octo/app"
		rep.AddMerge(m)
	}
	if rep.Idle() {
		t.Error("a pass that merged is idle")
	}
	var b bytes.Buffer
	if err := printDone(terminal.Output{W: &b}, rep, nil, nil); err != nil {
		t.Fatal(err)
	}
	want := "octo/app#4\tmerge\tblocked\t#4 is not merged: the account may not merge here\t\n" +
		"octo/app#5\tmerge\twaiting\t#5 is not merged: GitHub is finding out whether it can be merged\t\n" +
		"octo/app#6\tmerge\tupdated\tbrought #6 up to date with next\t\n" +
		"octo/app#7\tmerge\tqueued\tput #7 into the merge queue of main\t\n" +
		"octo/app#8\tmerge\tmerged\tmerged #8 as abababa into main; what landed is not what was approved: a.go has other lines\t\n" +
		"octo/app#9\tmerge\tmerged\tmerged #9 (squash) as abababa into main\thttps://github.com/octo/app/pull/9\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	b.Reset()
	asked := &terminal.JSON{Fields: []string{"merges"}, JQ: `.merges[-1] | tojson`}
	if err := asked.Write(terminal.Output{W: &b, Bare: &b}, passView{Merges: rep.Merges()}); err != nil {
		t.Fatal(err)
	}
	object := `{"base":"main","commit":"` + landed + `","differs":"","head":"","number":9,"outcome":"merged","reason":"","reasonCode":"","repo":"octo/app","url":"https://github.com/octo/app/pull/9"}` + "\n"
	if b.String() != object {
		t.Errorf("JSON: got %s want %s", &b, object)
	}
}

// On a terminal a pass tells of each repository what is left to read, whatever else it did,
// and then there is something to do.
func TestWhatIsLeftIsTold(t *testing.T) {
	const left = "3 of 8 open pull requests are looked at so far; the next pass resumes there"
	rep := env.NewReport(time.Time{})
	rep.Repo("octo/app", func(x *env.RepoReport) { x.Ingested, x.Note = true, left })
	rep.Repo("octo/lib", func(x *env.RepoReport) { x.Ingested = true })
	told := func(tty bool) string {
		var b bytes.Buffer
		if err := printDone(terminal.Output{W: &b, TTY: tty, Width: 120}, rep, nil, nil); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := told(true); got != "octo/app: "+left+"\n" {
		t.Errorf("people read %q", got)
	}
	if got := told(false); got != "" {
		t.Errorf("a scheduler is told %q", got)
	}
	rep.AddMerge(env.MergeReport{Repo: "octo/app", Number: 6, Outcome: env.MergeUpdated, Base: "next"})
	if got := told(true); !strings.HasPrefix(got, "octo/app: "+left+"\n") || !strings.Contains(got, "octo/app#6") {
		t.Errorf("beside a merge people read %q", got)
	}
}
