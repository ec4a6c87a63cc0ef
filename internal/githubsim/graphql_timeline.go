package githubsim

import (
	"slices"
	"strings"
	"time"

	"github.com/graph-gophers/graphql-go"
)

// timelineArgs choose among an issue's timeline.
type timelineArgs struct {
	PageArgs
	ItemTypes *[]string
	Since     *gqlTime
}

// timelineWords are GraphQL's names of timeline entries where they are not REST's with _EVENT.
var timelineWords = map[string]string{
	"commented": "ISSUE_COMMENT", "reviewed": "PULL_REQUEST_REVIEW", "line-commented": "PULL_REQUEST_REVIEW_THREAD",
	"committed": "PULL_REQUEST_COMMIT", "cross-referenced": "CROSS_REFERENCED_EVENT", "renamed": "RENAMED_TITLE_EVENT",
}

func (a timelineArgs) page(x *gql, is *issue) *gqlPage[*gqlEvent] {
	var list []*event
	for _, e := range is.timeline {
		word, ok := timelineWords[e.kind]
		if !ok {
			word = strings.ToUpper(e.kind) + "_EVENT"
		}
		if a.Since != nil && e.created.Before(time.Time(*a.Since)) {
			continue
		}
		if a.ItemTypes == nil || slices.Contains(*a.ItemTypes, word) {
			list = append(list, e)
		}
	}
	p := gqlPaginate(list, a.PageArgs, func(e *event) *gqlEvent { return &gqlEvent{x, e} })
	shown := slices.DeleteFunc(slices.Clone(*p.Nodes), func(g *gqlEvent) bool { return !x.shown(g.e.lag) })
	p.Nodes = &shown
	return p
}

// gqlEvent is an entry of a timeline.
type gqlEvent struct {
	x *gql
	e *event
}

func (g *gqlEvent) ToLabeledEvent() (*gqlEvent, bool)      { return g, g.e.kind == "labeled" }
func (g *gqlEvent) ToUnlabeledEvent() (*gqlEvent, bool)    { return g, g.e.kind == "unlabeled" }
func (g *gqlEvent) ToRenamedTitleEvent() (*gqlEvent, bool) { return g, g.e.kind == "renamed" }
func (g *gqlEvent) ToBaseRefChangedEvent() (*gqlEvent, bool) {
	return g, g.e.kind == "base_ref_changed"
}

func (g *gqlEvent) ToBaseRefForcePushedEvent() (*gqlEvent, bool) {
	return g, g.e.kind == "base_ref_force_pushed"
}

func (g *gqlEvent) ToAddedToMergeQueueEvent() (*gqlEvent, bool) {
	return g, g.e.kind == "added_to_merge_queue"
}

func (g *gqlEvent) ToRemovedFromMergeQueueEvent() (*gqlEvent, bool) {
	return g, g.e.kind == "removed_from_merge_queue"
}

func (g *gqlEvent) ID() graphql.ID        { return graphql.ID(g.e.nodeID) }
func (g *gqlEvent) Actor() *gqlAccount    { return gqlAccountOf(g.e.actor) }
func (g *gqlEvent) CreatedAt() gqlTime    { return gqlTime(g.e.created) }
func (g *gqlEvent) Label() *gqlLabel      { return &gqlLabel{g.e.label} }
func (g *gqlEvent) PreviousTitle() string { return g.e.from }
func (g *gqlEvent) CurrentTitle() string  { return g.e.to }
func (g *gqlEvent) BeforeCommit() *gqlCommit {
	return g.x.commit(g.e.issue.repo, g.e.group)
}

func (g *gqlEvent) Reason() *string { return orNull(g.e.message) }
