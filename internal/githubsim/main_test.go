package githubsim

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	testhome.InShort(
		"TestContractGraphQLDocuments", "TestContractGraphQLSchema", "TestIssues", "TestPullLife", "TestReviews",
		"TestGraphQLMergeBox", "TestConditional", "TestPagination", "TestLostAnswers", "TestRefsAndContents",
	)
	os.Exit(testhome.RunInMemory(m))
}
