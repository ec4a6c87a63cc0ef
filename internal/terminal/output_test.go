package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestWhenIsExactForPrograms(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	then := now.Add(-2 * time.Hour)
	for _, c := range []struct {
		tty  bool
		at   time.Time
		want string
	}{
		{false, then, "2026-11-21T10:00:00Z"},
		{true, then, "about 2 hours ago"},
		{true, time.Time{}, ""},
		{false, time.Time{}, ""},
	} {
		if got := (Output{TTY: c.tty}).When(c.at, now); got != c.want {
			t.Errorf("tty %v, %v: %q, want %q", c.tty, c.at, got, c.want)
		}
	}
}

func TestTableIsTSVWhenPiped(t *testing.T) {
	rows := [][]string{{"octo/app#1", "a title\twith\nbreaks\x1b[31m"}}
	var piped, shown bytes.Buffer
	if err := (Output{W: &piped}).Table([]string{"ITEM", "TITLE"}, rows); err != nil {
		t.Fatal(err)
	}
	if want := "octo/app#1\ta title with breaks\\u001b[31m\n"; piped.String() != want {
		t.Errorf("piped: %q, want %q", piped.String(), want)
	}
	if err := (Output{W: &shown, TTY: true, Width: 80}).Table([]string{"ITEM", "TITLE"}, rows); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.String(), "ITEM") || strings.Contains(shown.String(), "\t") {
		t.Errorf("shown: %q, want headings and no tabs", shown.String())
	}
}
