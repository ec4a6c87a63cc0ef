package git

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own checksum of an index
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Git compares file times in seconds. A change within the second of the restore that keeps the size
// is detected all the same.
func TestAChangeInTheSecondOfTheRestoreIsSeen(t *testing.T) {
	w := newWorld(t, tree)
	w.restore()
	w.put("a.txt", "A\n")
	then := time.Now().Add(-time.Hour)
	changed := filepath.Join(w.dir, "a.txt")
	w.check(os.Chtimes(changed, then, then))
	w.knowAs(changed, "a.txt")
	w.check(os.Chtimes(w.index, then, then))
	if got := w.mustCommit().Files; !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("changed: %q", got)
	}
}

// knowAs writes a file's times into the index entry of a path, as if the file had changed in the
// second in which it was restored. That needs the index, because a file's ctime cannot be set.
func (w *world) knowAs(file, path string) {
	w.t.Helper()
	var now syscall.Stat_t
	w.check(syscall.Stat(file, &now))
	index, err := os.ReadFile(w.index)
	w.check(err)
	const head, fixed = 12, 62 // bytes of an index before its entries, and of an entry before its path
	if version := binary.BigEndian.Uint32(index[4:]); string(index[:4]) != "DIRC" || version != 2 {
		w.t.Fatalf("an index of version %d", version)
	}
	at := bytes.Index(index, append([]byte{0, byte(len(path))}, path+"\x00"...)) + 2 - fixed
	if at < head {
		w.t.Fatalf("no %q in the index", path)
	}
	for i, n := range []int64{int64(now.Ctim.Sec), int64(now.Ctim.Nsec), int64(now.Mtim.Sec), int64(now.Mtim.Nsec)} { //nolint:unconvert // 32 bits elsewhere
		binary.BigEndian.PutUint32(index[at+4*i:], uint32(n))
	}
	sum := sha1.Sum(index[:len(index)-sha1.Size]) //nolint:gosec // as above
	w.check(os.WriteFile(w.index, append(index[:len(index)-sha1.Size], sum[:]...), 0o600))
}
