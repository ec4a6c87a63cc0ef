package store

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// A server that accepts what is sent and answers nothing ends what a pass or a command waits for, in words:
// at each statement until the pass has its session, and at those of readers.
func TestASilentServer(t *testing.T) {
	at := emptyServer.Copy(t)
	openAt(t, at) // the schema is there
	reader, writer := readerWaits, writerWaits
	readerWaits, writerWaits = 100*time.Millisecond, 100*time.Millisecond
	t.Cleanup(func() { readerWaits, writerWaits = reader, writer })
	for what, do := range map[string]func(ctx context.Context, at string) error{
		"a pass begins": func(ctx context.Context, at string) error {
			d, err := Open(ctx, at, Options{Now: clock, Session: true})
			if err != nil {
				return err
			}
			s, err := d.Session(ctx)
			s.Close(ctx)
			_ = d.Close()
			return err
		},
		"a command reads": func(ctx context.Context, at string) error {
			d, _, err := OpenReadOnly(ctx, at)
			if err != nil {
				return err
			}
			err = d.View(ctx, func(tx *Tx) error { _, err := tx.ListRepos(ctx); return err })
			_ = d.Close()
			return err
		},
		"doctor tries": func(ctx context.Context, at string) error { _, err := Inspect(ctx, at); return err },
	} {
		n := int32(1)
		for silent, slow := true, 0; silent && n < 50; n++ {
			proxy, err := testpg.OpenProxy(at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = proxy.Close() })
			var asked atomic.Int32
			proxy.OnFlight(func(f testpg.Flight) string {
				if !f.Done && !strings.HasPrefix(f.SQL, "[") && asked.Add(1) == n { // to connect is bounded by connectTime
					proxy.Freeze()
				}
				return ""
			})
			began := time.Now()
			err = do(t.Context(), proxy.Through(at))
			silent = asked.Load() >= n
			if took := time.Since(began); took > time.Minute {
				t.Errorf("%s, silent from question %d on: it took %s", what, n, took)
			}
			if slow++; !silent && err != nil && slow < 100 { // this machine did not come so far in the time
				silent, n = true, n-1
				continue
			}
			if silent && (err == nil || !strings.Contains(faultOf(t, err), "it does not answer")) || !silent && err != nil {
				t.Errorf("%s, silent from question %d on: %v", what, n, err)
			}
		}
		if n < 4 {
			t.Errorf("%s: it asks %d times", what, n-2)
		}
	}
	readerWaits, writerWaits = reader, writer // doctor has no time for that
	proxy, err := testpg.OpenProxy(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	proxy.OnFlight(func(f testpg.Flight) string {
		if f.Done { // it is connected
			proxy.Freeze()
		}
		return ""
	})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Inspect(ctx, proxy.Through(at)); err == nil || !strings.Contains(faultOf(t, err), "it does not answer") {
		t.Error(err)
	}
}
