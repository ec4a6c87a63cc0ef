package github

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// TestAReadOnlyClientWritesNothing calls every method of a client: the server gets neither a REST
// write nor a mutation.
func TestAReadOnlyClientWritesNothing(t *testing.T) {
	var reads atomic.Int64
	refused := 0
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ Query string }
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &sent)
		if r.Method == http.MethodGet || r.Method == http.MethodPost && sent.Query != "" && !strings.HasPrefix(strings.TrimSpace(sent.Query), "mutation") {
			reads.Add(1)
		} else {
			t.Errorf("the server got %s %s %s", r.Method, r.URL, body)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	client, err := New(transport.Options{Host: "github.localhost", Token: "t", Socket: socket, Now: time.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	all := reflect.ValueOf(client)
	for i := range all.NumMethod() {
		method, name := all.Method(i), all.Type().Method(i).Name
		var args []reflect.Value
		for n := range method.Type().NumIn() {
			in := method.Type().In(n)
			switch {
			case method.Type().IsVariadic() && n == method.Type().NumIn()-1:
			case in == reflect.TypeFor[context.Context]():
				args = append(args, reflect.ValueOf(t.Context()))
			case in.Kind() == reflect.Slice: // an empty list may need no request
				args = append(args, reflect.MakeSlice(in, 1, 1))
			default:
				args = append(args, reflect.Zero(in))
			}
		}
		for _, out := range method.Call(args) {
			if err, is := reflect.TypeAssert[error](out); is && errors.Is(err, transport.ErrReadOnly) {
				refused++
				t.Logf("%s is a write", name)
			}
		}
	}
	if refused < 20 || reads.Load() < 20 {
		t.Errorf("%d writes were refused and %d reads sent", refused, reads.Load())
	}
}
