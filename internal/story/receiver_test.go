//go:build unix

package story

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdReceiver begins to take what is posted, and makes a program for [[notify]].
func cmdReceiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: receiver FILE")
	}
	file := ts.MkAbs(args[0])
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		addLine(file, string(body))
	}))
	ts.Defer(server.Close)
	ts.Setenv("RECEIVER", server.URL+"/hook")
	tell := filepath.Join(worldOf(ts).work, "tell-"+filepath.Base(file))
	script := fmt.Sprintf("#!/bin/sh\nbody=$(cat)\nprintf '%%s\\n' \"$body\" >>%q\n[ ! -e %[1]q.code ] || { echo \"the receiver says $(cat %[1]q.code)\" >&2; exit 1; }\n", file)
	ts.Check(os.WriteFile(tell, []byte(script), 0o700))
	ts.Setenv("TELL", tell)
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
