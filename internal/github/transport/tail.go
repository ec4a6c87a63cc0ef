package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// TailBytes is how much of a file is kept of its end.
const TailBytes = 64 << 10

// maxLog bounds how much of a file is read for its end, in bytes.
const maxLog = 64 << 20

// logStore is how errors call the place where GitHub keeps logs.
const logStore = "GitHub's store of logs"

// Tail reads the end of a file that GitHub keeps somewhere else. go-gh's client
// sends the token to its own host only.
func (c *Client) Tail(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "*/*")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", lost(ctx, logStore, Call{Method: http.MethodGet, URL: "a stored log"}, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", nil // it has expired
	}
	var end tail
	if _, err := io.Copy(&end, io.LimitReader(resp.Body, maxLog)); err != nil {
		return "", lost(ctx, logStore, Call{Method: http.MethodGet, URL: "a stored log"}, err)
	}
	return end.String(), nil
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*TailBytes {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-TailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.kept[max(0, len(t.kept)-TailBytes):]) }
