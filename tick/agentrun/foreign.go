package agentrun

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Somebody else's pull request is code that nobody here asked for. Its reviewer sees
// nothing of the machine but the checkout, whatever the config says of sandboxes.

// sheltered refuses what nothing may run for somebody else's pull request: any turn but a
// review, and that where the agent could read the operator's files.
func sheltered(l *env.Lease, ag env.Hired) error {
	switch {
	case l.Item.Flow != work.FlowReview:
		return nil
	case l.Turn.Kind != work.KindReview:
		return fmt.Errorf("pull request #%d is somebody else's, and is only reviewed: no agent begins %s", l.Item.Number, l.Turn.Kind)
	case !ag.Sandbox.Hides():
		return &work.BlockedError{Reason: work.Reason{
			Kind: work.WhyReviewSandbox, Text: fmt.Sprintf("agent %q runs without one", ag.Name), Advice: ag.Remedy,
		}}
	}
	return nil
}

// homeOf says whose home folder the turn's agent finds: the item's. A review of somebody
// else's pull request finds an empty one, and leaves nothing to the next.
func homeOf(l *env.Lease) int {
	if l.Item.Flow == work.FlowReview {
		return 0
	}
	return l.Item.Number
}
