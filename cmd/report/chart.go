// This file draws bar charts as SVG inside a page. Its colours are the page's own, which fit
// dark and light pages, and it describes its content in words.

package report

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-analyze/charts"
)

// Bars is a bar chart.
type Bars struct {
	ID       string // id of the chart in the page
	Title    string
	Says     string // the content in words
	Labels   []string
	Series   []Series
	Stacked  bool
	Least    float64 // smallest difference of values
	Sideways bool    // horizontal bars, one line per label
	Value    func(float64) string
}

// Series is one kind of bar.
type Series struct {
	Name   string
	Values []float64
	Color  string // a custom property of the page's style
}

const (
	width     = 480
	height    = 230
	perLine   = 34 // per horizontal bar
	fontSize  = 10 // points
	mostNames = 6  // labels side by side
)

// mark is a colour that stands for one of the page's colours.
func mark(n int) charts.Color { return charts.Color{R: 251, G: 1, B: uint8(n), A: 255} }

const (
	ink = iota
	axis
	grid
	ground
	series
)

var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`rgba?\(251,1,(\d+)(?:,[0-9.]+)?\)`) })

// SVG draws the chart.
func (b Bars) SVG() (string, error) {
	tall := height
	if b.Sideways {
		tall = 60 + perLine*max(len(b.Labels), 1)
	}
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: width, Height: tall})
	if err := p.BarChart(b.options()); err != nil {
		return "", fmt.Errorf("draw %s: %w", b.ID, err)
	}
	drawn, err := p.Bytes()
	if err != nil {
		return "", fmt.Errorf("draw %s: %w", b.ID, err)
	}
	return b.intoPage(string(drawn)), nil
}

func (b Bars) options() charts.BarChartOption {
	values := make([][]float64, len(b.Series))
	names := make([]string, len(b.Series))
	var colors []charts.Color
	for i, s := range b.Series {
		values[i], names[i] = slices.Clone(s.Values), s.Name
		for k, v := range values[i] {
			if v == 0 && !b.Stacked { // a line at the bottom would look like a value
				values[i][k] = charts.GetNullValue()
			}
		}
		colors = append(colors, mark(series+i))
	}
	theme := charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: mark(axis), AxisSplitLineColor: mark(grid), BackgroundColor: mark(ground), TextColor: mark(ink), SeriesColors: colors,
	})
	font := charts.FontStyle{FontSize: fontSize, FontColor: mark(ink)}
	opt := charts.NewBarChartOptionWithData(values)
	opt.Theme, opt.Horizontal, opt.StackSeries = theme, b.Sideways, new(b.Stacked)
	opt.Padding = charts.Box{Top: 8, Right: 12, Bottom: 4, Left: 4, IsSet: true}
	opt.ValueFormatter = b.Value
	opt.CategoryAxis = charts.CategoryAxisOption{Labels: b.Labels, LabelFontStyle: font, Theme: theme}
	if !b.Sideways {
		opt.CategoryAxis.LabelCount = min(len(b.Labels), mostNames)
	}
	for i := range opt.ValueAxis {
		opt.ValueAxis[i].LabelFontStyle, opt.ValueAxis[i].Theme, opt.ValueAxis[i].Min = font, theme, new(0.0)
		step, top := b.scale()
		opt.ValueAxis[i].Max, opt.ValueAxis[i].LabelCount = new(top), int(math.Round(top/step))+1
		opt.ValueAxis[i].PreferNiceIntervals, opt.ValueAxis[i].RangeValuePaddingScale = new(false), new(0.0)
	}
	opt.Legend = charts.LegendOption{SeriesNames: names, FontStyle: font, Theme: theme, Show: new(len(names) > 1), Symbol: charts.SymbolSquare}
	return opt
}

// scale returns the distance of the grid lines and the highest one.
func (b Bars) scale() (step, top float64) {
	most := 0.0
	for i := range b.Labels {
		sum := 0.0
		for _, s := range b.Series {
			if sum += s.Values[i]; !b.Stacked {
				most = max(most, s.Values[i])
			}
		}
		if b.Stacked {
			most = max(most, sum)
		}
	}
	if most <= 0 {
		return 1, 1
	}
	step = math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, f := range []float64{1, 2, 5, 10} {
		if f*step*4 >= most {
			step *= f
			break
		}
	}
	step = max(step, b.Least)
	return step, step * math.Ceil(most/step-1e-9)
}

// intoPage applies the page's colours and fonts, and adds the text for people who cannot see the
// chart.
func (b Bars) intoPage(svg string) string {
	colors := map[string]string{fmt.Sprint(ink): "--ink", fmt.Sprint(axis): "--line", fmt.Sprint(grid): "--grid"}
	for i, s := range b.Series {
		colors[fmt.Sprint(series+i)] = s.Color
	}
	svg = marks().ReplaceAllStringFunc(svg, func(m string) string {
		if c := colors[marks().FindStringSubmatch(m)[1]]; c != "" {
			return "var(" + c + ")"
		}
		return "none"
	})
	svg = strings.ReplaceAll(svg, "'Roboto Medium',sans-serif", "inherit")
	svg = strings.NewReplacer("\n", " ", ` xmlns="http://www.w3.org/2000/svg"`, "", ` xmlns:xlink="http://www.w3.org/1999/xlink"`, "").Replace(svg)
	head := fmt.Sprintf(`<svg role="img" aria-labelledby="%s-t %s-d" `, b.ID, b.ID)
	words := fmt.Sprintf(`<title id="%s-t">%s</title><desc id="%s-d">%s</desc>`, b.ID, html.EscapeString(b.Title), b.ID, html.EscapeString(b.Says))
	open, rest, _ := strings.Cut(strings.Replace(svg, "<svg ", head, 1), ">")
	return open + ">" + words + rest
}
