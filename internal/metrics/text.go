package metrics

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Kind is the type of a metric.
type Kind string

// The kinds of metric.
const (
	Gauge     Kind = "gauge"
	Counter   Kind = "counter"
	Histogram Kind = "histogram"
)

// Family is a metric with all its samples.
type Family struct {
	Name, Help string
	Kind       Kind
	Labels     []string
	samples    []sample
}

type sample struct {
	suffix string   // appended to the name, in a histogram
	labels []string // names and values alternating
	value  float64
}

// Text formats families in Prometheus's text format, version 0.0.4.
func Text(all []Family) string {
	var b bytes.Buffer
	for _, f := range all {
		b.WriteString("# HELP " + f.Name + " " + helpText.Replace(f.Help) + "\n# TYPE " + f.Name + " " + string(f.Kind) + "\n")
		for _, s := range f.samples {
			b.WriteString(f.Name + s.suffix)
			writeLabels(&b, s.labels)
			b.WriteString(" " + number(s.value) + "\n")
		}
	}
	return b.String()
}

var (
	helpText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func writeLabels(b *bytes.Buffer, labels []string) {
	for i := 0; i+1 < len(labels); i += 2 {
		before := ","
		if i == 0 {
			before = "{"
		}
		b.WriteString(before + labels[i] + `="` + labelValue.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
