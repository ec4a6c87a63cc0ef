package explain

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// next is what to do about a reason, as templates. nil: it ends by itself.
type next func(Place) Words

// step is for what happens next.
func step(resume string) next { return stepAfterFix("", resume) }

// stepAfterFix is for what a person can do, and how the work resumes then.
func stepAfterFix(fix, resume string) next {
	return func(Place) Words { return Words{Fix: fix, Resume: resume} }
}

// retried is stepAfterFix for reasons that /mergexo retry also resolves.
func retried(fix, resume string) next {
	return func(Place) Words { return Words{Fix: fix, Resume: resume, Retry: true} }
}

// again is for reasons after which a comment starts another attempt.
func again(p Place) Words {
	if p.Pull {
		return Words{Resume: "comment on the pull request to retry", Retry: true}
	}
	return Words{Resume: "say more in a comment on the issue, or remove the label and set it again to start over", Retry: true}
}

// mend is again for a document that people can mend, too.
func mend(p Place) Words {
	w := again(p)
	if p.Pull {
		w.Resume = "push the document without these faults, or " + w.Resume
	}
	return w
}

// fix is for reasons that a person must fix first.
func fix(what string) next {
	return retried(what, "comment to retry")
}

// answer is for questions that people answer with text. Another attempt without an answer would ask
// the same.
func answer(how string) next {
	return func(p Place) Words {
		if p.Pull {
			return Words{Resume: how + " in a comment on the pull request"}
		}
		return Words{Resume: how + " in a comment on the issue"}
	}
}

// rephrase is for a task that a model refused.
func rephrase(p Place) Words {
	return Words{Resume: answer("say differently what is wanted")(p).Resume + "; or choose another agent for the repository", Retry: true}
}

// sayWhatToDo is for problems that an agent tried and failed to solve.
func sayWhatToDo(Place) Words {
	return Words{Resume: "say in a comment on the pull request what to do", Retry: true}
}

// startAnyway is for an implementation that a comment starts even though its dependencies are open.
func startAnyway(resume string) next {
	return retried("", resume)
}

// relabel is for content that nobody with write permission has reviewed in its current form. A
// comment does not confirm it, because its author may not have read it.
func relabel(first string) next {
	return step(first + ", then remove the label {label} and add it again")
}

// restartReviews is for reviews that agents gave up. A reviewer's verdict restarts them too.
var restartReviews = step("{retry} to restart the agents, as a verdict of one of its reviewers does; or merge or close it")

// keepOn explains how to continue after a turn reached a limit.
func keepOn(Place) Words {
	return Words{Resume: "its changes so far are kept; comment to have another turn continue from there, or raise the limit in the config first", Retry: true}
}

// askedAgain is for what a later pass reads again.
func askedAgain(Place) Words {
	return Words{Resume: "asked again after {stamp}|the next pass asks again"}
}

func turnLimit(r work.Reason, _ Place, w Words) Words {
	ended := "its agent is not run again: "
	if r.Count > 0 {
		ended = "its agent was stopped: "
	}
	w.What = ended + w.What
	return w
}

func testsAdvice(r work.Reason, _ Place, w Words) Words {
	if r.Advice != "" {
		w.What += ". " + r.Advice
	}
	return w
}

func changeAdvice(r work.Reason, _ Place, w Words) Words {
	if r.Advice != "" {
		w.Resume = r.Advice
	}
	return w
}

// failed adds the last error, for this machine, and what to check if the agent itself failed.
func failed(r work.Reason, p Place, w Words) Words {
	if r.Kind == work.WhyFailed && r.Text != "" {
		advice := "see that the agent works there"
		if r.Advice != "" {
			advice += " (" + r.Advice + ")"
		}
		n := fix(advice)(p)
		w.Fix, w.Resume, w.Retry = n.Fix, details{r, p}.fill(n.Resume), n.Retry
	}
	w.Whole = fmt.Sprintf("it failed %d times, at last with: %s", r.Count, r.Local)
	return w
}

// wholly shows this machine the details after a text, instead of What and Local.
func wholly(before string) func(work.Reason, Place, Words) Words {
	return func(r work.Reason, p Place, w Words) Words {
		w.Whole = details{r, p}.fill(before) + r.Local
		return w
	}
}

// pauseEnd is for one item of a list: since when and why is shown once, above the list.
func pauseEnd(r work.Reason, _ Place, w Words) Words {
	if r.At == 0 && r.Text == "" {
		w.What = "the end of the pause of everything"
	}
	return w
}

func sandboxRequired(r work.Reason, p Place, w Words) Words {
	if r.Name == string(work.SandboxRequired) {
		w.What = fmt.Sprintf("sandbox = %q, and no sandbox that hides files works on the machine that runs gh mergexo: %s", r.Name, r.Text)
		w.Fix = r.Advice + `, or set sandbox = "auto" in its config to work without one`
	}
	return w
}

func checksHidden(r work.Reason, _ Place, w Words) Words {
	if len(r.Names) == 0 {
		w.What = "the checks cannot be seen with this token, and GitHub does not report it as mergeable"
		w.Fix = "give gh a token that may read checks"
		w.Resume = "it is merged once GitHub reports it as mergeable, and " + w.Resume + " looks at once"
	}
	return w
}

func checksOverdue(r work.Reason, p Place, w Words) Words {
	if r.At > 0 {
		d := details{r, p}
		w.What = d.fill("{checks} failed or was cancelled, and nobody has run it again for {waited}")
		w.Fix, w.Resume = "have it run again, or push a fix", d.fill("{retry}, or wait: it is merged once that is green")
	}
	return w
}

func personNeeded(r work.Reason, _ Place, w Words) Words {
	const head = "a person has to approve this head: "
	switch {
	case r.Name == "critical_paths" && len(r.Names) == 1 && r.Names[0] == "?":
		w.What = head + "what it changes is not known, and critical_paths is set"
	case r.Name == "critical_paths":
		w.What = head + "it changes " + strings.Join(r.Names, ", ") + " (critical_paths)"
	case r.Name == "agent_files" && len(r.Names) == 1 && r.Names[0] == "?":
		w.What = head + "what it changes is not known, and it may be files that agents obey"
	case r.Name == "agent_files":
		w.What = head + "it changes " + strings.Join(r.Names, ", ") + ", which agents obey"
	case r.Name == "order_files":
		w.What = head + "it changes " + strings.Join(r.Names, ", ") + ", from which gh mergexo, GitHub or a merge bot takes orders"
	case r.Name == "deletions" && len(r.Names) > 0:
		w.What = fmt.Sprintf("%sit deletes all %d files of %s", head, r.Count, r.Names[0])
	case r.Name == "deletions":
		w.What = fmt.Sprintf("%sit deletes %d of %.0f files", head, r.Count, r.Limit)
	}
	if r.Branch != "" {
		w.What += fmt.Sprintf("; its base `%s` was changed or rewritten since it was approved", r.Branch)
	}
	return w
}

func dueToQueue(r work.Reason, _ Place, w Words) Words {
	if r.Name == string(work.ActionEnqueue) {
		w.What = fmt.Sprintf("a pass puts it into the merge queue of `%s`", r.Branch)
	}
	return w
}

// budget says which budget is spent and, if costs may be shown, how much was spent.
func budget(r work.Reason, p Place) string {
	spends := ""
	switch r.Name {
	case work.MaxTurnsPerItem: // a number of turns may always be shown
		return fmt.Sprintf("it has had %s; %s is %.0f", tries(int(r.Used), r.Begun), r.Name, r.Limit)
	case work.MaxFeedbackRounds:
		return fmt.Sprintf("comments were answered in %s, and an item has %.0f for that", work.Count(int(r.Used), "turn"), r.Limit)
	case work.MaxTurnsPerDay:
		return fmt.Sprintf("%s began in the last 24 hours; %s is %.0f", work.Count(int(r.Used), "turn"), r.Name, r.Limit)
	case work.MaxCostPerItem:
		spends = fmt.Sprintf("its agents have cost %s; %s is %.2f", spending.Cost(r.Used, r.Count), r.Name, r.Limit)
	case work.MaxCostPerTurn:
		spends = fmt.Sprintf("this turn has cost %s; %s is %.2f", spending.Cost(r.Used, 0), r.Name, r.Limit)
	case work.MaxCostPerDay:
		spends = fmt.Sprintf("the turns of the last 24 hours have cost %s; %s is %.2f", spending.Cost(r.Used, r.Count), r.Name, r.Limit)
	case work.MaxCostOfRoadmap:
		spends = fmt.Sprintf("its issues have cost %s; %s is %.2f", spending.Cost(r.Used, r.Count), r.Name, r.Limit)
	case work.MaxTokensPerTurn:
		spends = fmt.Sprintf("this turn has used %.0f tokens, and a turn has %.0f", r.Used, r.Limit)
	}
	if p.Spending && spends != "" && r.Limit > 0 { // 0: the comment that the reason was read from does not have it
		return spends
	}
	if r.Name == work.MaxTokensPerTurn {
		return "the limit of a turn's tokens is reached"
	}
	return r.Name + " in the config is reached"
}

// tries says how many turns and attempts an item had.
func tries(attempts, begun int) string {
	if attempts == begun {
		return work.Count(begun, "turn")
	}
	return work.Count(begun, "turn") + " in " + work.Count(attempts, "attempt")
}
