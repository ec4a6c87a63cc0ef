package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestLeveled(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": `package a
import "testhome"
func TestMain(m *testing.M) { testhome.Long() }
func TestItself(t *testing.T) { testhome.OnlyLong(t) }
func TestByMethod(t *testing.T) { t.Run("x", func(t *testing.T) { w.far(1) }) }
func TestByVariable(t *testing.T) { for range table {} }
func TestNot(t *testing.T) { testhome.Memory(t); Long() }
func Long() {}
`,
		"b_test.go": `package a_test
var table = []func(){deep}
func (w world) far(int) { deep() }
func deep() { if testhome.Rest() {} }
`,
		"c.go": `not Go`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := leveled(dir)
	if want := []string{"TestByMethod", "TestByVariable", "TestItself"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestEachFunctionOfTheLevelIsKnown: a new function of testhome that depends on the level is one of levels.
func TestEachFunctionOfTheLevelIsKnown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testhome", "long.go"))
	if err != nil {
		t.Fatal(err)
	}
	var exported []string
	for _, m := range regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "NotShort" { // no level: -short is a flag of its own
			exported = append(exported, m[1])
		}
	}
	slices.Sort(exported)
	if want := slices.Sorted(slices.Values(levels)); !slices.Equal(exported, want) {
		t.Errorf("testhome has %q, and leveled knows %q", exported, want)
	}
}
