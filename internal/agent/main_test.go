package agent_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "answer-tool" { // started by an agent's program
		os.Exit(cmd.Main(cmd.Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
	}
	if err := testhome.SideBySide(4); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testhome.InShort(
		"TestRequestAndAnswerFollowTheProtocol", "TestEnvironmentHoldsNoCredential",
		"TestMissingProgramsAreForAPerson", "TestNewRefusesWhatItCannotRun", "TestSecretsAreRedactedInTheLog",
		"TestLogins", "TestARefusedAnswerIsCorrectedInTheSameRun",
		"TestTheAnswerCountsNotTheExitCode", "TestAbsentIsNotZero", "TestVersionsThatDrift", "TestWaitsAreBounded",
	)
	os.Exit(m.Run())
}
