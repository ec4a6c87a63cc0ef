package turn

import (
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// GitHub shows why a turn waits, but no details of this machine's network.
func TestAWaitForTheNetworkNamesNoProxyOnGitHub(t *testing.T) {
	v := classify(&git.NetworkError{Op: "fetch", Detail: "Could not resolve proxy: proxy.corp"}, work.Turn{Kind: work.KindBugfixStart}, noon, time.Minute)
	w := explain.Reason(v.why, explain.Place{Comments: true})
	if w.What == "" || strings.Contains(w.What+w.Next(), "proxy") || !strings.Contains(w.Here(), "proxy.corp") {
		t.Errorf("%+v", w)
	}
}
