package explain

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// machine are the reasons that lie with the machine that runs the pass, its agents and
// its config.
var machine = table{
	work.WhyAgentMissing: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("The program of agent %q, %q, cannot be started on the machine that runs gh mergexo.", r.Who, r.Name), r.Advice, p)
	},
	work.WhyAgentRelative: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("The program of agent %q, %q, is given relative to a checkout, where the repository could put one of its own.", r.Who, r.Name),
			fmt.Sprintf("write its absolute path into command of [agents.%s]", r.Who), p)
	},
	work.WhyAgentNotStarted: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("The program of agent %q, %q, could not be started on the machine that runs gh mergexo.", r.Who, r.Name),
			fmt.Sprintf("correct command of [agents.%s], or the interpreter on the program's first line", r.Who), p)
	},
	work.WhyAgentShutOut: func(r work.Reason, p Place) Words {
		what := fmt.Sprintf("The program of agent %q, %q, could not be started in its sandbox: %s", r.Who, r.Name, r.Text)
		if r.Text == "" {
			what = fmt.Sprintf("the program %s is not visible in the sandbox of agent %q", r.Name, r.Who)
		}
		return fixed(what, letIn(r.Who), p)
	},
	work.WhyInterpreterShutOut: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("%s, which %s needs, is not visible in the sandbox of agent %q", r.Name, r.Text, r.Who), letIn(r.Who), p)
	},
	work.WhyNotOnPath: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("%q, which the program of agent %q needs, is not on the PATH that gh mergexo was started with", r.Name, r.Who),
			fmt.Sprintf("add the folder of %s to PATH (under cron: on a PATH line of the crontab) on the machine that runs gh mergexo", r.Name), p)
	},
	work.WhyAgentUnable: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("Agent %q cannot work on the machine that runs gh mergexo: its program does not start, or nothing can run or be written in its sandbox. No tokens were used.", r.Who),
			fmt.Sprintf("on that machine `gh mergexo show` has the details; update the agent's program, or change sandbox or readable of [agents.%s] in the config", r.Who), p)
	},
	work.WhyAgentLimit: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("Agent %q reached a limit that its config sets.", r.Who), fmt.Sprintf("raise it in args of [agents.%s], or ask for less", r.Who), p)
	},
	work.WhyAgentLoggedOut: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("The provider of agent %q refused its credentials.", r.Who),
			fmt.Sprintf("%s, or name the variable that holds the key in env_pass of [agents.%s], on the machine that runs gh mergexo", r.Advice, r.Who), p)
	},
	work.WhyAgentNoCredit: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("The account of agent %q has no credit left, or its plan does not include this.", r.Who),
			fmt.Sprintf("add credit with the provider, or choose another account or agent ([agents.%s] in the config of the machine that runs gh mergexo)", r.Who), p)
	},
	work.WhyAgentNoModel: func(r work.Reason, p Place) Words {
		model := "the default model of its program"
		if r.Name != "" {
			model = fmt.Sprintf("the model %q", r.Name)
		}
		return fixed(fmt.Sprintf("The provider of agent %q does not offer %s to this account.", r.Who, model),
			fmt.Sprintf("correct model of [agents.%s] in the config of the machine that runs gh mergexo", r.Who), p)
	},
	work.WhyAgentDeclined: func(r work.Reason, p Place) Words {
		return Words{
			What:   fmt.Sprintf("The model of agent %q refused the task.", r.Who),
			Resume: asked("", "say differently what is wanted", p).Resume + "; or choose another agent for the repository", Retry: true,
		}
	},
	work.WhyTestsMissing: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("the required tests cannot be started: their program %q is not there, or cannot be run", r.Name),
			"install it on the machine that runs gh mergexo, or correct required_tests in its config", p)
	},
	work.WhyTestsShutOut: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("the required tests cannot be started in the sandbox: their program %q is not visible there (%s)", r.Name, r.Text), letIn(r.Who), p)
	},
	work.WhySandboxMissing: func(r work.Reason, p Place) Words {
		if r.Name == string(work.SandboxRequired) {
			return fixed(fmt.Sprintf(`sandbox = %q, and no sandbox that hides files works on the machine that runs gh mergexo: %s`, r.Name, r.Text),
				r.Advice+`, or set sandbox = "auto" in its config to work without one`, p)
		}
		return fixed(fmt.Sprintf(`sandbox = %q is asked for, and does not work on the machine that runs gh mergexo: %s`, r.Name, r.Text),
			`make it work there, or set sandbox = "auto" or "none" in its config`, p)
	},
}

// letIn is what to do about a program that a sandbox does not show.
func letIn(agent string) string {
	return fmt.Sprintf("name its folder in readable of [agents.%s] in the config (`gh mergexo sandbox show %s` lists what is let in)", agent, agent)
}
