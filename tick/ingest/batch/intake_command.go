package batch

import (
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Decline tells somebody who may not command that this is so: once in a
// repository, politely, and then never again.
func (h *Batch) Decline(e work.Event) {
	if e.Author.ID == 0 {
		return // the account was deleted
	}
	token := work.NoticeToken(h.Repo.Key(), 0, "may not command "+strconv.FormatInt(e.Author.ID, 10))
	body := "Thank you, but `/mergexo` commands are for people with write permission on this repository, so nothing was done. " +
		"Please ask one of them to give the command. Further commands will be ignored."
	h.Declined = append(h.Declined, work.Action{
		RepoID: h.Repo.ID, ItemID: e.ItemID, Kind: work.ActionComment, Need: work.NeedCosmetic, Token: token, State: work.ActionPlanned,
		Number: e.Number, Body: work.Mark(body, work.Marks{Token: token}), Why: "a command by " + e.Author.Login + ", who may not give any",
	})
}
