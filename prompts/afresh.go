package prompts

// Afresh tells a prompt to a new session that takes over in the middle of a
// task.
func Afresh(prompt string) string {
	return prompt + "\nAn earlier session worked on this task and ended early. Look at what it may have left in the files before you begin.\n"
}
