package folder

import (
	"os"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A held slot shows its turn, since when, and the agent's last activity: at most once a second,
// without changing the file's content, which others may be reading.
func TestASlotTellsOfItsAgent(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	s, ok, err := d.TakeSlot(1)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := s.Announce(work.Holder{Repo: "github.com/octo/app", Number: 7, Turn: "k", Since: noon}); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(d.slotPath(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   time.Duration
		want time.Duration
	}{{0, 0}, {999 * time.Millisecond, 0}, {time.Second, time.Second}, {1500 * time.Millisecond, time.Second}, {time.Minute, time.Minute}, {-time.Hour, -time.Hour}} {
		s.Touch(noon.Add(c.at))
		live, err := d.LiveTurns()
		if err != nil {
			t.Fatal(err)
		}
		got := live["k"]
		if got.Turn != "k" || got.Slot != 1 || !got.Since.Equal(noon) || !got.LastActivity.Equal(noon.Add(c.want)) {
			t.Errorf("touched at %s: %+v, want %s", c.at, got, c.want)
		}
	}
	if now, err := os.ReadFile(d.slotPath(1)); err != nil || string(now) != string(said) {
		t.Errorf("it says %q, %v", now, err)
	}
	s.Release()
	if live, err := d.LiveTurns(); err != nil || len(live) != 0 {
		t.Errorf("released: %v, %v", live, err)
	}
}
