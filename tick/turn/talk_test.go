package turn

import (
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Somebody else's pull request is only reviewed, in a sandbox that hides the machine, without a
// home folder of its own.
func TestSheltered(t *testing.T) {
	for _, sandbox := range work.Sandboxes() {
		for _, kind := range []work.Kind{work.KindReview, work.KindFix, work.KindImplementationFeedback} {
			for _, flow := range []work.Flow{work.FlowBugfix, work.FlowReview} {
				l := &env.Lease{Item: work.Item{Number: 7, Flow: flow}, Turn: work.Turn{Kind: kind}}
				err := requireSandbox(l, env.Hired{Name: "a", Sandbox: sandbox, Remedy: "get one"})
				may := flow != work.FlowReview || kind == work.KindReview && (sandbox == work.SandboxBwrap || sandbox == work.SandboxMac)
				if (err == nil) != may {
					t.Errorf("%s of %s in %s: %v", kind, flow, sandbox, err)
				}
				var blocked *work.BlockedError
				if flow == work.FlowReview && kind == work.KindReview && !may && (!errors.As(err, &blocked) || blocked.Reason.Kind != work.WhyReviewSandbox || blocked.Reason.Advice != "get one") {
					t.Errorf("%s: %v", sandbox, err)
				}
				if home := homeOf(l); (home == 0) != (flow == work.FlowReview) {
					t.Errorf("%s finds the home of %d", flow, home)
				}
			}
		}
	}
}
