//go:build unix

package crashtest

// startBranch is the branch that issue 1's start is pushed to.
const startBranch = "agent/bugfix/1-crash-on-start"

// cannotPush has the remote refuse what an issue's start made.
func cannotPush(w *world) error {
	return w.repo.RefusePushes(startBranch, "no pushes today")
}

// commandRetry takes away what was in the way and says so.
func commandRetry(w *world) error {
	if err := w.repo.AllowPushes(); err != nil {
		return err
	}
	return says(1, "/mergexo retry")(w)
}

// commandRetryOfAQuestion mends what the agent asked about, and has it work
// again without an answer.
func commandRetryOfAQuestion(w *world) error {
	w.mended.Store(true)
	return says(1, "/mergexo retry")(w)
}

// commandCancel cancels the work that somebody has just asked to be changed.
func commandCancel(w *world) error {
	return steps(commentOn(pullNumber), says(pullNumber, "/mergexo cancel"))(w)
}

// says has somebody say something, later than all that was said before.
func says(number int, said string) func(*world) error {
	return func(w *world) error {
		w.later.Add(2) // GitHub's stamps are whole seconds
		_, err := w.repo.Comment(number, "bob", said)
		return err
	}
}
