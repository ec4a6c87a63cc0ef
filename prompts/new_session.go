package prompts

// ForNewSession tells a prompt to a new session that resumes in the middle of a
// task.
func ForNewSession(prompt string) string {
	return prompt + "\nAn earlier session worked on this task and ended early. Look at what it may have left in the files before you begin.\n"
}
