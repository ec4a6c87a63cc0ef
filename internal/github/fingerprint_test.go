package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// All that the query requests of a pull request is decoded and part of the fingerprint.
func TestFingerprintIsOfEverythingAsked(t *testing.T) {
	var w wireLight
	fields := reflect.TypeFor[wireLight]()
	var read []string
	for i := range fields.NumField() {
		name := fields.Field(i).Tag.Get("json")
		read = append(read, name)
		before := w.fingerprint()
		change(reflect.ValueOf(&w).Elem().Field(i))
		if name != "__typename" && w.fingerprint() == before {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
	slices.Sort(read)
	if asked := askedOfPulls(t); !slices.Equal(read, asked) {
		t.Errorf("asked are %v, read %v", asked, read)
	}
}

func change(v reflect.Value) {
	switch v.Kind() { // there are no other kinds
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Struct:
		change(v.Field(0))
	default:
		v.SetBytes([]byte("true"))
	}
}

// askedOfPulls returns the fields that the query requests of a pull request.
func askedOfPulls(t *testing.T) []string {
	_, text, ok := strings.Cut(sweepQuery(), "... on PullRequest {")
	if !ok {
		t.Fatal("the query asks nothing of pull requests")
	}
	names := []string{"__typename"}
	depth := 1
	for _, word := range regexp.MustCompile(`\([^)]*\)|[{}]|\w+`).FindAllString(strings.ReplaceAll(text, "# optional", ""), -1) {
		switch {
		case word == "{":
			depth++
		case word == "}":
			depth--
		case depth == 1 && word[0] != '(':
			names = append(names, word)
		}
		if depth == 0 {
			break
		}
	}
	slices.Sort(names)
	return names
}

// An answer is decoded once, into the used types: a sweep allocates at most a few times its size.
// (Decoding into a document, then nodes, then pull requests took 9.2 times its size. The race
// detector adds a little.)
func TestAnAnswerIsDecodedOnce(t *testing.T) {
	ids := make([]string, MaxSweep)
	nodes := make([]string, MaxSweep)
	for i := range ids {
		ids[i] = fmt.Sprintf("PR_kwDOAAAAAc4AAA%04d", i)
		nodes[i] = fmt.Sprintf(`{"__typename":"PullRequest","id":%q,"number":%d,"state":"OPEN","isDraft":false,"locked":false,"headRefOid":"0123456789012345678901234567890123456789","baseRefName":"main","updatedAt":"2026-11-01T10:00:00Z","mergeable":"MERGEABLE","totalCommentsCount":20,"statusCheckRollup":{"state":"SUCCESS"},"headRef":{"target":{"status":null}},"reviews":{"totalCount":4,"nodes":[{"id":"PRR_kwDOAAAAAc4AAAAAAQ","state":"COMMENTED","updatedAt":"2026-11-01T10:00:00Z"}]},"reviewThreads":{"totalCount":4,"nodes":[{"id":"PRRT_kwDOAAAAAc4AAAAAAQ","isResolved":false,"isOutdated":false}]}}`, ids[i], i+1)
	}
	body := fmt.Sprintf(`{"data":{"viewer":{"databaseId":1,"login":"alice"},"repository":{"id":"R_1"},"nodes":[%s]}}`, strings.Join(nodes, ","))
	if !json.Valid([]byte(body)) {
		t.Fatal("no JSON")
	}
	api := answering(t, []byte(body))
	read := func() {
		s, err := api.Sweep(t.Context(), work.RepoName{Host: "github.localhost", Owner: "o", Name: "n"}, ids)
		if err != nil || len(s.Pulls) != MaxSweep || s.Pulls[7].NodeID != ids[7] {
			t.Fatalf("%d pull requests, %v", len(s.Pulls), err)
		}
	}
	read()
	const times = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		read()
	}
	runtime.ReadMemStats(&after)
	took := float64(after.TotalAlloc-before.TotalAlloc) / times
	t.Logf("%.1f times the %d bytes of the answer", took/float64(len(body)), len(body))
	if took > 7.5*float64(len(body)) {
		t.Errorf("a sweep takes %.0f bytes for an answer of %d", took, len(body))
	}
}

// answering returns a client whose host always gives the same answer.
func answering(t *testing.T, body []byte) *Client {
	t.Helper()
	return answeredBy(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = bytes.NewReader(body).WriteTo(w)
	})
}

// answeredBy makes a client of a server with this handler.
func answeredBy(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "mx") // a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("GH_CONFIG_DIR", dir)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	api, err := New(transport.Options{Host: "github.localhost", Token: "t", Socket: filepath.Join(dir, "s"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return api
}
