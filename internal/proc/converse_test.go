//go:build unix

package proc

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// A conversation answers every query. The program ends after End or at once after Kill.
func TestConverse(t *testing.T) {
	begin := func(script string) (*Conversation, *bufio.Reader) {
		c, err := Converse(Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/", Env: []string{"X=y"}, DieWithParent: true})
		if err != nil {
			t.Fatal(err)
		}
		return c, bufio.NewReader(c.Out)
	}
	c, out := begin(`echo oh >&2; while read line; do echo "$X $line"; done`)
	for _, word := range []string{"one", "two"} {
		fmt.Fprintln(c.In, word)
		if line, err := out.ReadString('\n'); line != "y "+word+"\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
	c.End()
	c.End()
	if _, ok := readStatOf(c); ok {
		t.Error("it lives on")
	}
	if c.Stderr() != "oh\n" {
		t.Errorf("standard error: %q", c.Stderr())
	}

	deaf, out := begin(`trap '' TERM; exec 3<&0; echo up; exec sleep 600`)
	if line, err := out.ReadString('\n'); line != "up\n" {
		t.Fatalf("%q, %v", line, err)
	}
	began := time.Now()
	deaf.End()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	if _, ok := readStatOf(deaf); ok {
		t.Error("it lives on")
	}

	if _, err := Converse(Cmd{Path: "/no/such/program"}); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("got %v", err)
	}
}

// readStatOf reports whether the process exists.
func readStatOf(c *Conversation) (int, bool) {
	pid := c.process.cmd.Process.Pid
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return pid, err == nil
}
