package githubsim

import (
	"fmt"
	"net/http"
	"slices"
)

// QueueEntry is what a reader sees of a merge queue's entry.
type QueueEntry struct {
	Number   int
	State    string // QUEUED, AWAITING_CHECKS, MERGEABLE, UNMERGEABLE or LOCKED
	Position int
	Group    string // the commit that is to land; "" before it was built
}

// Queue reads the merge queue, in its order.
func (r *Repo) Queue() []QueueEntry {
	defer r.hub.enter()()
	var out []QueueEntry
	for _, q := range r.queue {
		out = append(out, QueueEntry{Number: q.pull.number, State: string(q.state), Position: q.position(), Group: q.group})
	}
	return out
}

// Enqueue puts a pull request into its base's merge queue.
func (r *Repo) Enqueue(number int, actor string) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError {
		_, e := r.enqueue(u, p, "", false)
		return e
	})
}

// Dequeue takes a pull request out of the merge queue, as that person.
func (r *Repo) Dequeue(number int, actor string) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError {
		if !p.leaveQueue(u) {
			return refusal(http.StatusNotFound, fmt.Sprintf("%d is in no queue", number))
		}
		return nil
	})
}

// StepQueue takes an entry one step further: its group is built, its checks are judged, it lands.
// An entry whose group conflicts is first unmergeable and then out, one with a failed check is out.
// It is an error when it has to wait.
func (r *Repo) StepQueue(number int) error {
	return r.onEntry(number, r.stepQueue)
}

// SetQueueState puts an entry into a state, as LOCKED or UNMERGEABLE, and back.
func (r *Repo) SetQueueState(number int, state string) error {
	all := []queueState{queued, awaitingChecks, queueMergeable, unmergeable, queueLocked}
	if !slices.Contains(all, queueState(state)) {
		return fmt.Errorf("there is no state %q of a merge queue's entry", state)
	}
	return r.onEntry(number, func(q *queueEntry) error {
		q.state = queueState(state)
		return nil
	})
}

func (r *Repo) onEntry(number int, do func(*queueEntry) error) error {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil || p.entry() == nil {
		return fmt.Errorf("%d is in no merge queue", number)
	}
	return do(p.entry())
}
