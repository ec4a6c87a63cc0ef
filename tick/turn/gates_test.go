package turn

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func TestTheGatesAreToldBeforehand(t *testing.T) {
	l := &env.Lease{Repo: &env.Repo{}, Turn: work.Turn{Kind: work.KindImplementationStart}}
	p := &runner{Env: &env.Env{Config: &config.Config{}}}
	p.Config.Runtime.MaxFiles, p.Config.Runtime.MaxFileBytes, l.Repo.Settings.ProtectedPaths = 7, 3<<20, []string{"ci/**"}
	told := strings.Join(refusedChanges(p.Config.Runtime, l.Repo.Settings, l.Turn.Kind), "\n")
	for _, want := range []string{"a file over 3 MiB", "more than 7 changed files", "a change to ci/**", "a change to documents alone"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told:\n%s", want, told)
		}
	}
	if got := p.limits(l); got.MaxFiles != 7 || got.MaxFileBytes != 3<<20 || len(got.NotOnly) == 0 || got.Secrets == nil {
		t.Errorf("limits %+v", got)
	}
	l.Turn.Kind = work.KindSmallJobStart
	if got := p.limits(l); len(got.NotOnly) != 0 {
		t.Error("a small job may be about documents")
	}
}
