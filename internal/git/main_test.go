package git

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	code := testhome.RunInMemory(m)
	for _, dir := range made.by {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}
