package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A picture is well-formed whatever stands on it, says in words what it shows, and has no
// colour and no font of its own.
func TestSVG(t *testing.T) {
	for name, b := range map[string]Bars{
		"upright":  {Labels: []string{"a", "b"}, Series: []Series{{"one", []float64{1, 0}, "--good"}, {"two", []float64{0.5, 2}, "--bad"}}},
		"sideways": {Labels: []string{`<script>"&'`, "b"}, Series: []Series{{`<b>`, []float64{3, 1}, "--good"}}, Sideways: true, Stacked: true, Least: 1},
		"zeros":    {Labels: []string{"a"}, Series: []Series{{"one", []float64{0}, "--good"}}},
		"many":     {Labels: make([]string, 31), Series: []Series{{"one", make([]float64, 31), "--good"}}},
		"nothing":  {Series: []Series{{"one", nil, "--good"}}},
	} {
		b.ID, b.Title, b.Says, b.Value = name, `T <i>&"`, `D </desc>`, func(v float64) string { return fmt.Sprint(v) }
		svg, err := b.SVG()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in %s", name, err, svg)
			}
			if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg title desc path text circle ", " "+e.Name.Local+" ") {
				t.Errorf("%s has an element %q", name, e.Name.Local)
			}
		}
		for _, not := range []string{"rgb(", "Roboto", "251,1,"} {
			if strings.Contains(svg, not) {
				t.Errorf("%s has %q: %s", name, not, svg)
			}
		}
		for _, want := range []string{`role="img"`, `aria-labelledby="` + name + `-t ` + name + `-d"`, `>T &lt;i&gt;&amp;&#34;</title>`, `>D &lt;/desc&gt;</desc>`} {
			if !strings.Contains(svg, want) {
				t.Errorf("%s lacks %s: %s", name, want, svg)
			}
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		least     float64
		step, top float64
	}{{[]float64{0}, 0, 1, 1}, {[]float64{1}, 1, 1, 1}, {[]float64{4}, 1, 1, 4}, {[]float64{17}, 0, 5, 20}, {[]float64{1.75}, 0, 0.5, 2}, {[]float64{1000, 20}, 1, 500, 1000}} {
		b := Bars{Labels: make([]string, len(c.values)), Series: []Series{{Values: c.values}}, Least: c.least}
		if step, top := b.scale(); step != c.step || top != c.top {
			t.Errorf("%v: %g, %g; want %g, %g", c.values, step, top, c.step, c.top)
		}
	}
}
