package news

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// MostAge is the age up to which a message is sent: the machine may have slept.
const MostAge = 24 * time.Hour

// fact is something that may be sent to any target.
type fact struct {
	Kind
	Place
	key     string // without the kind of message
	machine string // about whose passes it is
	at      time.Time
	reason  work.Reason
	says    string // replaces the text of the reason
	do      string
	waits   bool // the reason's text is what is waited for
	before  bool // it lasts, since an unknown time: a new target gets no message about it
}

// Decide returns the messages that are due to the targets and that their keys show were not sent
// before. known has since when each target gets each kind; a kind without an entry is not sent. The
// caller stores the entries of Standing first for a new target, because their keys keep old states
// from being sent.
func Decide(f Facts, targets []string, known []Known) []Entry {
	since := map[[2]string]time.Time{}
	for _, k := range known {
		since[[2]string{k.Target, string(k.What)}] = k.Since
	}
	facts := happened(f)
	var all []Entry
	for _, t := range targets {
		for _, x := range slices.Concat(facts, machines(f, t), passes(f, t)) {
			asked := x.Kind
			if of, is := endOf[asked]; is {
				asked = of
			}
			from, told := since[[2]string{t, string(asked)}]
			if !told || x.at.Before(from.Truncate(time.Second)) || f.Now.Sub(x.at) > MostAge {
				continue
			}
			all = append(all, x.entry(t))
		}
	}
	return all
}

// endOf are the kinds that tell of the end of another, and go to its targets.
var endOf = map[Kind]Kind{Recovered: PassFailing, Back: Silent}

// Standing returns dropped entries for new targets about what already lasts, since an unknown time.
// Their keys keep Decide from sending messages about it later.
func Standing(f Facts, fresh []Known) []Entry {
	var all []Entry
	for _, x := range happened(f) {
		for _, k := range fresh {
			if x.before && k.What == x.Kind {
				e := x.entry(k.Target)
				e.State, e.SettledAt, e.LastError = Dropped, f.Now, "it was the case before this target existed"
				all = append(all, e)
			}
		}
	}
	return all
}

// happened returns everything that may be sent.
func happened(f Facts) []fact {
	var all []fact
	for _, s := range f.Stops {
		all = append(all, fact{Kind: whatStopped(s), Place: s.Place, key: s.Token + " " + millis(s.Since), at: s.Since, reason: s.Reason})
	}
	for _, w := range f.Waits {
		all = append(all, fact{Kind: Blocked, Place: w.Place, key: "waits " + string(w.Reason.Kind) + " " + millis(w.Since), at: w.ToldAt, reason: w.Reason, waits: true})
	}
	for _, p := range f.Approvals {
		all = append(all, fact{Kind: HumanReview, Place: p.Place, key: p.Head, at: p.At, reason: work.Reason{Kind: work.WhyReviewPerson}, waits: true})
	}
	for _, p := range f.Opened {
		all = append(all, fact{Kind: PullOpened, Place: p.Place, at: p.At, says: "a pull request was opened"})
	}
	for _, p := range f.Merged {
		all = append(all, fact{Kind: Merged, Place: p.Place, at: p.At, says: "the pull request was merged"})
	}
	for _, h := range f.Halts {
		why := h.Reason
		why.Kind = work.WhyMergeHalted
		all = append(all, fact{
			Kind: Blocked, Place: h.Place, key: "merging " + millis(h.At), at: h.At, reason: why,
			do: "look at what landed, then run gh mergexo resume --merging " + h.Repo.FullName(), before: true,
		})
	}
	for _, o := range f.Agents {
		all = append(all, fact{Kind: Blocked, key: strings.Join([]string{"agent", o.Agent, o.Machine, millis(o.Since)}, " "), at: o.Tried, reason: o.Why})
	}
	for _, l := range f.Logins {
		all = append(all, fact{Kind: Blocked, machine: f.Machine, key: strings.TrimPrefix(strings.Join([]string{f.Machine, "login", l.Where, millis(l.Since)}, " "), " "), at: f.Now, says: f.where() + l.Says, do: l.Do})
	}
	if b := f.Budget; !b.None() {
		all = append(all, fact{Kind: BudgetSpent, key: b.Name + " " + f.Now.UTC().Format(time.DateOnly), at: f.Now, reason: b, before: true})
	}
	return all
}

// whatStopped returns the kind of message for a stop.
func whatStopped(s Stop) Kind {
	if state, ok := review.StateOf(s.Reason); ok && state == review.HumanReview {
		return HumanReview
	}
	if s.Reason.Kind == work.WhyQuestion {
		return Question
	}
	return Blocked
}

// machines returns a target's messages that other machines are silent, or are so no more. A machine
// that was forgotten, or whose passes a person stopped, is neither.
func machines(f Facts, target string) (all []fact) {
	for _, m := range f.Others {
		if since, silent := m.Silent(f.Now); silent {
			says, do := m.Says(f.Now)
			all = append(all, fact{Kind: Silent, machine: m.Name, key: m.Name + " " + millis(m.BeganAt), at: since, says: says, do: do})
			continue
		}
		told := slices.IndexFunc(f.Silences, func(e Entry) bool { return e.Target == target && e.Machine == m.Name })
		if told >= 0 && m.Stopped == "" {
			all = append(all, fact{Kind: Back, machine: m.Name, key: subject(f.Silences[told].Key), at: f.Now, says: "machine " + m.Called() + ": a pass has begun again"})
		}
	}
	return all
}

// passes returns a target's messages that passes of this machine do not work, or that they work again.
func passes(f Facts, target string) []fact {
	var all []fact
	if f.Passes == nil {
		return all
	}
	failing, told := f.Failing[target]
	switch v := work.JudgePasses(*f.Passes); {
	case v.Lasting && v.Code == work.PassesFail && f.Passes.Last.By == work.FailedByLogin: // a message of its own says so
	case v.Lasting:
		do := v.Do
		if v.Code == work.PassesFail {
			do = "run gh mergexo tick on the machine where it runs, and see what it says"
		}
		key := strings.TrimPrefix(f.Machine+" "+millis(f.Passes.Last.GoodAt), " ")
		all = append(all, fact{Kind: PassFailing, machine: f.Machine, key: key, at: f.Now, says: f.where() + short(v.Says, mostSays), do: do})
	case !v.Bad() && told:
		all = append(all, fact{Kind: Recovered, machine: f.Machine, key: subject(failing.Key), at: f.Now, says: f.where() + "a pass succeeded again"})
	}
	return all
}

// where names the machine whose passes a message is about; empty: there is one only.
func (f Facts) where() string {
	if f.Machine == "" {
		return ""
	}
	return "machine " + f.Machine + ": "
}

// Alone returns the messages about passes alone, without a database: nobody knows since when the
// targets get them.
func Alone(p work.PassFacts, targets []string, redact func(string) string) (all []Entry) {
	f := Facts{Now: p.Now, Passes: &p}
	f.Clean(redact)
	for _, t := range targets {
		for _, x := range passes(f, t) {
			all = append(all, x.entry(t))
		}
	}
	return all
}

// subject returns the part of a key that names the subject, without the kind of message.
func subject(key string) string {
	for i := range key {
		if key[i] == ' ' {
			return key[i+1:]
		}
	}
	return ""
}

func (x fact) entry(target string) Entry {
	key := string(x.Kind)
	if x.Key != "" {
		key += " " + string(x.Key) + " #" + strconv.Itoa(x.Number)
	}
	if x.key != "" {
		key += " " + x.key
	}
	return Entry{
		Target: target, Key: key, What: x.Kind, RepoID: x.RepoID, ItemID: x.ItemID, Number: x.Number, At: x.at, State: Planned, Machine: x.machine,
		Body: x.message(Delivery(target, key)).JSON(),
	}
}

func millis(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// words returns a fact's text, and what to do about it.
func (x fact) words() (says, do string) {
	if x.says != "" {
		return x.says, x.do
	}
	w := explain.Reason(x.reason, explain.Place{Pull: x.Pull, Spending: true})
	do = w.Next()
	if x.do != "" {
		do = x.do
	}
	if x.waits {
		return "it waits for " + w.What, do
	}
	return w.What, do
}
