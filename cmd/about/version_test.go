package about

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionLine(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"},
		{Key: "vcs.time", Value: "2026-11-21T01:02:03Z"},
		{Key: "vcs.modified", Value: "true"},
	}}
	if got := buildOf("", info).String(); !strings.HasPrefix(got, "gh mergexo (devel) (commit 0123456789ab of 2026-11-21 with local changes, go") {
		t.Errorf("got %q", got)
	}
	if got := buildOf("v2.0.0", nil).String(); !strings.HasPrefix(got, "gh mergexo v2.0.0 (go") {
		t.Errorf("got %q", got)
	}
}
