package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// notMerged is a place in which nothing is merged into octo/app any more. Its repositories have
// remotes of this machine's.
func notMerged(t *testing.T) place {
	t.Helper()
	p := newPlace(t)
	p.fill(t)
	text, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"octo/app", "octo/lib"} {
		remote := filepath.Join(t.TempDir(), "remote.git")
		if out, err := exec.Command("git", "init", "--quiet", "--bare", remote).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v: %s", err, out)
		}
		named := fmt.Sprintf("name = %q\n", name)
		text = bytes.Replace(text, []byte(named), fmt.Appendf([]byte(named), "remote_url = %q\n", remote), 1)
	}
	if err := os.WriteFile(p.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	db := testdb.Open(t, filepath.Join(p.state, "state.db"), func() time.Time { return p0 })
	defer db.Close()
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		app, err := tx.EnsureRepo(t.Context(), work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		if err != nil {
			return err
		}
		return tx.StopMerging(t.Context(), app.ID, work.Reason{Kind: work.WhyMergeDiffers, Number: 13, Commit: before, Head: head, Text: "a.go differs"})
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const landedOther = "what landed as bbbbbbb is not what was approved as ccccccc: a.go differs"

func TestMergingResumes(t *testing.T) {
	p := notMerged(t)
	// Whoever asks is told loudly, and what to type.
	_, _, told := run(t, "status", "--config", p.config)
	has(t, told, "octo/app: MERGING IS STOPPED since 2026-11-22T12:00:00Z: "+landedOther+". Check what landed, then: gh mergexo resume-merging octo/app\n")
	const query = `[.repositories[]|[.name,.mergingStopped.since,.mergingStopped.reasonCode,.mergingStopped.reason,.mergingStopped.resume]|join(",")]|join(" ")`
	_, stdout, _ := run(t, "status", "--config", p.config, "--json", "repositories", "--jq", query)
	if want := "octo/app,2026-11-22T12:00:00Z,merge_landed_other_tree," + landedOther + ",gh mergexo resume-merging octo/app octo/lib,,,,\n"; stdout != want {
		t.Errorf("got %q, want %q", stdout, want)
	}

	if code, stdout, stderr := run(t, "resume-merging", "octo/lib", "--config", p.config, "--json", "resumed,mergingStopped,answer"); code != 0 ||
		stdout != `{"answer":"merging was not stopped in octo/lib","mergingStopped":null,"resumed":false}`+"\n" {
		t.Errorf("another repository: %d %q %q", code, stdout, stderr)
	}
	code, stdout, stderr := run(t, "resume-merging", "OCTO/app", "--config", p.config)
	if want := "merging resumes in octo/app: the next pass merges pull requests whose gates are open. It was stopped since 2026-11-22T12:00:00Z: " + landedOther + "\n"; code != 0 || stdout != want {
		t.Errorf("%d %q %q, want %q", code, stdout, stderr, want)
	}
	if _, _, told := run(t, "status", "--config", p.config); strings.Contains(told, "STOPPED") {
		t.Errorf("it is told still: %q", told)
	}
	if code, stdout, _ := run(t, "resume-merging", "octo/app", "--config", p.config); code != 0 || stdout != "merging was not stopped in octo/app\n" {
		t.Errorf("once more: %d %q", code, stdout)
	}
}

func TestMergingThatResumesAsJSON(t *testing.T) {
	p := notMerged(t)
	const query = `[.repository,.resumed,.mergingStopped.since,.mergingStopped.reasonCode,.answer[:16]]|tojson`
	code, stdout, stderr := run(t, "resume-merging", "octo/app", "--config", p.config, "--json", "repository,resumed,mergingStopped,answer", "--jq", query)
	if want := `["octo/app",true,"2026-11-22T12:00:00Z","merge_landed_other_tree","merging resumes "]` + "\n"; code != 0 || stdout != want {
		t.Errorf("%d %q %q, want %q", code, stdout, stderr, want)
	}
}

func TestWhatMergingCannotResumeIn(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		name, want string
	}{
		{"octo/ap", "known: octo/app, octo/lib; did you mean octo/app?\n"},
		{"octo/app#12", "octo/app#12"},
		{"octo/app", "no pass has run yet; run one: gh mergexo tick\n"},
	} {
		code, stdout, stderr := run(t, "resume-merging", c.name, "--config", p.config)
		if code != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d %q %q", c.name, code, stdout, stderr)
		}
	}
	p.fill(t)
	if code, _, stderr := run(t, "resume-merging", "--config", p.config); code != 1 || !strings.Contains(stderr, "say which one; as in: gh mergexo resume-merging octo/repo\n") {
		t.Errorf("no name: %d %q", code, stderr)
	}
}

func has(t *testing.T, got string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in:\n%s", line, got)
		}
	}
}
