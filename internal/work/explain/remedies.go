package explain

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Remedy is one deed of a person that ends a reason, as a template. A reason offers only remedies that pass the
// check which found it: TestEachRemedyEndsItsReason plays each remedy of each reason.
type Remedy string

// The remedies for what waits for issues.
const (
	StartAnyway Remedy = "comment on the issue to start it anyway"
	Reopen      Remedy = "reopen {name}"
	GiveAccess  Remedy = "give the account access to {name}"
	Unlink      Remedy = "remove {name} from what blocks the issue"
	BreakCircle Remedy = "close one of them or remove one of their \"blocked by\""
	CloseNeeds  Remedy = "it begins once {they} {are} closed"
)

// The remedies for roadmaps and what is below them.
const (
	EndHold        Remedy = "comment `/mergexo resume` on {name}, which ends what {who} began|reopen {name}"
	LeaveRoadmap   Remedy = "remove {name} as the parent of this issue"
	LeaveCost      Remedy = "remove {names} as the parent of this issue"
	RaiseCost      Remedy = "raise `max_cost` in [repo.roadmap] of the config"
	SetLabel       Remedy = "set a label that starts work, or, where one is set, remove it and set it again"
	ConfigureRepo  Remedy = "name {name} in the config and set a label there|"
	CloseNeglected Remedy = "work on {them} yourself and close {them}"
	CloseAgain     Remedy = "close {list}"
	UnlinkBehind   Remedy = "remove {list} from what blocks the others, and they begin without {them}"
	ChangeDocument Remedy = "open a pull request that changes the document"
	Replan         Remedy = "comment `/mergexo replan WHY` on the roadmap's issue"
	RetryRoadmap   Remedy = "remove what stands in the way, then comment `/mergexo retry` on the roadmap's issue"
	ReopenOwnIssue Remedy = "reopen it"
	CancelRoadmap  Remedy = "{cancel}"
	CloseSubIssues Remedy = "agents and people work on them; the roadmap ends once all are closed, and at least one is completed"
)

// oneOf offers remedies. Those whose details are missing are left out.
func oneOf(remedies ...Remedy) next {
	return func(Place) Words { return Words{remedies: remedies} }
}

// RemediesOf returns the remedies that a reason of this kind offers.
func RemediesOf(kind work.ReasonKind) []Remedy {
	if one, ok := find(kind); ok && one.next != nil {
		return one.next(Place{}).remedies
	}
	return nil
}

// either joins what the remedies say.
func (d details) either(remedies []Remedy) string {
	said := make([]string, 0, len(remedies))
	for _, r := range remedies {
		if text := d.fill(string(r)); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, ", or ")
}
