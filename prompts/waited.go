package prompts

// waited begins the prompt of a turn that resumes after people commented.
func waited(f fencer, c Context) string {
	if c.Waited == "" {
		return ""
	}
	text := "This resumes work that waited for people, for this reason:\n" + f.data("why it waited", c.Waited) + "\n"
	if len(c.NewEvents) > 0 {
		text += "Their comments since then stand below, under \"New events\".\n"
	}
	return text + "\n"
}
