package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/sandbox"
)

// dropLeftovers removes a slot's abandoned checkouts and sandbox folders, which could not be
// removed when they were abandoned. Failures are tried again when the slot is next used.
func dropLeftovers(parent string, slot int, current Checkout) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // the next user of the folder reports the error
	}
	name := fmt.Sprintf("worker-%d", slot)
	for _, e := range entries {
		path := filepath.Join(parent, e.Name())
		ofSlot := e.Name() == name || strings.HasPrefix(e.Name(), name+".")
		if ofSlot && e.IsDir() && path != current.Dir && path != current.box { // files stay: they show which paths were used
			_ = sandbox.Remove(path)
		}
	}
}
