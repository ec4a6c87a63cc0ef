package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/sandbox"
)

// dropLeftovers removes what a slot has beside its current checkout: earlier
// checkouts that were abandoned, folders that a sandbox put aside. They could not
// be removed when that happened; what cannot be removed now is tried again at the
// slot's next use.
func dropLeftovers(parent string, slot int, current Checkout) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // whoever needs the folder says what is wrong
	}
	name := fmt.Sprintf("worker-%d", slot)
	for _, e := range entries {
		path := filepath.Join(parent, e.Name())
		ofSlot := e.Name() == name || strings.HasPrefix(e.Name(), name+".")
		if ofSlot && e.IsDir() && path != current.Dir && path != current.box { // files stay: they tell which paths were used
			_ = sandbox.Remove(path)
		}
	}
}
