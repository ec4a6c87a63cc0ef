package work

import "time"

// Word is what decides besides its author whether a comment or the text of a review counts. GitHub's
// lists do not have it.
type Word struct {
	Known    bool      // GitHub was asked
	Editor   Account   // who edited it last; zero: nobody, or an account that is gone
	EditedAt time.Time // zero: never. A reaction moves the stamp as an edit does
	Hidden   bool      // as spam, off topic, abuse, outdated, resolved or a duplicate
}

// Ignored returns the outcome of a text that does not count; "" if it counts. Everybody with the role
// Write may edit anybody's text, so a text is its author's only if nobody else edited it last.
func (w Word) Ignored(author Account) string {
	switch {
	case w.Editor != (Account{}) && (w.Editor.ID == 0 || w.Editor.ID != author.ID):
		return OutcomeEditedByOther
	case w.Hidden:
		return OutcomeHidden
	}
	return ""
}

// ByWord reports whether an outcome is one of a text that may count later: when its author edits it,
// or when it is shown again.
func ByWord(outcome string) bool { return outcome == OutcomeEditedByOther || outcome == OutcomeHidden }
