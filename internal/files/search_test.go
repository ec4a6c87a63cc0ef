//go:build unix

package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestASearchReadsSoManyNamesAndNoMore(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		if err := os.Mkdir(filepath.Join(root, time.Unix(0, 0).AddDate(i, 0, 0).Format("2006")), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	look := Search{Left: 20}
	if all := look.list(root); len(all) != 20 || len(look.list(root)) != 0 {
		t.Errorf("%d names were read", len(all))
	}
}
