package githubsim

import (
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// newIssue is what a person fills in to open an issue.
type newIssue struct {
	title, body string
	labels      []string
	assignees   []*user
}

// addIssue opens an issue. Labels of an actor who may not set them are dropped silently, as GitHub
// does.
func (r *Repo) addIssue(actor *user, in newIssue) (*issue, *apiError) {
	if e := r.need(actor, "read"); e != nil {
		return nil, e
	}
	if strings.TrimSpace(in.title) == "" {
		return nil, missing("Issue", "title")
	}
	if e := checkBody("Issue", in.body); e != nil {
		return nil, e
	}
	is := r.makeIssue(actor, in.title, in.body)
	if r.can(actor, "triage") {
		r.setLabels(actor, is, in.labels, nil)
		is.assignees = in.assignees
	}
	r.refer(actor, is, in.body)
	return is, nil
}

// makeIssue makes the record that issues and pull requests share.
func (r *Repo) makeIssue(actor *user, title, body string) *issue {
	h, at := r.hub, r.hub.now()
	id, node := r.newID(kindIssue)
	is := &issue{
		repo: r, id: id, nodeID: node, number: len(r.issues) + 1, title: title, body: body, author: actor, state: "open",
		created: at, updated: at, lag: h.newLag("issues"),
	}
	r.issues = append(r.issues, is)
	h.nodes[node] = is
	return is
}

// record adds an entry to the issue's timeline.
func (is *issue) record(actor *user, word string, fill func(*event)) {
	h := is.repo.hub
	id, node := h.newID(kindEvent)
	e := &event{issue: is, id: id, nodeID: node, kind: word, actor: actor, created: h.now(), lag: h.newLag("timeline")}
	if fill != nil {
		fill(e)
	}
	is.timeline = append(is.timeline, e)
	if e.comment == nil && e.review == nil && e.lineThread == nil && e.source == nil {
		is.repo.events = append(is.repo.events, e)
	}
}

// touch bumps the stamp.
func (is *issue) touch() { is.updated = is.repo.hub.now() }

// editIssue changes title and body; nil leaves one as it is.
func (r *Repo) editIssue(actor *user, is *issue, title, body *string) *apiError {
	if e := r.mayEdit(actor, is.author); e != nil {
		return e
	}
	if title != nil && *title != is.title {
		if strings.TrimSpace(*title) == "" {
			return missing("Issue", "title")
		}
		is.record(actor, "renamed", func(e *event) { e.from, e.to = is.title, *title })
		is.title = *title
		is.touch()
	}
	if body != nil && *body != is.body {
		if e := checkBody("Issue", *body); e != nil {
			return e
		}
		is.body = *body
		is.bodyEdited = r.hub.now()
		is.touch()
		r.refer(actor, is, *body)
	}
	return nil
}

// setState closes or reopens.
func (r *Repo) setState(actor *user, is *issue, state, reason string) *apiError {
	if actor != is.author && !r.can(actor, "triage") {
		return forbidden("Must have admin rights to Repository.")
	}
	if e := r.writable(); e != nil {
		return e
	}
	if state == is.state {
		if state == "closed" && reason != "" {
			is.stateReason = reason
		}
		return nil
	}
	switch state {
	case "closed":
		if is.pull != nil {
			is.pull.freeze()
		}
		is.close(actor, reason, "")
	case "open":
		if is.pull != nil {
			if e := is.pull.reopenable(); e != nil {
				return e
			}
		}
		is.state, is.closed, is.closedBy, is.stateReason = "open", time.Time{}, nil, "reopened"
		is.record(actor, "reopened", nil)
		is.touch()
	default:
		return invalid(errorItem{Resource: "Issue", Field: "state", Code: "invalid"})
	}
	return nil
}

// close closes it; commit is the one whose message asked for that.
func (is *issue) close(actor *user, reason, commit string) {
	if is.pull != nil {
		is.pull.leaveQueue(actor)
	}
	if reason == "" && is.pull == nil {
		reason = "completed"
	}
	is.state, is.closed, is.closedBy, is.stateReason = "closed", is.repo.hub.now(), actor, reason
	is.record(actor, "closed", func(e *event) { e.reason, e.commitSHA = reason, commit })
	is.touch()
}

// setLabels adds and takes away labels. A label unknown to the repository is made, in GitHub's
// grey.
func (r *Repo) setLabels(actor *user, is *issue, add, remove []string) {
	for _, name := range add {
		l := r.label(name)
		if l == nil {
			l = r.makeLabel(name, "ededed", "")
		}
		if !slices.Contains(is.labels, l) {
			is.labels = append(is.labels, l)
			is.record(actor, "labeled", func(e *event) { c := *l; e.label = &c })
			is.touch()
		}
	}
	for _, name := range remove {
		i := slices.IndexFunc(is.labels, func(l *label) bool { return strings.EqualFold(l.name, name) })
		if i >= 0 {
			c := *is.labels[i]
			is.labels = slices.Delete(is.labels, i, i+1)
			is.record(actor, "unlabeled", func(e *event) { e.label = &c })
			is.touch()
		}
	}
}

// makeLabel makes a label of the repository.
func (r *Repo) makeLabel(name, color, description string) *label {
	id, node := r.hub.newID(kindLabel)
	if color == "" {
		color = fmt.Sprintf("%06x", rand.New(rand.NewPCG(uint64(id), 0)).IntN(1<<24))
	}
	l := &label{id: id, nodeID: node, name: name, color: color, description: description}
	r.labels = append(r.labels, l)
	r.hub.nodes[node] = l
	return l
}

// dropLabel deletes a label of the repository, and removes it from issues and pull requests.
func (r *Repo) dropLabel(actor *user, l *label) {
	for _, is := range r.issues {
		if slices.Contains(is.labels, l) {
			r.setLabels(actor, is, nil, []string{l.name})
		}
	}
	r.labels = without(r.labels, l)
	delete(r.hub.nodes, l.nodeID)
}

// setLock locks or unlocks the conversation.
func (r *Repo) setLock(actor *user, is *issue, locked bool, reason string) *apiError {
	if e := r.need(actor, "write"); e != nil {
		return e
	}
	if locked == is.locked {
		return nil
	}
	word := "unlocked"
	if locked {
		word = "locked"
	}
	is.locked, is.lockReason = locked, reason
	is.record(actor, word, func(e *event) { e.lockReason = reason })
	is.touch()
	return nil
}

var mention = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s(\[])(?:([\w.-]+/[\w.-]+))?#(\d+)\b`) })

// refer leaves a cross-reference at each issue that the text of from mentions, once.
func (r *Repo) refer(actor *user, from *issue, text string) {
	for _, m := range mention().FindAllStringSubmatch(text, -1) {
		repo := r
		if m[1] != "" {
			repo = r.hub.repo(m[1])
		}
		n, err := strconv.Atoi(m[2])
		if repo == nil || err != nil {
			continue
		}
		target := repo.issue(n)
		if target == nil || target == from {
			continue
		}
		if !slices.ContainsFunc(target.timeline, func(e *event) bool { return e.source == from }) {
			target.record(actor, "cross-referenced", func(e *event) { e.source = from })
		}
	}
}

var closing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\b|_)(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b`)
})

// closes lists the issues that a text closes once it is on the default branch.
func (r *Repo) closes(text string) []*issue {
	var out []*issue
	for _, m := range closing().FindAllStringSubmatch(html.UnescapeString(text), -1) {
		n, err := strconv.Atoi(m[1])
		if is := r.issue(n); err == nil && is != nil && is.pull == nil && !slices.Contains(out, is) {
			out = append(out, is)
		}
	}
	return out
}

// react adds the user's reaction, or finds the one that is there.
func (h *Hub) react(actor *user, on *[]*reaction, content string) (re *reaction, made bool, e *apiError) {
	if !slices.Contains(reactionWords, content) {
		return nil, false, invalid(errorItem{Resource: "Reaction", Field: "content", Code: "invalid"})
	}
	for _, re := range *on {
		if re.user == actor && re.content == content {
			return re, false, nil
		}
	}
	id, node := h.newID(kindReaction)
	re = &reaction{id: id, nodeID: node, user: actor, content: content, created: h.now()}
	*on = append(*on, re)
	h.nodes[node] = re
	return re, true, nil
}

var reactionWords = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
