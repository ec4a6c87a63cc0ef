package env

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// aRemote counts its requests; its branch moves with each.
type aRemote struct {
	actions.Branches
	asked int
}

func (r *aRemote) Fetch(context.Context, ...string) error { return errMoved }

func (r *aRemote) RemoteHeads(context.Context, string) (map[string]string, error) {
	r.asked++
	return map[string]string{"b": string(rune('a' - 1 + r.asked))}, nil
}

var errMoved = errors.New("not where it was expected")

// The look before a push is prefetched with the other looks. A look that must be current asks the
// remote.
func TestTheRemoteIsAskedInAdvance(t *testing.T) {
	remote, moment := &aRemote{}, time.Now()
	b := branches{Branches: remote, now: func() time.Time { return moment }}
	ctx, reads := ahead.With(t.Context(), actions.PrefetchMaxAge)
	defer reads.Stop()
	at := func(ctx context.Context, want string, asked int) {
		t.Helper()
		heads, err := b.RemoteHeads(ctx, "b")
		if err != nil || !maps.Equal(heads, map[string]string{"b": want}) || remote.asked != asked {
			t.Errorf("got %v %v, asked %d times; want %s, %d", heads, err, remote.asked, want, asked)
		}
	}
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = b.RemoteHeads(ctx, "b") })
	at(ctx, "a", 1)
	at(ctx, "a", 1)
	at(ahead.Without(ctx), "b", 2)
	moment = moment.Add(actions.PrefetchMaxAge)
	at(ctx, "c", 3)
	at(t.Context(), "d", 4)
}

// A push that may have arrived, and one that the remote refused, are looked for on the remote
// itself: a prefetched answer from before the push would say that it never came.
func TestWhatWasSentIsLookedForOnTheRemote(t *testing.T) {
	remote, r := &aRemote{}, &actions.Runner{}
	s := actions.Scope{Branches: branches{Branches: remote, now: time.Now}}
	ctx, reads := ahead.With(t.Context(), actions.PrefetchMaxAge)
	defer reads.Stop()
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = s.Branches.RemoteHeads(ctx, "b") })
	look := func(what, base string, sends int, by func(work.Action) error) {
		t.Helper()
		a := work.Action{Kind: work.ActionPush, Target: "b", Base: base, Head: "z", Sends: sends}
		if err := by(a); err != nil || remote.asked != int(base[0]-'a')+1 {
			t.Errorf("%s: %v, asked %d times", what, err, remote.asked)
		}
	}
	watch := func(a work.Action) error { _, err := r.SettleWithoutSend(ctx, s, a); return err }
	look("never sent", "a", 0, watch)
	look("sent", "b", 1, watch)
	look("refused", "c", 0, func(a work.Action) error { _, err := r.RecordIfSeen(ctx, s, a); return err })
}
