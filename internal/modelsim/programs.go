package modelsim

import "os"

// Programs is the folder of the real codex and claude, and of four programs that
// speak the Agent Client Protocol, which MERGEXO_AGENT_CLIS names:
// script/agent-tests and CI set it to where script/agent-clis installed them. Elsewhere no test runs them, for that takes as long as most others together;
// why says so, for a test to skip with. Where the variable promises one, a program
// that is missing is the test's failure.
func Programs() (dir, why string) {
	dir, told := os.LookupEnv("MERGEXO_AGENT_CLIS")
	switch {
	case !told:
		return "", "script/agent-tests runs the real codex and claude, and so does CI"
	case dir == "":
		return "", "codex and claude could not be installed when this run began: script/agent-clis said why"
	}
	return dir, ""
}
