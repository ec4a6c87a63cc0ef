//go:build unix

package crashtest

// takeOver has people pause the work and resume it before any pass looks: what they
// said before and after is answered, what they said during the pause never.
func takeOver(w *world) error {
	at := func(do func() error) func(*world) error {
		return func(w *world) error {
			w.later.Add(2) // GitHub's stamps are whole seconds
			return do()
		}
	}
	comment := func(number int, body string) func() error {
		return func() error {
			_, err := w.repo.Comment(number, "bob", body)
			return err
		}
	}
	return steps(
		at(comment(pullNumber, "Said before.")),
		at(func() error { return w.repo.Label(pullNumber, "bob", ignoreLabel) }),
		at(comment(pullNumber, "Said meanwhile.")),
		at(comment(1, "Said on the issue meanwhile.")),
		at(func() error {
			_, err := w.repo.ReviewComment(pullNumber, "bob", madeFile, 1, "Said on the diff meanwhile.")
			return err
		}),
		personPushes,
		at(func() error { return w.repo.Unlabel(pullNumber, "bob", ignoreLabel) }),
		at(comment(pullNumber, "Said after.")),
	)(w)
}
