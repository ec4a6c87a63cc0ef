package actions

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	testhome.InShort(
		"TestAppliedAndUnknownIsFoundNotSent", "TestLostAnswerIsLookedForBeforeItIsSentAgain",
		"TestSecondCopyIsRemoved", "TestStrangersMarkersDoNotCount", "TestDeathAfterTheSendWaitsLikeALostAnswer",
		"TestLabelsAreMadeAddedAndTakenAway", "TestWhatMayBeThereIsLookedForAgain",
		"TestAReviewIsPostedOnceWithItsComments", "TestStickyIsMadeOnceAndEdited", "TestDeathAfterTheMerge",
		"TestIssueAndRerunThatADeadPassSent", "TestWritesArePaced",
	)
	os.Exit(testhome.RunInMemory(m))
}
