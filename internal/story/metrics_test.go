//go:build unix

package story

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdMetrics prints a file of metrics that Prometheus's parser and linter accept, and
// promtool too, where this machine has it.
func cmdMetrics(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: metrics FILE")
	}
	text := ts.ReadFile(args[0])
	parser := expfmt.NewTextParser(model.LegacyValidation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(text)); err != nil {
		ts.Fatalf("Prometheus's parser: %v\n%s", err, text)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	ts.Check(err)
	for _, p := range problems {
		ts.Fatalf("promlint: %s: %s", p.Metric, p.Text)
	}
	if tool, err := exec.LookPath("promtool"); err == nil {
		check := exec.Command(tool, "check", "metrics")
		check.Stdin, check.Env = strings.NewReader(text), os.Environ()
		if out, err := check.CombinedOutput(); err != nil {
			ts.Fatalf("promtool: %v\n%s", err, out)
		}
	}
	_, err = fmt.Fprint(ts.Stdout(), text)
	ts.Check(err)
}
