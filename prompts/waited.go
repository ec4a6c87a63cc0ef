package prompts

// waited begins the prompt of a turn that goes on after people said more.
func waited(f fencer, c Context) string {
	if c.Waited == "" {
		return ""
	}
	text := "This goes on with work that waited for people, for this reason:\n" + f.data("why it waited", c.Waited) + "\n"
	if len(c.NewEvents) > 0 {
		text += "What they said since stands below, under what is new.\n"
	}
	return text + "\n"
}
