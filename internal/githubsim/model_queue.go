package githubsim

import (
	"fmt"
	"slices"
	"time"
)

// queueEntry is a pull request in a merge queue.
type queueEntry struct {
	pull   *pull
	nodeID string
	state  queueState
	at     time.Time
	by     *user
	base   string // what the group was built on; "" before
	group  string // the commit that is to land, once it was built
}

// queueState is GraphQL's MergeQueueEntryState.
type queueState string

// The states.
const (
	queued         queueState = "QUEUED"
	awaitingChecks queueState = "AWAITING_CHECKS"
	queueMergeable queueState = "MERGEABLE"
	unmergeable    queueState = "UNMERGEABLE"
	queueLocked    queueState = "LOCKED"
)

// kindQueueEntry is the prefix of the ids of entries.
const kindQueueEntry kind = "MQE"

// queueBot is who merges through a queue.
const queueBot = "github-merge-queue[bot]"

// queueBranches is how the names of the branches begin that queues make.
const queueBranches = "gh-readonly-queue/"

// branch is the one that the group is built on, and which workflows of merge_group run on.
func (q *queueEntry) branch() string {
	return fmt.Sprintf("%s%s/pr-%d-%s", queueBranches, q.pull.baseRef, q.pull.number, q.base)
}

// entry is the pull request's place in the queue; nil when it has none.
func (p *pull) entry() *queueEntry {
	i := slices.IndexFunc(p.repo.queue, func(q *queueEntry) bool { return q.pull == p })
	if i < 0 {
		return nil
	}
	return p.repo.queue[i]
}

// position is from 1 among those with the same base.
func (q *queueEntry) position() int {
	n := 0
	for _, o := range q.pull.repo.queue {
		if o.pull.baseRef == q.pull.baseRef {
			n++
		}
		if o == q {
			break
		}
	}
	return n
}

// enqueue puts the pull request into its base's queue. It takes what the base's rules demand of the
// head; that the head is behind is what the queue is for.
func (r *Repo) enqueue(actor *user, p *pull, expected string, jump bool) (*queueEntry, *apiError) {
	if e := r.need(actor, "write"); e != nil {
		return nil, e
	}
	switch {
	case r.queueMethod(p.baseRef) == "":
		return nil, unprocessable("Merge queue is not enabled for this branch")
	case p.state != "open" || p.draft:
		return nil, unprocessable("Pull request is not mergeable")
	case p.entry() != nil:
		return nil, unprocessable("Pull request is already in the queue")
	case expected != "" && expected != p.headOID():
		return nil, unprocessable("Head branch was modified. Review and try the merge again.")
	case p.computeMergeable() == mergeConflict:
		return nil, unprocessable("Pull request is not mergeable")
	}
	for _, d := range r.demands(p.baseRef) {
		d.Strict = false
		if missing := p.unmetOf(d, true); len(missing) > 0 {
			return nil, unprocessable("Pull request " + missing[0].text)
		}
	}
	_, node := r.hub.newID(kindQueueEntry)
	q := &queueEntry{pull: p, nodeID: node, state: queued, at: r.hub.now(), by: actor}
	r.hub.nodes[node] = q
	if jump {
		r.queue = slices.Insert(r.queue, 0, q)
	} else {
		r.queue = append(r.queue, q)
	}
	p.record(actor, "added_to_merge_queue", nil)
	p.touch()
	return q, nil
}

// leaveQueue takes the pull request out of the queue, as a push to it, closing it, or a person
// does.
func (p *pull) leaveQueue(actor *user) bool {
	q := p.entry()
	if q == nil {
		return false
	}
	p.repo.dropEntry(q)
	p.record(actor, "removed_from_merge_queue", func(e *event) {
		if e.message, e.group = "manual", q.group; actor.login == queueBot {
			e.message = "failed_checks"
		}
	})
	p.touch()
	return true
}

// dropEntry forgets an entry and its branch.
func (r *Repo) dropEntry(q *queueEntry) {
	r.queue = without(r.queue, q)
	delete(r.hub.nodes, q.nodeID)
	if q.group != "" {
		_ = r.git.deleteRef("refs/heads/" + q.branch()) // what is gone is gone
	}
}

// stepQueue takes an entry one step further, as GitHub would: it builds the group, waits for its
// checks, and lands it. An entry whose group conflicts or whose checks failed falls out. What has
// to wait is an error.
func (r *Repo) stepQueue(q *queueEntry) error {
	bot := r.hub.queueUser()
	tip, _ := r.git.head(q.pull.baseRef)
	if q.group != "" && q.base != tip && q.position() == 1 {
		_ = r.git.deleteRef("refs/heads/" + q.branch()) // it is built again on the new base
		q.state, q.group, q.base = queued, "", ""
	}
	if q.group == "" && (q.state == awaitingChecks || q.state == queueMergeable) {
		q.state = queued // it was put there by hand
	}
	switch q.state {
	case queued:
		return r.buildGroup(bot, q)
	case awaitingChecks:
		return r.judgeGroup(bot, q)
	case queueMergeable:
		return r.landGroup(bot, q)
	case unmergeable:
		q.pull.leaveQueue(bot)
		return nil
	case queueLocked:
		return fmt.Errorf("the queue's entry of %d is locked", q.pull.number)
	}
	return fmt.Errorf("the queue's entry of %d is %q", q.pull.number, q.state)
}

// buildGroup makes the commit that is to land, on what stands before the entry.
func (r *Repo) buildGroup(bot *user, q *queueEntry) error {
	base, _ := r.git.head(q.pull.baseRef)
	for _, o := range r.queue {
		if o == q {
			break
		}
		if o.pull.baseRef == q.pull.baseRef && o.group != "" {
			base = o.group
		}
	}
	oid, clean, err := r.mergeCommit(bot, q.pull, mergeOrder{method: r.queueMethod(q.pull.baseRef)}, base, q.pull.headOID())
	if err != nil {
		return err
	}
	if !clean {
		q.state = unmergeable
		return nil
	}
	q.base, q.group, q.state = base, oid, awaitingChecks
	if err := r.git.setRef("refs/heads/"+q.branch(), oid, ""); err != nil {
		return err
	}
	r.acceptPush(bot)
	return nil
}

// judgeGroup looks at the required checks of the group's commit.
func (r *Repo) judgeGroup(bot *user, q *queueEntry) error {
	for _, d := range r.demands(q.pull.baseRef) {
		for _, name := range d.Checks {
			switch state := r.checkState(q.group, name); state {
			case "":
			case "failing":
				q.pull.leaveQueue(bot)
				return nil
			default:
				return fmt.Errorf("the queue waits for %q on the group of %d, which is %s", name, q.pull.number, state)
			}
		}
	}
	q.state = queueMergeable
	return nil
}

// landGroup moves the base to the group's commit.
func (r *Repo) landGroup(bot *user, q *queueEntry) error {
	if q.position() > 1 {
		return fmt.Errorf("the queue's entry of %d waits for those before it", q.pull.number)
	}
	oid, err := r.otherTree(q.group)
	if err != nil {
		return err
	}
	head := q.pull.headOID()
	r.dropEntry(q)
	if e := r.land(bot, q.pull, halfMerge{bot, oid, q.base, head}); e != nil {
		return e
	}
	return nil
}

// queueUser is the account that merges through queues, made when it is first needed.
func (h *Hub) queueUser() *user {
	if u := h.user(queueBot); u != nil {
		return u
	}
	return h.makeUser(queueBot, "Bot")
}
