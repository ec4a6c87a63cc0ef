package folder

// LiveTurns are the turns that a living pass works on, by their keys: those that
// held slots name. Nothing else proves that somebody works, and no row does.
func (d Dirs) LiveTurns() (map[string]bool, error) {
	held, err := d.HeldSlots()
	if err != nil {
		return nil, err
	}
	live := map[string]bool{}
	for _, h := range held {
		if h.Turn != "" {
			live[h.Turn] = true
		}
	}
	return live, nil
}
