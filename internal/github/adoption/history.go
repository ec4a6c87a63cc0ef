package adoption

import (
	"maps"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
)

// History is what was said and done on issues and pull requests, by their numbers: what of
// it was read, each whole.
type History struct {
	Issues   map[int]github.Issue
	Texts    map[string]github.Text         // of issues, by their node ids
	Comments map[int][]github.Comment       // conversations
	Labels   map[int][]github.TimelineEvent // which were set and taken away; without ids, but for node ids
	Commits  map[int][]origin.Commit        // of pull requests
}

func newHistory() History {
	return History{
		Issues: map[int]github.Issue{}, Texts: map[string]github.Text{}, Comments: map[int][]github.Comment{},
		Labels: map[int][]github.TimelineEvent{}, Commits: map[int][]origin.Commit{},
	}
}

// Join takes over what another one has.
func (h *History) Join(o History) {
	if h.Issues == nil {
		*h = newHistory()
	}
	maps.Copy(h.Issues, o.Issues)
	maps.Copy(h.Texts, o.Texts)
	maps.Copy(h.Comments, o.Comments)
	maps.Copy(h.Labels, o.Labels)
	maps.Copy(h.Commits, o.Commits)
}

type wireTalk struct {
	ID         string           `json:"id"`
	DatabaseID transport.BigInt `json:"fullDatabaseId"`
	Body       string           `json:"body"`
	URL        string           `json:"url"`
	Author     *transport.Actor `json:"author"`
	CreatedAt  time.Time        `json:"createdAt"`
	UpdatedAt  time.Time        `json:"updatedAt"`
}

type wireLabelled struct {
	Kind      string           `json:"__typename"`
	ID        string           `json:"id"`
	CreatedAt time.Time        `json:"createdAt"`
	Actor     *transport.Actor `json:"actor"`
	Label     struct {
		Name string `json:"name"`
	} `json:"label"`
}

type wirePullHistory struct {
	Number   int                                `json:"number"`
	Comments transport.Connection[wireTalk]     `json:"comments"`
	Labels   transport.Connection[wireLabelled] `json:"timelineItems"`
	Commits  transport.Connection[struct {
		Commit struct {
			OID     string `json:"oid"`
			Message string `json:"message"`
		} `json:"commit"`
	}] `json:"commits"`
}

type wireIssueHistory struct {
	ID         string           `json:"id"`
	Number     int              `json:"number"`
	Title      string           `json:"title"`
	Body       string           `json:"body"`
	URL        string           `json:"url"`
	State      string           `json:"state"`
	UpdatedAt  time.Time        `json:"updatedAt"`
	EditedAt   time.Time        `json:"lastEditedAt"`
	Author     *transport.Actor `json:"author"`
	Repository struct {
		ID string `json:"id"`
	} `json:"repository"`
	Labels transport.Connection[struct {
		Name string `json:"name"`
	}] `json:"labels"`
	Comments transport.Connection[wireTalk]     `json:"comments"`
	Events   transport.Connection[wireLabelled] `json:"timelineItems"`
}

func (h *History) addPull(w *wirePullHistory) {
	h.addTalk(w.Number, w.Comments)
	h.addLabels(w.Number, w.Labels)
	if w.Commits.PageInfo.HasNextPage {
		return
	}
	commits := make([]origin.Commit, len(w.Commits.Nodes))
	for i, c := range w.Commits.Nodes {
		commits[i] = origin.Commit{OID: c.Commit.OID, Message: c.Commit.Message}
	}
	h.Commits[w.Number] = commits
}

func (h *History) addIssue(w *wireIssueHistory) {
	h.addTalk(w.Number, w.Comments)
	if w.Labels.PageInfo.HasNextPage {
		return
	}
	is := github.Issue{
		NodeID: w.ID, Number: w.Number, Title: w.Title, Body: w.Body, URL: w.URL, State: strings.ToLower(w.State),
		Author: w.Author.Account(), UpdatedAt: w.UpdatedAt,
	}
	for _, l := range w.Labels.Nodes {
		is.Labels = append(is.Labels, l.Name)
	}
	h.Issues[w.Number] = is
	h.Texts[w.ID] = github.Text{Title: w.Title, Body: w.Body, EditedAt: w.EditedAt}
	h.addLabels(w.Number, w.Events)
}

func (h *History) addTalk(number int, list transport.Connection[wireTalk]) {
	if list.PageInfo.HasNextPage {
		return
	}
	talk := make([]github.Comment, 0, len(list.Nodes))
	for _, w := range list.Nodes {
		if w.DatabaseID == 0 {
			return
		}
		talk = append(talk, github.Comment{
			ID: int64(w.DatabaseID), NodeID: w.ID, Number: number, Body: w.Body, URL: w.URL,
			Author: w.Author.Account(), CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		})
	}
	h.Comments[number] = talk
}

// addLabels leaves out the timeline of an issue whose title changed: what of it counts is
// told by ids, which GraphQL does not have.
func (h *History) addLabels(number int, list transport.Connection[wireLabelled]) {
	if list.PageInfo.HasNextPage {
		return
	}
	events := make([]github.TimelineEvent, 0, len(list.Nodes))
	for _, w := range list.Nodes {
		e := github.TimelineEvent{NodeID: w.ID, Event: "labeled", Label: w.Label.Name, Actor: w.Actor.Account(), CreatedAt: w.CreatedAt}
		switch w.Kind {
		case "LabeledEvent":
		case "UnlabeledEvent":
			e.Event = "unlabeled"
		default:
			return
		}
		events = append(events, e)
	}
	h.Labels[number] = events
}
