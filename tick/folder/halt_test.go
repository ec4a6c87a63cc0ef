package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAPauseOfEverythingLasts(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	if _, halted := d.Halted(); halted {
		t.Fatal("paused before anybody said so")
	}
	if was, err := d.EndHalt(); was || err != nil {
		t.Errorf("ended what never began: %v, %v", was, err)
	}
	first, before, err := d.HaltAll("  the\nbudget \xff ", noon)
	if before || err != nil || first.Why != "the budget" || !first.Since.Equal(noon) {
		t.Fatalf("%+v, %v, %v", first, before, err)
	}
	again, before, err := d.HaltAll("", noon.Add(time.Hour))
	if !before || err != nil || again != first {
		t.Errorf("again: %+v, %v, %v", again, before, err)
	}
	long, _, err := d.HaltAll(strings.Repeat("ä", maxHaltReason), noon.Add(time.Hour))
	if got, halted := d.Halted(); err != nil || !halted || got != long || len(got.Why) > maxHaltReason+len("…") || !got.Since.Equal(noon) {
		t.Errorf("with a long reason: %+v, %v", got, err)
	}
	entries, err := os.ReadDir(d.State)
	if err != nil || len(entries) != 1 {
		t.Errorf("it left %v, %v", entries, err)
	}
	if was, err := d.EndHalt(); !was || err != nil {
		t.Errorf("the end: %v, %v", was, err)
	}
	for _, content := range []string{"", "{", "paused", `{"since":"yesterday"}`} {
		if err := os.WriteFile(d.haltFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if h, halted := d.Halted(); !halted || !strings.Contains(h.Says(), "cannot be read") {
			t.Errorf("%q: %+v, %v", content, h, halted)
		}
	}
	if h, before, err := d.HaltAll("", noon); !before || err != nil || !h.Since.Equal(noon) {
		t.Errorf("over a broken file: %+v, %v, %v", h, before, err)
	}
}

// Unwatched passes report a pause once, and again with another reason. The next pause is reported
// even with the same text. If nothing can be stored, each pass reports it.
func TestAPauseIsToldOnce(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	pause := func(reason string) Halt {
		h, _, err := d.HaltAll(reason, noon)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := pause("the budget")
	if !d.ShouldReportHalt(h) || d.ShouldReportHalt(h) || d.ShouldReportHalt(h) {
		t.Error("it is not told exactly once")
	}
	if h = pause("no money left"); !d.ShouldReportHalt(h) || d.ShouldReportHalt(h) {
		t.Error("another reason is not told exactly once")
	}
	if _, err := d.EndHalt(); err != nil {
		t.Fatal(err)
	}
	if h = pause("no money left"); !d.ShouldReportHalt(h) {
		t.Error("the next pause is not told")
	}
	gone := Dirs{State: filepath.Join(d.State, "gone")}
	for range 2 {
		if !gone.ShouldReportHalt(h) {
			t.Error("what could not be noted is not told again")
		}
	}
}

// Files of a killed pause are removed by the next one. A file that is being written is not.
func TestWhatAKilledPauseLeftIsRemoved(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	left, writing := filepath.Join(d.State, "paused-1.tmp"), filepath.Join(d.State, "paused-2.tmp")
	for path, at := range map[string]time.Time{left: noon.Add(-time.Hour), writing: noon.Add(-time.Second)} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := d.HaltAll("", noon); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left is there: %v", err)
	}
	if _, err := os.Stat(writing); err != nil {
		t.Errorf("what is being written is gone: %v", err)
	}
}
