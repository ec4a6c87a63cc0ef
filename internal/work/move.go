package work

// Move is a change of an item's state, as the table of its life allows it
// (work.Transitions).
type Move struct {
	Item   int64
	Cause  Cause
	To     State
	Reason Reason

	Asked   string // key of the turn whose agent asks: what it asks is a stop of its own
	Told    string // token of the comment that says it to people already: no other is made
	Passing bool   // it stands there for no person: the next turn is planned at once
}

// Stands reports whether the item waits for a person from now on.
func (m Move) Stands() bool { return m.To.Stands() && !m.Passing }
