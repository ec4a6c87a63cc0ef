package folder

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/shard"
)

// A file that was cut short anywhere tells no share, and no other one: 1/12 would become 1/1.
func TestAShareThatWasCutShort(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	for _, whole := range []shard.Shard{{Index: 1, Of: 12}, {Index: 11, Of: 120}, {}} {
		if err := d.KeepShare(whole); err != nil {
			t.Fatal(err)
		}
		if kept, err := d.Share(); err != nil || kept != whole.Argument() {
			t.Fatalf("%s: %s, %v", whole.Argument(), kept, err)
		}
		for n := range len(whole.Argument()) + 1 {
			if err := os.Truncate(d.shareFile(), int64(len(whole.Argument())-n)); err != nil {
				t.Fatal(err)
			}
			if kept, err := d.Share(); err == nil {
				t.Errorf("%s less %d characters: %s", whole.Argument(), n, kept)
			}
		}
		if err := d.KeepShare(whole); err != nil {
			t.Fatal(err)
		}
		if kept, err := d.Share(); err != nil || kept != whole.Argument() {
			t.Errorf("kept again: %s, %v", kept, err)
		}
	}
}
