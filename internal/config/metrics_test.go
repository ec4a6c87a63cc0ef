package config_test

import (
	"strings"
	"testing"
)

// Each pass writes over the file: it is nothing that somebody needs.
func TestMetricsFileThatIsSomethingElse(t *testing.T) {
	for file, why := range map[string]string{
		"~/state/state.db":    "outside of the state folder",
		"~/state":             "outside of the state folder",
		"~/x/../state/m.prom": "outside of the state folder",
		"m.prom":              "absolute path",
		"/etc/prometheus/":    "want a file",
	} {
		_, err := parse(t, "[runtime]\nagent = \"claude\"\nstate_dir = \"~/state\"\nmetrics_file = \""+file+"\"\n[[repo]]\nname = \"o/n\"\n")
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", file, err, why)
		}
	}
}
