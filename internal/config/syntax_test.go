package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
)

// TestSyntaxIsToldInOneLine: whatever is no TOML is told with its line, so that editors find it.
func TestSyntaxIsToldInOneLine(t *testing.T) {
	for text, line := range map[string]int{
		"agent = codex": 1, `name = “acme/greet”`: 1, "workers =\n": 1, `agent = "codex`: 1, "a = 1\na = 2": 2, "[r]\na = 1\na = 2": 3,
		"my key = 3": 1, "[runtime\n": 2, `p = { input = 1`: 1, `test_file_regex = "\d+"`: 1, "version = 1.2.3": 1, "a = \"\x01\"": 1, "[a]\nb = 1\n= 3": 3,
	} {
		_, err := parse(t, text)
		begin := fmt.Sprintf("config.toml:%d: ", line)
		if err == nil || !strings.Contains(err.Error(), begin) || strings.Contains(err.Error(), "\n") || strings.HasSuffix(err.Error(), begin) {
			t.Errorf("%q: %v, want %q and why", text, err, begin)
		}
	}
}

// TestEachProblemHasItsLine: a mistake on any line of the example is told with that line.
func TestEachProblemHasItsLine(t *testing.T) {
	lines := strings.Split(uncomment.ReplaceAllString(config.Example(), "$1"), "\n")
	told := 0
	for i, line := range lines {
		key, _, isKey := strings.Cut(line, " = ")
		if !isKey || strings.HasPrefix(line, "#") {
			continue
		}
		changed := slices.Clone(lines)
		changed[i] = "no_such_" + line
		if _, err := parse(t, strings.Join(changed, "\n")); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("config.toml:%d: unknown key \"no_such_%s\"", i+1, key)) {
			t.Errorf("line %d: %v", i+1, err)
		}
		told++
	}
	if told < 60 {
		t.Errorf("only %d lines have a key", told)
	}
}
