package git

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	testhome.InShort(
		"TestPush", "TestAnswerLost", "TestFetchFollowsTheRemote", "TestTreeComesBackExactly",
		"TestCommitIsTheTree", "TestDiff", "TestReaderStartsAgain", "TestGuard", "TestIsDotGit", "TestReadPush",
		"TestAnotherHostGetsNoLogin", "TestErrorsComeFirst", "TestTheTokenComesOnAPipe", "TestMergeInProgress",
		"TestLeftoversAreNotCommitted", "TestOnlyWhatAChangeAddsCounts", "TestFilesOfACommit",
	)
	code := testhome.RunInMemory(m)
	for _, dir := range made.by {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}
