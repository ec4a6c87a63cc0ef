package tell

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) { os.Exit(testhome.RunInMemory(m)) }
