package status

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestPullIsSaysWhatStillMatters(t *testing.T) {
	for want, p := range map[string]work.PullRequest{
		"open mergeable success": {State: work.PullOpen, Mergeable: "MERGEABLE", Rollup: "SUCCESS"},
		"open unknown":           {State: work.PullOpen, Mergeable: "UNKNOWN"},
		"merged":                 {State: work.PullMerged, Mergeable: "UNKNOWN"},
		"closed failure":         {State: work.PullClosed, Mergeable: "UNKNOWN", Rollup: "FAILURE"},
	} {
		if got := pullIs(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
