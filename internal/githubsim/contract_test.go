package githubsim

import (
	"os"
	"path/filepath"
	"testing"
)

// sharedFolder holds GitHub's own API descriptions: ../../../shared/github beside the checkout, or
// $MERGEXO_SHARED/github. Without it the test is skipped, but not in CI.
func sharedFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MERGEXO_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "github")
	if _, err := os.Stat(filepath.Join(dir, "graphql-subset.graphql")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("GitHub's API descriptions are not there: %v", err)
		}
		t.Skipf("GitHub's API descriptions are not there (set MERGEXO_SHARED): %v", err)
	}
	return dir
}
