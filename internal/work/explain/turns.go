package explain

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// turns are the reasons for which a turn is not tried once more.
var turns = table{
	work.WhyFailed: func(r work.Reason, p Place) Words {
		if r.Text == "" {
			w := again(fmt.Sprintf("it failed %d times. Why is in the log of the machine that runs it, and `gh mergexo show` says it there", r.Count), p)
			w.Whole = fmt.Sprintf("it failed %d times, at last with: %s", r.Count, r.Local)
			return w
		}
		what := fmt.Sprintf("the agent %s, %d times. What it printed is in the log of the machine that runs it", r.Text, r.Count)
		w := fixed(what, joined("see that the agent works on that machine", r.Advice), p)
		w.Whole = fmt.Sprintf("it failed %d times, at last with: %s", r.Count, r.Local)
		return w
	},
	work.WhyLimitPassed: func(r work.Reason, p Place) Words {
		w := fixed(fmt.Sprintf("the agent %s, %d times", r.Text, r.Count), r.Advice, p)
		w.Whole = fmt.Sprintf("it failed %d times, at last with: %s", r.Count, r.Local)
		return w
	},
	work.WhyUnknown: func(_ work.Reason, p Place) Words { return again("no reason given", p) },
	work.WhyNeverAnswered: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("its agent was started %d times and never answered: passes were ended while it worked, by a signal, a shutdown or for lack of memory", r.Count),
			"see that a pass may run as long as `turn_timeout` in the config (a `timeout` in cron ends it earlier)", p)
	},
	work.WhyItemBudget: func(r work.Reason, p Place) Words {
		return Words{What: budget(r, p), Resume: startOver(p) + "; both reset its budgets"}
	},
	work.WhyTurnLimit: func(r work.Reason, p Place) Words {
		ended := "its agent is not run again"
		if r.Count > 0 {
			ended = "its agent was ended"
		}
		if !p.Pull && !p.Comments {
			return Words{What: ended + ": " + budget(r, p), Fix: "what it made so far is kept; raise the limit in the config where it is too low", Resume: startOver(p)}
		}
		return Words{
			What:   ended + ": " + budget(r, p),
			Resume: "what it made so far is kept; comment to have another turn continue from there, or raise the limit in the config first", Retry: true,
		}
	},
}

// budget says which budget leaves nothing and, where that may be told, what was spent
// of it.
func budget(r work.Reason, p Place) string {
	spends := ""
	switch r.Name {
	case work.MaxTurnsPerItem: // what is no money may be told
		return fmt.Sprintf("it has had %s; %s is %.0f", tries(int(r.Used), r.Begun), r.Name, r.Limit)
	case work.MaxFeedbackRounds:
		return fmt.Sprintf("comments were answered in %s; %s is %.0f", work.Count(int(r.Used), "turn"), r.Name, r.Limit)
	case work.MaxTurnsPerDay:
		return fmt.Sprintf("%s began in the last 24 hours; %s is %.0f", work.Count(int(r.Used), "turn"), r.Name, r.Limit)
	case work.MaxCostPerItem:
		spends = fmt.Sprintf("its agents have cost %.2f USD; %s is %.2f", r.Used, r.Name, r.Limit)
	case work.MaxCostPerTurn:
		spends = fmt.Sprintf("this turn has cost %.2f USD; %s is %.2f", r.Used, r.Name, r.Limit)
	case work.MaxCostPerDay:
		spends = fmt.Sprintf("the turns of the last 24 hours have cost %.2f USD; %s is %.2f", r.Used, r.Name, r.Limit)
	case work.MaxTokensPerTurn:
		spends = fmt.Sprintf("this turn has used %.0f tokens; %s is %.0f", r.Used, r.Name, r.Limit)
	}
	if p.Spending && spends != "" && r.Limit > 0 { // 0: the comment that it was read from does not tell
		return spends
	}
	return r.Name + " in the config is reached"
}

// tries says how often an item's agents were set to work.
func tries(attempts, begun int) string {
	if attempts == begun {
		return work.Count(begun, "turn")
	}
	return work.Count(begun, "turn") + " in " + work.Count(attempts, "attempt")
}

func joined(fix, more string) string {
	if more == "" {
		return fix
	}
	return fix + " (" + more + ")"
}
