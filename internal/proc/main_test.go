package proc

import (
	"fmt"
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	if err := testhome.SideBySide(6); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testhome.InShort(
		"TestAttach", "TestLineCounterSeesWholeLines", "TestEndMarkedEndsOnlyTheMarked", "TestReusedPidIsSpared",
		"TestDieWithParent", "TestEnvironmentOfThePass", "TestInside", "TestRunPassesWhatItIsTold",
		"TestRunSignalIsACode", "TestRunCannotStart", "TestFloodIsEnded", "TestDetachOutlivesAndReturnsAtOnce",
		"TestHangIgnoringSIGTERM",
	)
	os.Exit(m.Run())
}
