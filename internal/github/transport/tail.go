package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// TailBytes is how many bytes of a file's end are kept.
const TailBytes = 64 << 10

// maxLog limits how many bytes of a file are read.
const maxLog = 64 << 20

// logStore names GitHub's storage of logs in errors.
const logStore = "GitHub's store of logs"

// Tail reads the end of a file in another storage of GitHub's. go-gh's client sends the token only
// to its own host.
func (c *Client) Tail(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "*/*")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", unansweredError(ctx, logStore, Call{Method: http.MethodGet, URL: "a stored log"}, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", nil // the file has expired
	}
	var end tail
	if _, err := io.Copy(&end, io.LimitReader(resp.Body, maxLog)); err != nil {
		return "", unansweredError(ctx, logStore, Call{Method: http.MethodGet, URL: "a stored log"}, err)
	}
	return end.String(), nil
}

// tail keeps the end of its input.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*TailBytes {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-TailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.kept[max(0, len(t.kept)-TailBytes):]) }
