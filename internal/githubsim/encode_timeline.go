package githubsim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// eventJSON is an entry of an issue's timeline or of its events that is no comment, review or
// commit.
type eventJSON struct {
	ID                int64           `json:"id"`
	NodeID            string          `json:"node_id"`
	URL               string          `json:"url"`
	Actor             *simpleUser     `json:"actor"`
	Event             string          `json:"event"`
	CommitID          *string         `json:"commit_id"`
	CommitURL         *string         `json:"commit_url"`
	CreatedAt         time.Time       `json:"created_at"`
	ViaApp            *struct{}       `json:"performed_via_github_app"`
	StateReason       *string         `json:"state_reason,omitempty"`
	Label             *eventLabel     `json:"label,omitempty"`
	Rename            *eventRename    `json:"rename,omitempty"`
	LockReason        *string         `json:"lock_reason,omitempty"`
	Assignee          *simpleUser     `json:"assignee,omitempty"`
	Assigner          *simpleUser     `json:"assigner,omitempty"`
	ReviewRequester   *simpleUser     `json:"review_requester,omitempty"`
	RequestedReviewer *simpleUser     `json:"requested_reviewer,omitempty"`
	DismissedReview   *eventDismissed `json:"dismissed_review,omitempty"`
	Issue             *issueJSON      `json:"issue,omitempty"`
}

type eventLabel struct {
	Name  string `json:"name"`
	Color string `json:"color"`
}

type eventRename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type eventDismissed struct {
	State   string  `json:"state"`
	ID      int64   `json:"review_id"`
	Message *string `json:"dismissal_message"`
}

func (c *call) event(e *event) eventJSON {
	r := e.issue.repo
	out := eventJSON{
		ID: e.id, NodeID: e.nodeID, URL: fmt.Sprintf("%s/issues/events/%d", c.urls.at(r), e.id), Actor: c.urls.user(e.actor), Event: e.kind,
		CommitID: orNull(e.commitSHA), CreatedAt: e.created, StateReason: orNull(e.reason), LockReason: orNull(e.lockReason),
	}
	if e.commitSHA != "" {
		at := c.urls.at(r) + "/commits/" + e.commitSHA
		out.CommitURL = &at
	}
	if e.label != nil {
		out.Label = &eventLabel{e.label.name, e.label.color}
	}
	switch e.kind {
	case "renamed":
		out.Rename = &eventRename{e.from, e.to}
	case "assigned", "unassigned":
		out.Assignee, out.Assigner = c.urls.user(e.user), c.urls.user(e.actor)
	case "review_requested", "review_request_removed":
		out.RequestedReviewer, out.ReviewRequester = c.urls.user(e.user), c.urls.user(e.actor)
	case "review_dismissed":
		out.DismissedReview = &eventDismissed{State: strings.ToLower(e.wasState), ID: e.dismissed.id, Message: orNull(e.message)}
	}
	return out
}

// timelineComment is a comment in a timeline.
type timelineComment struct {
	commentJSON
	Event string      `json:"event"`
	Actor *simpleUser `json:"actor"`
}

// timelineReview is a review in a timeline, where states are in lower case.
type timelineReview struct {
	reviewJSON
	Event string `json:"event"`
}

// timelineLines is a thread in a timeline.
type timelineLines struct {
	Event    string            `json:"event"`
	NodeID   string            `json:"node_id"`
	Comments []diffCommentJSON `json:"comments"`
}

// timelineCrossRef is a mention elsewhere.
type timelineCrossRef struct {
	Event     string         `json:"event"`
	Actor     *simpleUser    `json:"actor"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	Source    crossRefSource `json:"source"`
}

type crossRefSource struct {
	Type  string            `json:"type"`
	Issue crossRefIssueJSON `json:"issue"`
}

type crossRefIssueJSON struct {
	issueJSON
	Repository *repoJSON `json:"repository"`
}

// stamped is a timeline entry with what it is sorted by.
type stamped struct {
	at    time.Time
	value func() any
}

// timeline lists an issue's timeline in the order of time: its entries, and a pull request's
// commits. Entries are encoded only when their page is asked for.
func (c *call) timeline(is *issue) ([]stamped, *apiError) {
	var out []stamped
	if is.pull != nil {
		d, err := is.pull.diff()
		if err != nil {
			return nil, gitFailed(err)
		}
		for _, x := range d.commits {
			out = append(out, stamped{x.committer.at, func() any {
				j := c.gitCommit(is.repo, x)
				j.Event = "committed"
				return j
			}})
		}
	}
	for _, e := range is.timeline {
		if c.h.listed(&e.lag) {
			out = append(out, stamped{e.created, func() any { return c.timelineEntry(e) }})
		}
	}
	slices.SortStableFunc(out, func(a, b stamped) int { return a.at.Compare(b.at) })
	return out, nil
}

func (c *call) timelineEntry(e *event) any {
	switch {
	case e.comment != nil:
		j := c.comment(e.comment)
		return timelineComment{commentJSON: j, Event: e.kind, Actor: j.User}
	case e.review != nil:
		j := c.review(e.review)
		j.State = strings.ToLower(j.State)
		return timelineReview{reviewJSON: j, Event: e.kind}
	case e.lineThread != nil:
		lines := timelineLines{Event: e.kind, NodeID: e.lineThread.nodeID, Comments: []diffCommentJSON{}}
		for _, x := range e.lineThread.comments {
			if !x.review.pending() {
				lines.Comments = append(lines.Comments, c.diffComment(x))
			}
		}
		return lines
	case e.source != nil:
		return timelineCrossRef{
			Event: e.kind, Actor: c.urls.user(e.actor), CreatedAt: e.created, UpdatedAt: e.created,
			Source: crossRefSource{Type: "issue", Issue: crossRefIssueJSON{c.issue(e.source), c.repoOnce(e.source.repo)}},
		}
	}
	return c.event(e)
}
