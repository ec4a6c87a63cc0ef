package config_test

import (
	"strings"
	"testing"
)

func TestSizesAreRead(t *testing.T) {
	for line, want := range map[string]int64{
		``:                         8 << 30,
		`max_memory = "2GiB"`:      2 << 30,
		`max_memory = "1.5 GiB"`:   3 << 29,
		`max_memory = "512MiB"`:    512 << 20,
		`max_memory = "4GB"`:       4e9,
		`max_memory = "67108865B"`: 64<<20 + 1,
		`max_memory = "0"`:         0,
	} {
		c, err := parse(t, "[runtime]\n"+line+"\n"+oneRepo)
		if err != nil || c.Runtime.MaxMemory != want {
			t.Errorf("%s: %v, %v", line, c, err)
		}
	}
	c, err := parse(t, "[runtime]\nmax_disk = \"20GiB\"\n"+oneRepo)
	if err != nil || c.Runtime.MaxDisk != 20<<30 {
		t.Errorf("%v, %v", c, err)
	}
	for line, want := range map[string]string{
		`max_disk = "1MiB"`:         `max_disk in [runtime]: want 16MiB to 1024TiB, or "0" for no limit, got "1MiB"`,
		`max_memory = "8"`:          `want a size such as "8GiB"`,
		`max_memory = "8G"`:         `want a size such as "8GiB"`,
		`max_memory = "8iB"`:        `want a size such as "8GiB"`,
		`max_memory = "-1GiB"`:      `want a size such as "8GiB"`,
		`max_memory = "1MiB"`:       `want 64MiB to 1024TiB, or "0" for no limit, got "1MiB"`,
		`max_memory = 8`:            `want a size such as "8GiB" or "512MiB", or "0" for no limit, got a whole number`,
		`max_memory = "9999999GiB"`: `want 64MiB to 1024TiB`,
	} {
		if _, err := parse(t, "[runtime]\n"+line+"\n"+oneRepo); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
