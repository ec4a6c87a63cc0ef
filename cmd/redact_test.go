package cmd

import (
	"bytes"
	"strings"
	"testing"
)

// One redactor for all that is printed.
func TestNoTokenIsPrinted(t *testing.T) {
	const own = "correcthorse42batterystaple"
	shape := "gh" + "p_" + strings.Repeat("aB3d", 9)
	t.Setenv("BUILD_API_TOKEN", own)
	var stderr bytes.Buffer
	if code := Main(Env{Args: []string{own + " " + shape}, Stdout: &bytes.Buffer{}, Stderr: &stderr}); code != exitError {
		t.Errorf("code %d", code)
	}
	text := stderr.String()
	if strings.Contains(text, own) || strings.Contains(text, shape) || !strings.Contains(text, "[redacted: the value of BUILD_API_TOKEN]") {
		t.Error(text)
	}
}
