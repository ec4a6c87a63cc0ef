package metrics

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var metricName = regexp.MustCompile(`\bmergexo_[a-z0-9_]+`)

// What pages and the dashboard ask for is written, with the labels that they name.
func TestQueriesAskForWhatIsWritten(t *testing.T) {
	known := map[string][]string{}
	for _, f := range Known() {
		known[f.Name] = f.Labels
		if f.Kind == Histogram {
			known[f.Name+"_bucket"], known[f.Name+"_sum"], known[f.Name+"_count"] = []string{"le"}, nil, nil
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(pages, "../../docs/grafana/alerts.yml", "../../docs/grafana/gh-mergexo.json") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricName.FindAllString(string(text), -1) {
			if _, ok := known[name]; !ok {
				t.Errorf("%s names %s, which nothing writes", path, name)
			}
		}
	}
	exprs := dashboard(t)
	if len(exprs) < 12 {
		t.Errorf("the dashboard has %d queries", len(exprs))
	}
	grouping := regexp.MustCompile(`\b(?:by|without) ?\(([^)]*)\)`)
	matcher := regexp.MustCompile(`[{,] ?([a-z]+) ?(?:=~|!~|!=|=) ?"`)
	for _, expr := range exprs {
		names := metricName.FindAllString(expr, -1)
		if len(names) == 0 {
			t.Errorf("the query %q asks for nothing of ours", expr)
		}
		for _, m := range matcher.FindAllStringSubmatch(expr, -1) {
			if m[1] != "instance" && !slices.Contains(known[names[0]], m[1]) {
				t.Errorf("%q asks for %q, and %s has %q", expr, m[1], names[0], known[names[0]])
			}
		}
		for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(m[1], ",") {
				if label = strings.TrimSpace(label); label != "instance" && !slices.Contains(known[names[0]], label) {
					t.Errorf("%q groups by %q, and %s has %q", expr, label, names[0], known[names[0]])
				}
			}
		}
	}
}

// dashboard gives the queries of the Grafana dashboard, which has what Grafana demands of one.
func dashboard(t *testing.T) (exprs []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/grafana/gh-mergexo.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Title, UID    string
		SchemaVersion int
		Panels        []struct {
			ID          int
			Title, Type string
			Description string
			GridPos     struct{ H, W, X, Y int }
			Targets     []struct{ Expr, RefID string }
		}
		Templating struct{ List []struct{ Name, Type string } }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Templating.List) == 0 {
		t.Errorf("%q %q, schema %d, %d variables", d.Title, d.UID, d.SchemaVersion, len(d.Templating.List))
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q at %+v", p.ID, p.Title, p.GridPos)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, taken := places[[2]int{x, y}]; taken {
					t.Fatalf("%q covers %q", p.Title, other)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%q asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	return exprs
}
