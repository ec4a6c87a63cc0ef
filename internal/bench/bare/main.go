//go:build unix

// Bare sends the requests of a pass, as they were recorded, and reads the answers without
// understanding them: what a pass costs before it does anything. Measurements compare with
// it; nothing else uses it, and it has nothing of the program.
//
//	bare SOCKET AT-ONCE <requests
package main

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// request is one request as it was recorded.
type request struct {
	Method, URL, Body string
	Header            http.Header
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(socket, atOnce string) error {
	n, err := strconv.Atoi(atOnce)
	if err != nil {
		return err
	}
	var all []request
	if err := gob.NewDecoder(os.Stdin).Decode(&all); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // as gh has it for a socket
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	errs := make(chan error, len(all))
	next := make(chan request)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for r := range next {
				errs <- send(client, r)
			}
		})
	}
	for _, r := range all {
		next <- r
	}
	close(next)
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// send makes a request and reads its whole answer.
func send(client *http.Client, r request) error {
	req, err := http.NewRequestWithContext(context.Background(), r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return err
	}
	req.Header = r.Header
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotModified {
		return fmt.Errorf("%s %s: %s", r.Method, r.URL, resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
