package git

import (
	"errors"
	"strings"
	"testing"
)

func TestReadPush(t *testing.T) {
	line := func(flag, summary string) string {
		return "To https://x\n" + flag + "\tabc:refs/heads/b\t" + summary + "\nDone\n"
	}
	for _, c := range []struct{ flag, summary, want, hint string }{
		{" ", "1..2", "ok", ""},
		{"*", "[new branch]", "ok", ""},
		{"=", "[up to date]", "ok", ""},
		{"-", "[deleted]", "ok", ""},
		{"!", "[rejected] (stale info)", "lease", ""},
		{"!", "[rejected] (fetch first)", "lease", ""},
		{"!", "[remote rejected] (cannot lock ref 'refs/heads/b': is at 1 but expected 2)", "lease", ""},
		{"!", "[remote rejected] (reference already exists)", "lease", ""},
		{"!", "[remote rejected] (protected branch hook declined)", "rejected", "rules"},
		{"!", "[remote rejected] (push declined due to repository rule violations)", "rejected", "rules"},
		{"!", "[remote rejected] (refusing to allow an OAuth App to create or update workflow `.github/workflows/ci.yml` without `workflow` scope)", "rejected", "gh auth refresh -s workflow"},
		{"!", "[remote rejected] (permission denied)", "rejected", "gh auth status"},
		{"!", "[remote rejected] (push declined due to repository rule violations: Push cannot contain secrets)", "rejected", "allow it"},
		{"!", "[remote rejected] (pre-receive hook declined)", "rejected", "what the hook says"},
		{"!", "[remote failure] (remote failed to report status)", "none", ""},
	} {
		err, ok := readPush("b", "2", line(c.flag, c.summary), "")
		got := "none"
		var lease *LeaseError
		var rejected *RejectedError
		switch {
		case ok && err == nil:
			got = "ok"
		case errors.As(err, &lease):
			got = "lease"
		case errors.As(err, &rejected):
			got = "rejected"
			if !strings.Contains(rejected.Hint, c.hint) {
				t.Errorf("%s: hint %q", c.summary, rejected.Hint)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s (%v)", c.summary, got, err)
		}
	}
	if _, ok := readPush("b", "2", line(" ", "1..2"), ""); !ok {
		t.Error("no verdict")
	}
	if _, ok := readPush("other", "2", line(" ", "1..2"), ""); ok {
		t.Error("another branch's line")
	}
}
