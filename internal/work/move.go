package work

// Move is a change of an item's state, allowed by work.Transitions.
type Move struct {
	Item   int64
	Cause  Cause
	To     State
	Reason Reason

	Asked        string // key of the turn whose agent asks; each question is a separate stop
	CommentToken string // token of the comment that already reports the stop; no other is posted
	Passing      bool   // the item does not wait for a person: the next turn is planned immediately
}

// NeedsPerson reports whether the item waits for a person after the move.
func (m Move) NeedsPerson() bool { return m.To.NeedsPerson() && !m.Passing }
