//go:build unix

package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
)

// What the model does in a story with real agents. It knows a prompt by its
// schema, by the place in its conversation and by the ids in it, never by its
// words: those are for models.
//
//	model run COMMAND      from now on it has a shell command run in each turn that may write, then answers
//	model patch FILE       it has codex's apply_patch apply a patch
//	model write PATH FILE  it has claude's Write write a file
//	model edit PATH OLD NEW  it has claude's Read and Edit change a line
//	model wordy            its first message in a conversation is no answer
//	model writer           it works, and writes its answer as text, where it has a tool for it
//	model tool             it works, gives the tool for the answer one that says too little, and corrects it
//	model tool-hangs       it gives its answer to the tool, and never ends
//	model idle             it answers and changes nothing
//	model finds PATH LINE BODY  it works as at the beginning; as a reviewer it finds that where nothing was found
//	                       before, and the next time that it is done. Otherwise it approves
//	model reads WORD FILE…  as a reviewer it reads files of the folder that its prompt says lies beside the change,
//	                       then lists the folder, and searches it for a word
//	model honest           it works, as at the beginning of a story
//	model looping          one command after the other, for ever
//	model busy             429
//	model broke            no credit is left
//
//	model-asked N          checks that the last query came in a conversation of N earlier prompts, and prints its prompt
//	! model-asked          checks that no query ever came
//	model-saw              prints what tools said since that prompt
func addModelCommands(cmds map[string]func(*testscript.TestScript, bool, []string)) {
	cmds["model"] = cmdModel
	cmds["model-asked"] = cmdModelAsked
	cmds["model-saw"] = cmdModelSaw
}

type modelKey struct{}

func modelOf(ts *testscript.TestScript) *modelsim.Server {
	return ts.Value(modelKey{}).(*modelsim.Server)
}

// script is what a model does with a query.
type script = func(modelsim.Query) modelsim.Reply

func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptOf(ts, args)
	if neg || s == nil {
		ts.Fatalf("usage: model run COMMAND | patch FILE | write PATH FILE | edit PATH OLD NEW | finds PATH LINE BODY | reads WORD FILE… | honest | wordy | writer | tool | tool-hangs | idle | looping | busy | broke")
	}
	modelOf(ts).Script(s)
}

// scriptOf reads the words of the command; nil: they mean nothing.
func scriptOf(ts *testscript.TestScript, args []string) script {
	w := worldOf(ts)
	modes := map[string]script{
		"honest": working(w, runs(logs)), "wordy": wordy(w), "writer": writer(w), "tool": tooled(w), "tool-hangs": hanging(w), "idle": working(w), "looping": looping, "busy": busy, "broke": broke,
	}
	switch {
	case len(args) == 1:
		return modes[args[0]]
	case len(args) == 2 && args[0] == "run":
		return working(w, runs(args[1]))
	case len(args) == 2 && args[0] == "patch":
		return working(w, modelsim.Reply{Patch: ts.ReadFile(args[1])})
	case len(args) == 3 && args[0] == "write":
		return working(w, uses("Write", map[string]any{"file_path": args[1], "content": ts.ReadFile(args[2])}))
	case len(args) == 4 && args[0] == "finds":
		line, err := strconv.Atoi(args[2])
		ts.Check(err)
		return finding(working(w, runs(logs)), map[string]any{"path": args[1], "line": line, "severity": "major", "confidence": "high", "body": args[3]})
	case len(args) > 2 && args[0] == "reads":
		return reading(w, args[1], args[2:])
	case len(args) == 4 && args[0] == "edit":
		return working(w,
			uses("Read", map[string]any{"file_path": args[1]}),
			uses("Edit", map[string]any{"file_path": args[1], "old_string": args[2], "new_string": args[3]}))
	}
	return nil
}

func cmdModelAsked(ts *testscript.TestScript, neg bool, args []string) {
	all := modelOf(ts).Queries()
	if neg && len(args) == 0 {
		if len(all) > 0 {
			ts.Fatalf("the model was asked %d times", len(all))
		}
		return
	}
	if neg || len(args) != 1 || len(all) == 0 {
		ts.Fatalf("usage: model-asked N, after a query, or ! model-asked")
	}
	if got := strconv.Itoa(all[len(all)-1].Earlier); got != args[0] {
		ts.Fatalf("the last query came after %s prompts, not %s", got, args[0])
	}
	fmt.Fprintln(ts.Stdout(), all[len(all)-1].Prompt)
}

func cmdModelSaw(ts *testscript.TestScript, neg bool, args []string) {
	all := modelOf(ts).Queries()
	if neg || len(args) != 0 || len(all) == 0 {
		ts.Fatalf("usage: model-saw, after a query")
	}
	fmt.Fprintln(ts.Stdout(), strings.Join(all[len(all)-1].Results, "\n"))
}

func runs(command string) modelsim.Reply { return modelsim.Reply{Run: command} }

func uses(tool string, input map[string]any) modelsim.Reply {
	return modelsim.Reply{Tool: &modelsim.Call{Name: tool, Input: input}}
}

// working does one deed after the other, then answers. A design is only answered.
func working(w *world, deeds ...modelsim.Reply) script {
	return func(q modelsim.Query) modelsim.Reply {
		if n := len(q.Results); n < len(deeds) && !has(q, "design_doc") {
			return deeds[n]
		}
		return modelsim.Reply{Answer: fitting(w, q)}
	}
}

// logs is the deed of a model whose work is looked at no further.
const logs = "mkdir -p work && date +%s%N >> work/log.txt"

// wordy answers in words, and by the schema when it is asked for that. claude
// asks once itself before our program does.
func wordy(w *world) script {
	honest := working(w, runs(logs))
	inWords := map[string]int{modelsim.OpenAI: 1, modelsim.Anthropic: 2}
	return func(q modelsim.Query) modelsim.Reply {
		switch {
		case q.Earlier >= inWords[q.API]:
			return modelsim.Reply{Answer: fitting(w, q)}
		case q.Earlier == 0 && len(q.Results) == 0:
			return honest(q)
		}
		return modelsim.Reply{Text: "I have done it."}
	}
}

// writer does the work, and writes the answer down instead of giving it to the
// tool that is there for it, however often it is asked.
func writer(w *world) script {
	honest := working(w, runs(logs))
	return func(q modelsim.Query) modelsim.Reply {
		r := honest(q)
		if r.Answer == nil {
			return r
		}
		b, err := json.Marshal(r.Answer)
		if err != nil {
			panic(err) // strings and numbers
		}
		return modelsim.Reply{Text: string(b)}
	}
}

// tooled works and answers by the tool. What it says too little at first is a matter of
// meaning, which no schema shows.
func tooled(w *world) script {
	return func(q modelsim.Query) modelsim.Reply {
		a := fitting(w, q)
		switch len(q.Results) {
		case 0:
			return runs(logs)
		case 1:
			for _, key := range []string{"pr_title", "general_comment", "summary"} {
				if _, ok := a[key]; ok {
					a[key] = ""
				}
			}
			return modelsim.Reply{Give: a}
		case 2:
			return modelsim.Reply{Give: a}
		}
		return modelsim.Reply{Answer: modelsim.Given{}}
	}
}

// hanging gives its answer to the tool at once, and is never done.
func hanging(w *world) script {
	return func(q modelsim.Query) modelsim.Reply {
		if len(q.Results) > 0 {
			return modelsim.Reply{Hang: true}
		}
		a := fitting(w, q)
		a["pr_title"] = "Given in vain"
		return modelsim.Reply{Give: a}
	}
}

// finding has a reviewer who judges nothing earlier find something, after it has done
// all else.
func finding(honest script, what map[string]any) script {
	return func(q modelsim.Query) modelsim.Reply {
		r := honest(q)
		if a, ok := r.Answer.(map[string]any); ok && has(q, "escalate") && len(earlier(q.Prompt)) == 0 {
			a["decision"], a["summary"], a["comments"] = "request_changes", "Not yet.", []map[string]any{what}
		}
		return r
	}
}

var besideCheckout = regexp.MustCompile(`(?m)^(\S+)/change\.diff has `)

// reading has a reviewer read the beginning of files that its prompt says lie beside the change,
// by the prompt's name for them, then list and search their folder. claude has no shell there.
func reading(w *world, word string, names []string) script {
	return func(q modelsim.Query) modelsim.Reply {
		m := besideCheckout.FindStringSubmatch(q.Prompt)
		if m == nil {
			return working(w)(q)
		}
		shell := q.API == modelsim.OpenAI
		var deeds []modelsim.Reply
		for _, name := range names {
			if path := m[1] + "/" + name; shell {
				deeds = append(deeds, runs("head -n 7 "+path))
			} else {
				deeds = append(deeds, uses("Read", map[string]any{"file_path": path, "limit": 7}))
			}
		}
		if shell {
			deeds = append(deeds, runs("find "+m[1]+"/base"), runs("grep -rnE '"+word+"' "+m[1]))
		} else {
			deeds = append(deeds, uses("Glob", map[string]any{"pattern": m[1] + "/base/**"}),
				uses("Grep", map[string]any{"pattern": word, "path": m[1], "output_mode": "content"}))
		}
		return working(w, deeds...)(q)
	}
}

func busy(modelsim.Query) modelsim.Reply {
	return modelsim.Reply{Error: &modelsim.Error{Status: 429, Type: "rate_limit_error", Text: "too many requests"}}
}

func looping(modelsim.Query) modelsim.Reply { return runs("true") }

func broke(q modelsim.Query) modelsim.Reply {
	if q.API == modelsim.OpenAI {
		return modelsim.Reply{Failed: "insufficient_quota", Text: "You exceeded your current quota."}
	}
	return modelsim.Reply{Error: &modelsim.Error{Status: 400, Type: "invalid_request_error", Text: "Your credit balance is too low to access the Anthropic API."}}
}

// has says whether the answer that is asked for has a key.
func has(q modelsim.Query, key string) bool {
	return strings.Contains(string(q.Schema), strconv.Quote(key))
}

// fitting answers by the schema: a reviewer's, the design's, a start's, or feedback's.
func fitting(w *world, q modelsim.Query) map[string]any {
	if has(q, "escalate") {
		return map[string]any{"decision": "approve", "summary": "All is well.", "body": nil, "comments": []any{}, "earlier": earlier(q.Prompt), "escalate": []any{}}
	}
	a := map[string]any{"followups": []any{}, "blocked_reason": nil, "decision_summary": "Decided."}
	switch {
	case has(q, "design_doc"):
		maps.Copy(a, map[string]any{
			"title": "The design", "summary": "What to do.", "touch_paths": []string{"src/**"}, "depends_on": []string{}, "estimated_size": "S",
			"priority": 3, "design_doc": "## Plan\n\nDo it.\n",
		})
	case has(q, "pr_title"):
		maps.Copy(a, map[string]any{"pr_title": "Crash on start", "pr_summary": "Fixed.", "commit_message": "Fix it"})
	default:
		maps.Copy(a, map[string]any{
			"review_replies": replies(w.hub.Repo(mainRepo), q.Prompt), "general_comment": "Thank you, done.", "commit_message": "Answer", "title": nil, "description": nil, "flaky_test": nil,
		})
	}
	return a
}

var findingID = regexp.MustCompile(`\bfinding: ([0-9a-f]{16})\b`)

// earlier says of each finding that a prompt names that it is done.
func earlier(prompt string) []map[string]any {
	all := []map[string]any{}
	for _, m := range findingID.FindAllStringSubmatch(prompt, -1) {
		all = append(all, map[string]any{"finding": m[1], "resolved": true, "note": "It is done."})
	}
	return all
}

var number = regexp.MustCompile(`[0-9]+`)

// replies answer every review comment that a prompt names and nobody answered. What a
// reviewer found is resolved as well; it is said by the operator's account.
func replies(r *githubsim.Repo, prompt string) []map[string]any {
	named := number.FindAllString(prompt, -1)
	all := []map[string]any{}
	for _, p := range r.Pulls() {
		comments := r.ReviewComments(p.Number)
		for _, c := range comments {
			answered := slices.ContainsFunc(comments, func(o githubsim.ReviewComment) bool { return o.InReplyTo == c.ID && o.Author == operator })
			found := strings.Contains(c.Body, "mergexo-finding")
			if (c.Author != operator || found) && !answered && slices.Contains(named, strconv.FormatInt(c.ID, 10)) {
				all = append(all, map[string]any{"review_comment_id": c.ID, "body": "Done, as you say.", "resolve": found})
			}
		}
	}
	return all
}
