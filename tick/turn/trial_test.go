package turn

import (
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A failed trial of an agent counts for one turn only: the next one, in another checkout or
// repository, tries again. A successful trial is not repeated.
func TestATrialThatFailsIsTheTurnsOwn(t *testing.T) {
	var all tried
	k := kindOfRun{agent: "a", sandbox: work.SandboxBwrap, mode: work.ModeWrite}
	var tries int
	try := func(err error) func() error {
		return func() error { tries++; return err }
	}
	if err := all.once(k, try(errors.New("no space left"))); err == nil {
		t.Fatal("the first trial did not fail")
	}
	if err := all.once(k, try(nil)); err != nil {
		t.Errorf("another turn got the failure of the first: %v", err)
	}
	if err := all.once(k, try(errors.New("not to be tried"))); err != nil || tries != 2 {
		t.Errorf("%d trials, %v", tries, err)
	}
	read := k
	read.mode = work.ModeRead
	if err := all.once(read, try(nil)); err != nil || tries != 3 {
		t.Errorf("another kind of run: %d trials, %v", tries, err)
	}
}
