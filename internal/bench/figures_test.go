//go:build unix

package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// figure is one thing that a row measures. Less is better.
type figure struct {
	what  string
	value float64
	unit  string  // empty: a count
	goal  float64 // the most that it should be
	aimed bool    // there is a goal
	kept  bool    // it says the same on every machine, so the baseline has it
}

// count is a figure that is the same on every machine.
func count(what string, n int) figure { return figure{what: what, value: float64(n), kept: true} }

// seconds and milliseconds are figures of this machine, at this moment.
func seconds(what string, d time.Duration) figure {
	return figure{what: what, value: d.Seconds(), unit: "s"}
}

func milliseconds(what string, d time.Duration) figure {
	return figure{what: what, value: float64(d.Microseconds()) / 1000, unit: "ms"}
}

// ratio is what one program takes beside another one in the same run.
func ratio(what string, part, whole time.Duration) figure {
	return figure{what: what, value: float64(part) / float64(whole), unit: "×"}
}

// megabytes is the peak of what was resident.
func megabytes(what string, bytes int64) figure {
	return figure{what: what, value: float64(bytes) / (1 << 20), unit: "MB", kept: true}
}

// atMost gives it a goal. For a figure that is kept it is a limit: script/bench fails above it.
func (f figure) atMost(goal float64) figure {
	f.goal, f.aimed = goal, true
	return f
}

// keep says that it means the same on every machine.
func (f figure) keep() figure {
	f.kept = true
	return f
}

// never is what a time is that did not come to an end.
var never = math.Inf(1)

func (f figure) number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "never"
	case f.unit == "":
		return fmt.Sprintf("%.0f", v)
	case f.unit == "×" || v < 10:
		return fmt.Sprintf("%.2f %s", v, f.unit)
	}
	return fmt.Sprintf("%.0f %s", v, f.unit)
}

// line prints it beside its goal and what it was before.
func (f figure) line(before map[string]float64) string {
	goal, verdict := "", ""
	if f.aimed {
		goal, verdict = "≤ "+f.number(f.goal), "met"
		if f.value > f.goal {
			verdict = "MISSED"
		}
	}
	was := ""
	if v, ok := before[f.what]; ok && f.kept {
		was = f.number(v)
	}
	return strings.TrimRight(fmt.Sprintf("  %-50s %12s %12s %-7s %12s", f.what, f.number(f.value), goal, verdict, was), " ")
}

// missed returns the limits that a row exceeds. They do not depend on the baseline, which may have
// risen in small steps.
func missed(row string, figures []figure) (out []string) {
	for _, f := range figures {
		if f.kept && f.aimed && f.value > f.goal {
			out = append(out, fmt.Sprintf("%s: %s: %s, the limit is %s", row, f.what, f.number(f.value), f.number(f.goal)))
		}
	}
	return out
}

const head = "  what                                                   measured         goal             baseline"

// baseline has what was measured of each row, once: the figures that mean the same on every
// machine.
type baseline map[string]map[string]float64

const baselineFile = "baseline.json"

func readBaseline(path string) (baseline, error) {
	b := baseline{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	return b, err
}

func (b baseline) write(path string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// set replaces what is known of a row.
func (b baseline) set(row string, figures []figure) {
	of := map[string]float64{}
	for _, f := range figures {
		if f.kept && f.value != never {
			of[f.what] = float64(int(f.value*100+0.5)) / 100
		}
	}
	b[row] = of
}

// tolerance is by how much a figure may be worse than the baseline: less is noise.
const tolerance = 1.0 / 3

// worse says which figures of a row are worse than the baseline by more than what is
// noise. A figure that the baseline does not have is new, and worse than nothing.
func (b baseline) worse(row string, figures []figure) []string {
	var out []string
	for _, f := range figures {
		was, known := b[row][f.what]
		if !f.kept || !known || f.value <= was*(1+tolerance) {
			continue
		}
		by := "there was none"
		switch {
		case f.value == never:
			by = "it does not end"
		case was > 0:
			by = fmt.Sprintf("%.0f %% more", 100*(f.value/was-1))
		}
		out = append(out, fmt.Sprintf("%s: %s: %s, the baseline has %s: %s", row, f.what, f.number(f.value), f.number(was), by))
	}
	return out
}

func TestAMissedLimitIsTold(t *testing.T) {
	for _, c := range []struct {
		of   figure
		want string
	}{
		{ratio("CPU", 25, 100).keep().atMost(0.25), ""},
		{ratio("CPU", 26, 100).keep().atMost(0.25), "idle: CPU: 0.26 ×, the limit is 0.25 ×"},
		{ratio("CPU", 26, 100).atMost(0.25), ""}, // of this machine
		{count("requests", 9), ""},
	} {
		if got := strings.Join(missed("idle", []figure{c.of}), "\n"); got != c.want {
			t.Errorf("of %+v it says %q, not %q", c.of, got, c.want)
		}
	}
}

func TestWorseByAThirdIsTold(t *testing.T) {
	b := baseline{}
	b.set("idle", []figure{count("requests", 3), ratio("CPU", 10, 20).keep(), seconds("wall", time.Second), count("errors", 0)})
	if _, kept := b["idle"]["wall"]; kept {
		t.Error("the baseline has a figure that each machine has its own of")
	}
	for _, c := range []struct {
		of   figure
		want string
	}{
		{count("requests", 3), ""},
		{count("requests", 4), ""}, // exactly a third
		{count("requests", 5), "idle: requests: 5, the baseline has 3: 67 % more"},
		{count("requests", 1), ""},
		{count("errors", 1), "idle: errors: 1, the baseline has 0: there was none"},
		{ratio("CPU", 13, 20).keep(), ""},
		{ratio("CPU", 14, 20).keep(), "idle: CPU: 0.70 ×, the baseline has 0.50 ×: 40 % more"},
		{seconds("wall", time.Hour), ""},
		{figure{what: "requests", value: never, kept: true}, "idle: requests: never, the baseline has 3: it does not end"},
		{count("points", 1), ""}, // the baseline does not have it
	} {
		if got := strings.Join(b.worse("idle", []figure{c.of}), "\n"); got != c.want {
			t.Errorf("of %+v it says %q, not %q", c.of, got, c.want)
		}
	}
}
