package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// said is something that somebody wrote on a pull request.
type said struct {
	User    struct{ Login string }
	Body    string
	State   string // of a review
	Path    string // of a comment on a line
	Line    int
	Created time.Time `json:"created_at"`
	Sent    time.Time `json:"submitted_at"` // of a review
}

func (s said) at() time.Time {
	if s.Created.IsZero() {
		return s.Sent
	}
	return s.Created
}

// pull is a pull request with what was written on it, the oldest first.
type pull struct {
	said
	Title   string
	Number  int
	Commits int
	Merged  bool
	Head    struct{ Ref string }
	Base    struct{ Ref string }
	talk    []said
}

func readPull(dir string) (p pull, err error) {
	if err := read(filepath.Join(dir, "pull.json"), &p); err != nil {
		return p, err
	}
	for _, name := range []string{"comments.json", "reviews.json", "lines.json"} {
		var part []said
		if err := read(filepath.Join(dir, name), &part); err != nil {
			return p, err
		}
		p.talk = append(p.talk, part...)
	}
	p.talk = slices.DeleteFunc(p.talk, func(s said) bool { return visible(s.Body) == "" && s.State == "" })
	slices.SortStableFunc(p.talk, func(a, b said) int { return a.at().Compare(b.at()) })
	return p, nil
}

func read(path string, into any) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

const pullStyle = `text{font:14px -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,"DejaVu Sans",sans-serif;fill:#1f2328}
.ground{fill:#fff;stroke:#d1d9e0}.box{fill:#fff;stroke:#d1d9e0}.head{fill:#f6f8fa;stroke:#d1d9e0}.title{font-size:22px}.dim{fill:#59636e}.who{font-weight:600}.open{fill:#1f883d}.merged{fill:#8250df}.white{fill:#fff;font-weight:600}
.code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12.5px}`

// The sizes of a pull request's picture.
const (
	pullWidth   = 860
	perLine     = 112 // characters of a comment
	mostOfABody = 9   // lines of one comment; what is longer is cut
)

// picture draws the page: title, state, and what was written.
func (p pull) picture() string {
	d := drawing{width: pullWidth}
	d.text(24, 40, "title", fmt.Sprintf("%s #%d", p.Title, p.Number))
	state := "open"
	if p.Merged {
		state = "merged"
	}
	d.add(`<rect x="24" y="56" width="76" height="28" rx="14" class="%s"/>`, state)
	d.text(40, 75, "white", strings.ToUpper(state[:1])+state[1:])
	d.text(112, 75, "dim", fmt.Sprintf("%s wants to merge %d commits into %s from %s", p.User.Login, p.Commits, p.Base.Ref, p.Head.Ref))
	y := 108
	for _, s := range append([]said{p.said}, p.talk...) {
		y = d.comment(y, s)
	}
	d.height = y + 8
	return d.svg(fmt.Sprintf("Pull request #%d, %s, with what people, the agent and a reviewer wrote", p.Number, p.Title), pullStyle)
}

// comment draws one, and tells where the next begins.
func (d *drawing) comment(y int, s said) int {
	lines := bodyLines(visible(s.Body))
	height := 44 + 20*len(lines)
	d.box(24, y, pullWidth-48, height, "box")
	d.box(24, y, pullWidth-48, 32, "head")
	d.text(40, y+21, "who", s.User.Login)
	d.text(48+9*len(s.User.Login), y+21, "dim", cmp.Or(map[string]string{"APPROVED": "approved these changes", "CHANGES_REQUESTED": "requested changes", "COMMENTED": "reviewed"}[s.State], where(s)))
	for i, line := range lines {
		d.text(40, y+54+20*i, "", line)
	}
	return y + height + 14
}

func where(s said) string {
	if s.Path == "" {
		return "commented"
	}
	return fmt.Sprintf("commented on %s, line %d", s.Path, s.Line)
}

var (
	marks    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?-->|</?(?:sub|sup|details|summary)>`) })
	markdown = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[*`]{1,3}|(?m)^#+ ") })
	links    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`) })
)

// visible is what GitHub shows of a text, without its emphasis.
func visible(body string) string {
	body = links().ReplaceAllString(marks().ReplaceAllString(body, ""), "$1")
	return strings.TrimSpace(regexp.MustCompile(`\n{2,}`).ReplaceAllString(markdown().ReplaceAllString(body, ""), "\n"))
}

// bodyLines wraps a text; what is longer than a picture wants ends in an ellipsis.
func bodyLines(text string) (lines []string) {
	for part := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.FieldsSeq(part) {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > perLine {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > mostOfABody {
		lines = append(lines[:mostOfABody], "…")
	}
	return lines
}
