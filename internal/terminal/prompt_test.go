package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestOnlyAYesIsAYes(t *testing.T) {
	for typed, want := range map[string]bool{"y\n": true, " YES \n": true, "yes": true, "\n": false, "": false, "no\n": false, "yeah\n": false} {
		if got, err := (Output{W: io.Discard}).Confirm(t.Context(), strings.NewReader(typed), "Do it?"); got != want || err != nil {
			t.Errorf("%q: %t, %v", typed, got, err)
		}
	}
}

// Ctrl-C ends the question: nobody types a line any more.
func TestAQuestionIsInterrupted(t *testing.T) {
	in, never := io.Pipe()
	defer never.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := (Output{W: io.Discard}).Confirm(ctx, in, "Do it?"); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("%t, %v", yes, err)
	}
}
