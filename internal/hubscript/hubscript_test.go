package hubscript

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

type hubKey struct{}

// TestStories runs the stories of testdata: each subcommand is used in at least one of them.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			began, asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), new(atomic.Int64)
			hub, err := githubsim.New(githubsim.Options{Dir: env.WorkDir + "/hub", Now: func() time.Time {
				return began.Add(time.Duration(asked.Add(1)) * time.Second)
			}})
			if err != nil {
				return err
			}
			if _, err := hub.AddRepo("acme/app", map[string]string{"a.txt": "one\ntwo\nthree\n"}); err != nil {
				return err
			}
			addr, err := hub.ServeTCP()
			if err != nil {
				return err
			}
			env.Setenv("HUB", "http://"+addr)
			env.Values[hubKey{}] = hub
			env.Defer(func() { _ = hub.Close() })
			return nil
		},
		Cmds: Commands(func(ts *testscript.TestScript) Place {
			hub, ok := ts.Value(hubKey{}).(*githubsim.Hub)
			if !ok {
				ts.Fatalf("the story has no hub")
			}
			return Place{Hub: hub}
		}),
	})
}
