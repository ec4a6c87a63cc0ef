package github

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	testhome.InShort(
		"TestTheBoxOfAPullRequest", "TestTheBoxHasEveryPage", "TestURLsAreStable", "TestNextPage",
		"TestATokenIsSentToItsOwnHostOnly", "TestUnexpectedBodies", "TestReadsThatGetNoAnswer", "TestPrimaryLimit",
		"TestSecondaryLimit", "TestGraphQLLimit", "TestMergeOfTheHeadThatIsMeant",
		"TestAMergeFollowsNoRedirect", "TestIssuesAndTheirPages", "TestPulls", "TestTimeline",
		"TestEachRefusalHasItsKind", "TestDetails", "TestComments", "TestLostAnswersAreUnclear",
		"TestRulesAreReadAgainOnlyIfTheyChanged", "TestSweepFingerprintShowsEveryChange",
	)
	os.Exit(testhome.RunInMemory(m))
}
