package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// tablePace is how long the comment with the table of a roadmap stays as it is, at least, while issues are only
// counted.
const tablePace = 5 * time.Minute

// tables makes the comments that show roadmaps on their issues, where one may be out of date, and tells
// about issues that are ready and on which nobody has worked for a day.
func (p *Plan) tables(v known.Snapshot) {
	for _, s := range v.Tables {
		idle, tell, next := s.Look(v.Now, v.Policy.RemindAfter)
		token := work.TableToken(v.Repo.Key(), s.Number)
		marks := work.Marks{Token: token, Nodes: work.MarkNodes(s.Mark())}
		a := work.Action{
			RepoID: v.Repo.ID, ItemID: s.ItemID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
			Number: s.Number, Extra: s.Turning(), Body: v.Policy.Mark(roadmap.Table(s.Record, s.Issues, TableWords(v)), marks), Why: "the roadmap",
		}
		switch {
		case s.Last.SentAt.IsZero(), s.Last.Extra != a.Extra:
		case s.Last.State.Settled():
			a.NotBefore = s.Last.SentAt.Add(tablePace)
		default: // it may be a turn of the roadmap, which no count delays
			a.NotBefore = s.Last.NotBefore
		}
		p.add(change.Table{Item: s.ItemID, Action: a, Idle: idle, Next: next})
		isMerged := func(n roadmap.Neglected) bool {
			return slices.ContainsFunc(s.Issues, func(i roadmap.Issue) bool { return i.Ref == n.Ref && i.Progress == roadmap.Landed })
		}
		p.tellIdle(v, s, work.WhyRoadmapNobody, slices.DeleteFunc(slices.Clone(tell), isMerged))
		p.tellIdle(v, s, work.WhyRoadmapReopened, slices.DeleteFunc(tell, func(n roadmap.Neglected) bool { return !isMerged(n) }))
	}
}

// tellIdle plans the comment and the notification about issues on which nobody works, or that hold others.
func (p *Plan) tellIdle(v known.Snapshot, s roadmap.Shown, kind work.ReasonKind, tell []roadmap.Neglected) {
	if len(tell) == 0 {
		return
	}
	why := work.Reason{Kind: kind}
	for _, n := range tell {
		why.Names = append(why.Names, v.Short(n.Ref))
		if d, ok := work.ParseDependency(n.Ref, v.Repo.Name); ok && !d.Repo.Equal(v.Repo.Name) {
			why.Name = d.Repo.FullName()
		}
	}
	at := explain.Place{Ignore: v.Policy.Labels.Ignore}
	w := explain.Reason(why, at)
	body := fmt.Sprintf("Since %s %s\n\n- Next step: %s.", work.UTC(tell[0].Since), work.Sentence(w.What), w.Next())
	token := work.NoticeToken(v.Repo.Key(), s.Number, string(kind)+" "+strings.Join(why.Names, " "))
	p.add(change.Notice{
		Action: work.Action{
			RepoID: v.Repo.ID, ItemID: s.ItemID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
			Number: s.Number, Body: v.Policy.Mark(body, work.Marks{Token: token}), Why: "nobody works on a part of the roadmap",
		},
		Words: change.Words{Says: change.Line{Item: s.ItemID, Number: s.Number, What: "notice", Reason: w.What}},
	}, change.Wait{Item: s.ItemID, Wait: work.Wait{Reason: why, Since: tell[0].Since, ToldAt: v.Now}})
}

// TableWords are how the table of a roadmap is written on GitHub.
func TableWords(v known.Snapshot) roadmap.Words {
	at := explain.Place{Ignore: v.Policy.Labels.Ignore}
	return roadmap.Words{Short: v.Short, Clean: v.Policy.Clean, Why: func(r work.Reason) string { return explain.What(r, at) }}
}
