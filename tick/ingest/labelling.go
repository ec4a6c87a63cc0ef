package ingest

import (
	"fmt"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// What begins work is that somebody set a label, not that it is there: an issue
// form puts it on for any stranger who opens an issue.

// declineLabel says that a label begins nothing: on GitHub once for each person
// in a repository, and in the log.
func (h *Issues) declineLabel(item work.Item, is github.Issue, set github.TimelineEvent, label batch.FlowLabel) {
	refused := batch.Fact(item, work.EventLabelled, is.Number, set, label.Name)
	refused.Event.Outcome = work.OutcomeNoLabeller
	h.Add(refused)
	token := work.NoticeToken(h.Repo.Key(), 0, "may not label "+strconv.FormatInt(set.Actor.ID, 10))
	why := fmt.Sprintf("it was set in the name of %s, who has no triage permission on this repository, as an issue form does", set.Actor.Login)
	if set.Actor.Bot {
		why = fmt.Sprintf("the bot %s set it, and `allowed_users` in the config of gh mergexo does not name it", set.Actor.Login)
	}
	body := fmt.Sprintf("The label `%s` starts no work here: %s. To start, somebody with write permission comments `/mergexo %s`, "+
		"or somebody with triage permission removes the label and adds it again.", label.Name, why, command.Of(label.Flow))
	h.Declined = append(h.Declined, work.Action{
		RepoID: h.Repo.ID, ItemID: item.ID, Kind: work.ActionComment, Need: work.NeedCosmetic, Token: token, State: work.ActionPlanned,
		Number: is.Number, Body: work.Mark(body, work.Marks{Token: token}), Why: "a label set by " + set.Actor.Login + ", who may not triage",
	})
}
