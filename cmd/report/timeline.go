package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

const (
	// mostTimelines and mostMarks bound the page.
	mostTimelines = 30
	mostMarks     = 80
	// strip is the width of a timeline in units of its picture; thin is the smallest visible width.
	strip = 1000
	thin  = 4
)

// timeline is the life of a pull request as a picture.
type timeline struct {
	Pull   Pull
	ID     string
	From   time.Time
	To     time.Time
	Says   string // the content in words
	Shapes []shape
	Cut    int // number of marks that are not drawn
}

// shape is a rectangle of a timeline.
type shape struct {
	Class      string
	X, Y, W, H int
	Says       string
}

// timelines returns the timelines of the first mostTimelines pull requests.
func (r Report) timelines() []timeline {
	var all []timeline
	for i, p := range r.Pulls[:min(len(r.Pulls), mostTimelines)] {
		all = append(all, lifeOf(p, fmt.Sprintf("life%d", i), r.To))
	}
	return all
}

func lifeOf(p Pull, id string, now time.Time) timeline {
	t := timeline{Pull: p, ID: id, From: p.Opened, To: now}
	if !p.Ended.IsZero() {
		t.To = p.Ended.Time
	}
	for _, m := range p.marks {
		if m.What == store.MarkTurn && m.At.Before(t.From) { // the turn that opened it began before
			t.From = m.At
		}
	}
	if !t.To.After(t.From) {
		t.To = t.From.Add(time.Minute)
	}
	var count counts
	for _, m := range p.marks {
		if m.At.After(t.To) && m.What != store.MarkVerdict { // the verdict that let it merge may have a later stamp
			continue
		}
		count.add(m)
		t.Shapes = append(t.Shapes, t.shapeOf(m))
	}
	if t.Cut = max(len(t.Shapes)-mostMarks, 0); t.Cut > 0 { // in the middle: how it began and ended matters most
		t.Shapes = slices.Delete(t.Shapes, mostMarks/2, mostMarks/2+t.Cut)
	}
	t.Says = count.says()
	return t
}

// x is the horizontal position of a time.
func (t timeline) x(at time.Time) int {
	return min(max(int(strip*at.Sub(t.From).Seconds()/t.To.Sub(t.From).Seconds()), 0), strip-thin)
}

func (t timeline) shapeOf(m store.Mark) shape {
	s := shape{X: t.x(m.At), W: thin, H: 10}
	at := m.At.Format(minutes)
	switch m.What {
	case store.MarkTurn:
		end, took := m.End, "not over yet"
		if end.IsZero() {
			end = t.To
		} else {
			took = Took(end.Sub(m.At))
		}
		s.Class, s.Y, s.H, s.W = "turn", 12, 12, max(t.x(end)-s.X, thin)
		if work.Step(m.Says) == work.StepFailed {
			s.Class = "failed"
		}
		s.Says = fmt.Sprintf("%s: %s, %s, %s", at, turnName(m), m.Says, took)
	case store.MarkVerdict:
		s.Class, s.Y = "bad", 24
		if m.Says == string(review.Approve) {
			s.Class = "good"
		}
		s.Says = fmt.Sprintf("%s: %s says %s", at, m.Who, words(m.Says))
	case store.MarkPerson:
		s.Class, s.Y = "person", 2
		s.Says = strings.TrimSpace(fmt.Sprintf("%s: %s %s", at, eventName(m.Kind), by(m.Who)))
	}
	return s
}

// minutes is the page's format of times.
const minutes = "2006-01-02 15:04 MST"

func turnName(m store.Mark) string {
	if m.Who == "" {
		return words(m.Kind)
	}
	return words(m.Kind) + " of " + m.Who
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return "by " + who
}

// words turns an identifier into words.
func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

func eventName(kind string) string {
	switch work.EventKind(kind) { //nolint:exhaustive // those of people
	case work.EventReview:
		return "a comment on a line"
	case work.EventSummary:
		return "a review"
	case work.EventCommand:
		return "a command"
	case work.EventHead:
		return "a push"
	case work.EventLabelled:
		return "a label"
	case work.EventReopened:
		return "opened again"
	}
	return "a comment"
}

// counts sum up a timeline.
type counts struct{ turns, failed, people, approvals, changes int }

func (c *counts) add(m store.Mark) {
	switch m.What {
	case store.MarkTurn:
		c.turns++
		if work.Step(m.Says) == work.StepFailed {
			c.failed++
		}
	case store.MarkPerson:
		c.people++
	case store.MarkVerdict:
		if m.Says == string(review.Approve) {
			c.approvals++
		} else {
			c.changes++
		}
	}
}

func (c *counts) says() string {
	var all []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{c.turns, "turn", "turns"},
		{c.failed, "of them failed", "of them failed"},
		{c.people, "comment, command or push of a person", "comments, commands and pushes of people"},
		{c.approvals, "approval", "approvals"},
		{c.changes, "request for changes", "requests for changes"},
	} {
		switch part.n {
		case 0:
		case 1:
			all = append(all, "1 "+part.one)
		default:
			all = append(all, fmt.Sprintf("%d %s", part.n, part.many))
		}
	}
	if len(all) == 0 {
		return "what happened in between was pruned"
	}
	return strings.Join(all, ", ")
}
