package cmd

import (
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	config.TimingsVariable = "MERGEXO_TIMINGS"
	if err := os.Setenv(config.TimingsVariable, "quiet_period=0s"); err != nil {
		panic(err)
	}
	os.Exit(testhome.RunInMemory(m))
}
