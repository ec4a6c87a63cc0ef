//go:build unix

package story

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdReceiver begins to take what [[notify]] posts.
func cmdReceiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: receiver FILE")
	}
	file := ts.MkAbs(args[0])
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		var headers []string
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			headers = append(headers, name+": "+strings.Join(r.Header[name], ", "))
		}
		addLine(file, string(body))
		addLine(file+".headers", strings.Join(headers, "\t"))
		if code, err := os.ReadFile(file + ".code"); err == nil {
			n, _ := strconv.Atoi(strings.TrimSpace(string(code)))
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(n)
			fmt.Fprintln(w, "the receiver says", n)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("RECEIVER", server.URL+"/hook")
}

// addLine adds a line to a file.
func addLine(file, line string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := fmt.Fprintln(f, line); err != nil {
		panic(err)
	}
}
