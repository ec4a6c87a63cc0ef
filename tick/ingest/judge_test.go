package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// said is a comment on an issue, minutes after noon; edited is when it changed last.
type said struct {
	id     int64
	by     work.Account
	body   string
	edited int
}

func (s said) candidate() candidate {
	at := noon.Add(time.Duration(s.id) * time.Minute)
	c := commentEvent(work.EventSource, 7, github.Comment{
		ID: s.id, NodeID: fmt.Sprint("node", s.id), Number: 5, Author: s.by, Body: s.body, CreatedAt: at, UpdatedAt: later(at, noon.Add(time.Duration(s.edited)*time.Minute)),
	})
	c.event = work.AsCommand(c.event)
	return c
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// factsOf are facts with GitHub's answers about ann, who may write, and eve, who may not.
func factsOf() *facts {
	return &facts{
		rights: &rights{
			settings: config.Repo{}, operators: func() []int64 { return []int64{us.ID} }, now: func() time.Time { return noon.Add(time.Hour) },
			fresh: map[int64]string{ann.ID: "write", eve.ID: "read"}, stored: map[int64]permission{ann.ID: {}, eve.ID: {}}, pinned: map[string]int64{},
		},
		ours: []int64{us.ID}, answered: func(string) bool { return false },
		known: map[string]store.KnownEvent{}, spots: map[whose]spot{{5, false, 7}: {numbers: []int{5, 6}}}, foreign: map[int]bool{}, fixed: map[int][]int64{},
		sent: map[int64][]work.Action{}, actions: map[string]work.Action{}, words: map[string]work.Word{}, former: map[string]formerVersion{},
		extra: map[string][]int64{}, said: map[int][]github.Comment{5: nil}, reviewsOf: map[int]bool{},
	}
}

// shown makes the last editors of all comments known, as their authors.
func (f *facts) shown(all []candidate) {
	for _, c := range all {
		if _, known := f.words[c.event.Node]; !known {
			f.words[c.event.Node] = work.Word{Known: true}
		}
	}
}

func TestJudge(t *testing.T) {
	bob := work.Account{ID: 4, Login: "bob"}
	token := work.FlowToken(work.Repo{}.Key(), 5)
	robot := work.Account{ID: 9, Login: "robot[bot]", Bot: true}
	answer := func(e candidate) string {
		return work.Mark("Done.", work.Marks{Token: token, Handled: []string{e.event.Key}})
	}
	question := said{id: 1, by: ann, body: "Why?"}
	hold := said{id: 1, by: ann, body: "/mergexo hold"}
	asPaused := func(from, to int) func(*facts) {
		return func(f *facts) {
			p := work.Pause{Number: 6, Began: noon.Add(time.Duration(from) * time.Minute)}
			if to > 0 {
				p.Ended = noon.Add(time.Duration(to) * time.Minute)
			}
			f.spots[whose{5, false, 7}] = spot{numbers: []int{5, 6}, pauses: []work.Pause{p}}
		}
	}
	for name, tt := range map[string]struct {
		said  []said
		given func(*facts)
		want  string // outcomes in the order of the judgement, or what is lacking
	}{
		"a writer's":                               {[]said{question}, nil, "counts"},
		"of somebody who may not write":            {[]said{{id: 1, by: eve, body: "Why?"}}, nil, work.OutcomeNoPermission},
		"of a bot":                                 {[]said{{id: 1, by: robot, body: "Bump."}}, nil, "ignored: bot"},
		"its author was never asked about":         {[]said{{id: 1, by: bob, body: "Why?"}}, nil, "lacks stored"},
		"the stored answer is old":                 {[]said{{id: 1, by: bob, body: "Why?"}}, func(f *facts) { f.rights.stored[bob.ID] = permission{"write", noon} }, "lacks level"},
		"the stored answer is from after it":       {[]said{{id: 1, by: bob, body: "Why?"}}, func(f *facts) { f.rights.stored[bob.ID] = permission{"write", noon.Add(2 * time.Minute)} }, "counts"},
		"a command, refused an hour ago":           {[]said{{id: 1, by: bob, body: "/mergexo retry"}}, func(f *facts) { f.rights.stored[bob.ID] = permission{"read", noon.Add(2 * time.Minute)} }, "lacks level"},
		"a command, refused a minute ago":          {[]said{{id: 1, by: bob, body: "/mergexo retry"}}, func(f *facts) { f.rights.stored[bob.ID] = permission{"read", noon.Add(59 * time.Minute)} }, work.OutcomeNoCommander},
		"whom the config names":                    {[]said{{id: 1, by: eve, body: "Why?"}}, func(f *facts) { f.rights.settings.AllowedUsers = []string{"eve:3"} }, "counts"},
		"a login of the config is another account": {[]said{{id: 1, by: eve, body: "Why?"}}, func(f *facts) { f.rights.settings.AllowedUsers = []string{"eve:77"} }, work.OutcomeTakenOver},
		"a login of the config was never seen":     {[]said{{id: 1, by: eve, body: "Why?"}}, func(f *facts) { f.rights.settings.AllowedUsers = []string{"Eve"} }, "lacks pin"},
		"allowed, but may not merge":               {[]said{{id: 1, by: eve, body: "/mergexo merge"}}, func(f *facts) { f.rights.settings.AllowedUsers = []string{"eve:3"} }, work.OutcomeNoCommander},
		"ours":                                     {[]said{{id: 2, by: us, body: work.Mark("Hello.", work.Marks{Token: token})}}, nil, work.OutcomeOwn},
		"with our marker by another":               {[]said{{id: 2, by: ann, body: work.Mark("Hello.", work.Marks{Token: token})}}, nil, work.OutcomeOthers},
		"of the operator":                          {[]said{{id: 2, by: us, body: "Why?"}}, func(f *facts) { f.rights.fresh[us.ID] = "admin" }, "counts"},
		"which we have answered":                   {[]said{question, {id: 2, by: us, body: answer(question.candidate())}}, nil, "answered, " + work.OutcomeOwn},
		"a comment of ours that a person edited": {[]said{{id: 2, by: us, body: "Other words."}}, func(f *facts) {
			f.sent[7] = []work.Action{{Number: 5, Kind: work.ActionComment, ResultID: "2", Body: "Our words."}}
		}, work.OutcomeOwnEdited},
		"a second copy of ours": {[]said{{id: 2, by: us, body: work.Mark("Hello.", work.Marks{Token: token})}}, func(f *facts) {
			f.actions[token] = work.Action{State: work.ActionApplied, ResultID: "1"}
		}, "lacks copies"},
		"a comment of ours that the operator pasted": {[]said{{id: 2, by: us, body: work.Mark("Hello.", work.Marks{Token: token})}}, func(f *facts) {
			f.actions[token], f.extra[token], f.rights.fresh[us.ID] = work.Action{State: work.ActionApplied, ResultID: "1"}, nil, "admin"
		}, "counts"},
		"on a pull request of others, of anybody": {[]said{{id: 1, by: bob, body: "Why?"}}, func(f *facts) { f.foreign[5] = true }, work.OutcomeTheirs},
		"while a number cannot be read":           {[]said{question, {id: 2, by: ann, body: "/mergexo retry"}}, func(f *facts) { f.unread = map[int]string{6: "502"} }, "counts"},
		"nobody knows who edited it":              {[]said{question}, func(f *facts) { f.words = nil }, "lacks word"},
		"somebody else edited it": {[]said{question}, func(f *facts) {
			f.words["node1"], f.former["node1"] = work.Word{Known: true, Editor: bob}, formerVersion{}
		}, work.OutcomeEditedByOther},
		"it is hidden": {[]said{question}, func(f *facts) { f.words["node1"] = work.Word{Known: true, Hidden: true} }, work.OutcomeHidden},
		"somebody else edited a hold away": {[]said{{id: 1, by: ann, body: "Looks good!", edited: 9}}, func(f *facts) {
			e := hold.candidate().event
			f.words["node1"], f.former["node1"] = work.Word{Known: true, Editor: bob}, formerVersion{event: &e}
		}, "counts, " + work.OutcomeEditedByOther},
		"a hold that a pass has read is edited away": {[]said{{id: 1, by: ann, body: "Looks good!", edited: 9}}, func(f *facts) {
			f.words["node1"], f.former["node1"] = work.Word{Known: true, Editor: bob}, formerVersion{known: true}
		}, work.OutcomeEditedByOther},
		"a command of somebody who may not":     {[]said{{id: 1, by: eve, body: "/mergexo retry"}}, nil, work.OutcomeNoCommander},
		"nobody looked whether it was answered": {[]said{{id: 1, by: ann, body: "/mergexo retry"}}, func(f *facts) { f.said = nil }, "lacks answers"},
		"it was carried out before": {[]said{{id: 1, by: ann, body: "/mergexo cancel"}}, func(f *facts) {
			f.said[5] = []github.Comment{{Author: us, Body: answer(said{id: 1, by: ann, body: "/mergexo cancel"}.candidate())}}
		}, "answered"},
		"in a pause":     {[]said{question}, asPaused(0, 30), work.OutcomePaused},
		"before a pause": {[]said{question}, asPaused(2, 30), "counts"},
		"after a pause":  {[]said{question}, asPaused(-9, 1), "counts"},
		"edited in a pause": {[]said{{id: 1, by: ann, body: "Why?", edited: 9}}, func(f *facts) {
			asPaused(2, 30)(f)
			f.words["node1"] = work.Word{Known: true, EditedAt: noon.Add(9 * time.Minute)}
		}, work.OutcomePaused},
		"a reaction in a pause":                  {[]said{{id: 1, by: ann, body: "Why?", edited: 9}}, asPaused(2, 30), "counts"},
		"after the command that ends the pause":  {[]said{{id: 9, by: ann, body: "Why?"}, {id: 4, by: ann, body: "/mergexo resume"}}, asPaused(0, 0), "counts, counts"},
		"before the command that ends the pause": {[]said{{id: 3, by: ann, body: "Why?"}, {id: 4, by: ann, body: "/mergexo resume"}}, asPaused(0, 0), "counts, " + work.OutcomePaused},
		"in a pause of commands that were obeyed": {[]said{{id: 9, by: ann, body: "Why?"}}, func(f *facts) {
			f.obeyedEarlier = []work.Event{said{id: 1, by: ann, body: "/mergexo pause"}.candidate().event, said{id: 20, by: ann, body: "/mergexo resume"}.candidate().event}
		}, work.OutcomePaused},
		"known": {[]said{question}, func(f *facts) { f.known[question.candidate().event.Key] = store.KnownEvent{} }, ""},
		"twice": {[]said{question, question}, nil, "counts"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []candidate
			for _, s := range tt.said {
				all = append(all, s.candidate())
			}
			f := factsOf()
			f.shown(all)
			if tt.given != nil {
				tt.given(f)
			}
			got := told(judge(all, f))
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			for range 5 { // it changes nothing, and the order in which lists show it does not matter
				rand.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
				if again := told(judge(all, f)); again != got {
					t.Errorf("judged again: %q", again)
				}
			}
		})
	}
}

// told is a judgement in words.
func told(j *judgement) string {
	var all []string
	for _, m := range j.lacks {
		all = append(all, "lacks "+string(m.kind))
	}
	if len(all) == 0 {
		for _, c := range j.events {
			all = append(all, cmp.Or(c.event.Outcome, "counts"))
		}
	}
	return strings.Join(all, ", ")
}

// A comment that holds a pull request no longer holds it once its author takes the command out, and holds it
// again once its author puts it back.
func TestJudgeOfAHold(t *testing.T) {
	first := said{id: 1, by: ann, body: "/mergexo hold"}.candidate()
	first.event.ID = 30
	held := review.Held{By: ann.Login, At: work.StampOf(first.event)}
	at := spot{numbers: []int{5, 6}, hold: &commandedHold{held: held, said: []work.Event{first.event}}}
	without := said{id: 1, by: ann, body: "Never mind.", edited: 9}.candidate()
	f := factsOf()
	f.spots[whose{5, false, 7}] = at
	f.words["node1"] = work.Word{Known: true, Editor: ann}
	if j := judge([]candidate{without}, f); len(j.takenBack) != 1 || told(j) != "counts" {
		t.Errorf("taken out by its author: %d, %q", len(j.takenBack), told(j))
	}
	if !slices.Equal(f.spots[whose{5, false, 7}].hold.by, nil) {
		t.Error("the judgement changed a fact")
	}
	f.words["node1"], f.former["node1"] = work.Word{Known: true, Editor: eve}, formerVersion{known: true}
	if j := judge([]candidate{without}, f); len(j.takenBack) != 0 {
		t.Error("somebody else's edit ended the hold")
	}
	resumed := said{id: 1, by: ann, body: "/mergexo resume", edited: 9}.candidate()
	f.words["node1"] = work.Word{Known: true, Editor: ann}
	if j := judge([]candidate{resumed}, f); len(j.takenBack) != 0 || len(j.commands) != 1 {
		t.Errorf("edited to the command that ends it: taken back %d, commands %d", len(j.takenBack), len(j.commands))
	}
	back := said{id: 1, by: ann, body: "/mergexo hold", edited: 12}.candidate()
	f = factsOf()
	f.shown([]candidate{back})
	f.known[back.event.Key] = store.KnownEvent{Outcome: store.OutcomeEdited, Edited: true}
	if j := judge([]candidate{back}, f); len(j.putBack) != 1 || !slices.Equal(j.putBack[0].holds, []int{5, 6}) || len(j.readAgain) != 1 {
		t.Errorf("put back: %+v", j.putBack)
	}
	f.rights.fresh = maps.Clone(f.rights.fresh)
	f.rights.fresh[ann.ID] = "read"
	if j := judge([]candidate{back}, f); len(j.putBack) != 0 || j.readAgain[0].Outcome != work.OutcomeNoCommander {
		t.Errorf("put back by somebody who may not command any more: %+v", j.putBack)
	}
}
