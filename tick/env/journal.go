package env

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Journal is a turn's blob in the mirror. With it a turn survives the loss of the database once its
// answer is stored.
type Journal struct {
	Version  int             `json:"version"`
	Repo     string          `json:"repo"`
	Issue    int             `json:"issue"`
	Flow     work.Flow       `json:"flow"`
	Label    string          `json:"label"`
	LabelID  string          `json:"label_event"`
	Number   int             `json:"number"`
	Kind     work.Kind       `json:"kind"`
	Turn     string          `json:"turn"`
	Reviewer string          `json:"reviewer,omitempty"`
	Claimed  int64           `json:"claimed_at"` // unix milliseconds
	Branch   string          `json:"branch"`
	Base     string          `json:"base"`
	Head     string          `json:"head"`
	Commit   string          `json:"commit"`
	Tested   string          `json:"tested,omitempty"`
	Events   []string        `json:"events"`
	Agent    string          `json:"agent"`
	Session  string          `json:"session"`
	Request  json.RawMessage `json:"request"`
	Answer   json.RawMessage `json:"answer"`
	Actions  []journalAction `json:"actions"`
}

type journalAction struct {
	Kind   work.ActionKind `json:"kind"`
	Need   work.Need       `json:"need"`
	Token  string          `json:"token"`
	Number int             `json:"number"`
	Target string          `json:"target"`
	Title  string          `json:"title"`
	Body   string          `json:"body"`
	Base   string          `json:"base"`
	Head   string          `json:"head"`
	Why    string          `json:"why"`
	Extra  string          `json:"extra,omitempty"`
}

// EncodeJournal encodes the journal of an answered turn.
func EncodeJournal(l *Lease, planned []work.Action) ([]byte, error) {
	t := l.Turn
	j := Journal{
		Version: 1, Repo: l.Repo.Name.String(), Issue: l.Item.Number, Flow: l.Item.Flow, Label: l.Item.Label, LabelID: l.Item.LabelEvent,
		Number: t.Number, Kind: t.Kind, Turn: t.Key, Reviewer: t.Reviewer, Claimed: t.ClaimedAt.UnixMilli(), Branch: t.Branch, Base: t.Base, Head: t.Head,
		Commit: t.Commit, Tested: t.Tested, Events: t.EventKeys, Agent: t.Agent, Session: t.Session, Request: t.Request, Answer: t.Answer,
	}
	for _, a := range planned {
		if a.State == work.ActionVoid { // what replaced it is there, too
			continue
		}
		j.Actions = append(j.Actions, journalAction{a.Kind, a.Need, a.Token, a.Number, a.Target, a.Title, a.Body, a.Base, a.Head, a.Why, a.Extra})
	}
	b, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("encode the journal: %w", err)
	}
	return b, nil
}

// DecodeJournal decodes a journal and fails for an unknown version.
func DecodeJournal(b []byte) (Journal, error) {
	var j Journal
	if err := json.Unmarshal(b, &j); err != nil {
		return Journal{}, fmt.Errorf("decode a journal: %w", err)
	}
	if j.Version != 1 {
		return Journal{}, fmt.Errorf("a journal of version %d, which this program cannot read", j.Version)
	}
	return j, nil
}

// Fill copies the answer from the journal into the turn.
func (j Journal) Fill(t *work.Turn) {
	t.Reviewer, t.Branch, t.Base, t.Head, t.Commit = j.Reviewer, j.Branch, j.Base, j.Head, j.Commit
	t.Tested = j.Tested
	t.Agent, t.Session, t.Request, t.Answer = j.Agent, j.Session, j.Request, j.Answer
	t.Runs = max(t.Runs, 1)
}

// Planned returns the actions of the journal's answer, as planned rows.
func (j Journal) Planned(t work.Turn, now time.Time) []work.Action {
	var out []work.Action
	for i, a := range j.Actions {
		out = append(out, work.Action{
			RepoID: t.RepoID, TurnID: t.ID, ItemID: t.ItemID, Position: i, Kind: a.Kind, Need: a.Need, Token: a.Token, State: work.ActionPlanned,
			Number: a.Number, Target: a.Target, Title: a.Title, Body: a.Body, Base: a.Base, Head: a.Head, Why: a.Why, Extra: a.Extra, PlannedAt: now,
		})
	}
	return out
}
