//go:build unix

package bench

import (
	"bytes"
	"encoding/gob"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// bareAtOnce is how many requests the bare program has under way: as many as a pass with
// one repository, four light queries beside three lists.
const bareAtOnce = 7

// buildBare builds the program that sends requests and understands nothing.
func buildBare(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bare")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./bare").CombinedOutput()
	if err != nil {
		t.Fatalf("build the bare program: %v\n%s", err, out)
	}
	return path
}

// record is what the bare program needs to send requests again.
func record(t *testing.T, requests []githubsim.Request) []byte {
	t.Helper()
	type request struct {
		Method, URL, Body string
		Header            http.Header
	}
	var all []request
	for _, r := range requests {
		sent := r.Sent()
		all = append(all, request{r.Method, "http://" + r.Host + sent.URL.RequestURI(), r.Body, sent.Header})
	}
	var b bytes.Buffer
	must(t, gob.NewEncoder(&b).Encode(all))
	return b.Bytes()
}

// bare measures what it takes to send the requests of an idle pass, and to read the
// answers: what a pass is compared with. Path is that of the program.
func (w *world) bare(t *testing.T, path string, recorded []byte) reading {
	t.Helper()
	return w.measureWith(t, recorded, "/nonexistent", path, w.socket, strconv.Itoa(bareAtOnce))
}

// TestBareAsksWhatAPassAsks: the comparison is with the same requests, and the same answers.
func TestBareAsksWhatAPassAsks(t *testing.T) {
	testhome.OnlyLong(t)
	w := newWorld(t, self(t), 60)
	want := w.countPass(t)
	recorded := record(t, w.hub.Requests())
	path := buildBare(t)
	w.hub.ResetLog()
	before := w.counts().points
	w.bare(t, path, recorded)
	got := w.counts()
	got.points -= before
	if got != want {
		t.Errorf("the bare program asked %+v, a pass %+v", got, want)
	}
}
