package terminal

import (
	"fmt"
	"io"

	"github.com/cli/go-gh/v2/pkg/browser"
)

// Browse opens a URL in the browser that gh uses: its own setting, GH_BROWSER or BROWSER.
func Browse(url string, stdout, stderr io.Writer) error {
	b := browser.New("", stdout, stderr)
	if err := b.Browse(url); err != nil {
		return fmt.Errorf("open %s in a browser: %w", url, err)
	}
	return nil
}
