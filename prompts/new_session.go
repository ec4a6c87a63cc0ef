package prompts

// ForNewSession adds to a prompt that it continues a task in a new session.
func ForNewSession(prompt string) string {
	return prompt + "\nAn earlier session worked on this task and ended early. Look at what it may have left in the files before you begin.\n"
}
