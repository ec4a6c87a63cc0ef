package sandbox

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	testhome.InShort(
		"TestChoose", "TestFindSaysWhatIsMissing", "TestReadableAndWritable", "TestKeysOfTheUserAreOutOfReach",
		"TestSocketsDoNotConnect", "TestWhatIsKeptStaysOut", "TestMountsStay", "TestSeatbeltProfile",
		"TestNothingOutlivesTheSandbox", "TestTheBoundStandsBeforeTheCommand",
	)
	os.Exit(m.Run())
}
