package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
)

// standings say where an item is that nothing is wrong with.
var standings = table{
	work.WhyHalted: func(r work.Reason, _ Place) Words {
		if r.At == 0 && r.Text == "" { // of one item: since when and why is said once, above all items
			return Words{What: "the end of the pause of everything", Resume: "`gh mergexo resume --all` ends the pause"}
		}
		since, why := "", ""
		if r.At != 0 {
			since = " since " + work.UTC(at(r))
		}
		if r.Text != "" {
			why = " (" + r.Text + ")"
		}
		return Words{What: "everything on this machine is paused" + since + why, Resume: "`gh mergexo resume --all` ends the pause"}
	},
	work.WhyPaused: func(r work.Reason, p Place) Words {
		return Words{
			What:   fmt.Sprintf("paused by %s since %s", r.Who, at(r).UTC().Format("2006-01-02 15:04:05 UTC")),
			Resume: fmt.Sprintf("take %s away, or %s", orLabel(p.Ignore), p.give(command.VerbResume)),
		}
	},
	work.WhyTriedAgain: func(r work.Reason, _ Place) Words {
		return Words{What: "a new attempt (`gh mergexo show` says why, where it runs)", Whole: r.Local}
	},
	work.WhyRunning: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("the agent: %s in slot %d", r.Name, r.Number), Resume: "its answer is checked and sent"}
	},
	work.WhyInterrupted: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("a pass: no agent works now, and %s has no answer yet", r.Name), Resume: "the next pass resumes it"}
	},
	work.WhyToBeSent: func(work.Reason, Place) Words {
		return Words{What: "a pass: the agent has answered", Resume: "the answer is pushed and sent"}
	},
	work.WhyPushed: func(work.Reason, Place) Words {
		return Words{What: "a pass: the commit is pushed", Resume: "comments are sent, the turn closes"}
	},
	work.WhyFreeSlot: func(r work.Reason, _ Place) Words {
		return Words{What: "a pass with a free slot", Resume: Turn(work.Kind(r.Name))}
	},
	work.WhyToAnswer: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("a pass: %s to answer", work.Count(r.Count, "event")), Resume: "a turn answers on GitHub"}
	},
	work.WhyPeople: func(r work.Reason, p Place) Words {
		return Words{What: fmt.Sprintf("people on %s#%d", p.Repo, r.Number), Resume: "comment, merge or close it"}
	},
	work.WhyReply: func(work.Reason, Place) Words {
		return Words{What: "an answer on the issue", Resume: "the answer makes a turn"}
	},
	work.WhyQuiet: func(r work.Reason, _ Place) Words {
		return Words{What: "the quiet period after the last comment ends at " + stamp(r), Resume: "a turn answers on GitHub"}
	},
	work.WhyDepends: func(r work.Reason, _ Place) Words {
		return Words{What: "it depends on " + work.JoinNames(r.Names), Resume: "it begins once they are closed"}
	},
	work.WhyCollides: func(r work.Reason, _ Place) Words {
		return Words{What: "it would collide with what is under way; its score is " + r.Text, Resume: "it begins once its score is above 0"}
	},
	work.WhyNoSlot: func(r work.Reason, _ Place) Words {
		return Words{What: "every slot is taken; its score is " + r.Text, Resume: "a slot that is free"}
	},
	work.WhyFeedbackOff: func(r work.Reason, _ Place) Words {
		what := work.Count(r.Count, "comment")
		if len(r.Names) > 0 {
			what = strings.Join(r.Names, "; ")
		}
		return Words{What: what + ", and enable_feedback_loop is false", Resume: "merge it or close it, or set enable_feedback_loop to true"}
	},
	work.WhyIssueOff: func(r work.Reason, p Place) Words {
		return Words{What: work.Count(r.Count, "comment") + ", and enable_issue_comment_routing is false", Resume: startOver(p)}
	},
	work.WhyRepoWaits: func(r work.Reason, _ Place) Words {
		what := fmt.Sprintf("GitHub: %s cannot be read", r.Name)
		return Words{What: what, Whole: what + ": " + r.Local, Resume: askedAgain(r)}
	},
	work.WhyPullWaits: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("GitHub: pull request #%d cannot be read", r.Number), Whole: "GitHub: " + r.Local, Resume: askedAgain(r)}
	},
	work.WhyPullOpens: func(r work.Reason, _ Place) Words {
		return Words{What: "the pull request is being opened; then it is closed, as " + r.Who + " asked"}
	},
	work.WhyPullCloses: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("pull request #%d is being closed, as %s said", r.Number, r.Who)}
	},
	work.WhyMerged:       func(work.Reason, Place) Words { return Words{Resume: "nothing"} },
	work.WhyDesignMerged: func(work.Reason, Place) Words { return Words{Resume: "its implementation is an item of its own"} },
	work.WhyClosed: func(r work.Reason, _ Place) Words {
		return Words{What: r.Text, Resume: "nothing; set the label again to start over"}
	},
}

// Turn is one with its article.
func Turn(kind work.Kind) string {
	if strings.HasPrefix(string(kind), "i") {
		return "an " + string(kind) + " turn"
	}
	return "a " + string(kind) + " turn"
}

func orLabel(name string) string {
	if name == "" {
		return "the label agent:ignore"
	}
	return name
}

func askedAgain(r work.Reason) string {
	if r.At == 0 {
		return "the next pass asks again"
	}
	return "asked again after " + stamp(r)
}

func at(r work.Reason) time.Time { return time.UnixMilli(r.At) }

func stamp(r work.Reason) string { return work.Stamp(at(r)) }
