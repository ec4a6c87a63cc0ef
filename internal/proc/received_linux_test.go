package proc

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// drip serves size bytes on loopback at intervals of pause until the client leaves.
func drip(t *testing.T, size int, pause time.Duration) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for err == nil {
			_, err = conn.Write(bytes.Repeat([]byte("x"), size))
			time.Sleep(pause)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// A program that silently reads a stream lives. One that receives only pings, or nothing, is ended.
func TestIdleLimitSparesAStream(t *testing.T) {
	testhome.OnlyLong(t)
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("no bash, which opens connections by itself")
	}
	for name, tt := range map[string]struct {
		size  int
		pause time.Duration
		want  Limit
	}{
		"an answer":  {300, 100 * time.Millisecond, NoLimit},
		"pings":      {1, 300 * time.Millisecond, IdleLimit},
		"nothing":    {1, time.Hour, IdleLimit},
		"a hesitant": {2000, 400 * time.Millisecond, NoLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patiently(t, func(slow time.Duration) (problem string) {
				script := fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%d; exec head -c %d <&3 >/dev/null`, drip(t, tt.size*int(slow), slow*tt.pause), max(int(4*time.Second/tt.pause), 2)*tt.size*int(slow))
				c := Cmd{Path: "/bin/bash", Args: []string{"-c", script}, Idle: slow * time.Second, Wall: slow * 30 * time.Second, Grace: 200 * time.Millisecond, Env: []string{"PATH=" + os.Getenv("PATH")}}
				if res := run(t, c); res.TimedOut != tt.want || tt.want == NoLimit && res.Code != 0 {
					return fmt.Sprintf("ended by %q, want %q: %s", res.TimedOut, tt.want, res.Stderr)
				}
				return ""
			})
		})
	}
}
