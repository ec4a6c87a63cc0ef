package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// MaxAnswer is the size in bytes above which an answer is rejected unread.
const MaxAnswer = 1 << 20

// Answer is an agent's answer: the union of all kinds' answers. Fields that a kind lacks, or that
// were null, are empty.
type Answer struct {
	// design_start
	Title         string   `json:"title"`
	Summary       string   `json:"summary"`
	TouchPaths    []string `json:"touch_paths"`
	DependsOn     []string `json:"depends_on"`
	EstimatedSize string   `json:"estimated_size"` // S, M or L
	Priority      int      `json:"priority"`       // 1 to 5; 0 when null
	DesignDoc     string   `json:"design_doc"`

	// roadmap_start, which has title too
	Goal  string        `json:"goal"`
	Nodes []RoadmapNode `json:"nodes"`

	// answers of starts that change code
	PRTitle   string `json:"pr_title"`
	PRSummary string `json:"pr_summary"`

	// answers of feedback, and of starts that change code
	CommitMessage string `json:"commit_message"`

	// answers of feedback, which have title too: both are the pull request's
	Description string `json:"description"`

	ReviewReplies  []ReviewReply `json:"review_replies"`
	GeneralComment string        `json:"general_comment"`
	FlakyTest      *FlakyTest    `json:"flaky_test"`

	// answers of a review
	Decision review.Decision `json:"decision"`
	Body     string          `json:"body"`
	Comments []ReviewComment `json:"comments"`
	Earlier  []Judgement     `json:"earlier"`
	Escalate []string        `json:"escalate"`

	// all answers of an agent that works below a roadmap, except those of a review
	Replan string `json:"replan"` // why the roadmap is to change

	// all answers except those of a review
	Followups       []Followup `json:"followups"`
	BlockedReason   string     `json:"blocked_reason"`
	DecisionSummary string     `json:"decision_summary"`
}

// ReviewReply is a reply to one review comment.
type ReviewReply struct {
	ReviewCommentID int64  `json:"review_comment_id"`
	Body            string `json:"body"`
	Resolve         bool   `json:"resolve"`
}

// Followup is work out of the scope that the agent proposes.
type Followup struct {
	Title string `json:"title"`
	Why   string `json:"why"`
}

// FlakyTest names a red check that the change did not cause.
type FlakyTest struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// ReviewComment is a reviewer's finding.
type ReviewComment struct {
	Path       string          `json:"path"`
	Line       int             `json:"line"` // 0 for the file as a whole
	Severity   review.Severity `json:"severity"`
	Confidence string          `json:"confidence"` // high, medium or low
	Body       string          `json:"body"`
}

// Judgement is a reviewer's verdict on an earlier finding.
type Judgement struct {
	Finding  string `json:"finding"`
	Resolved bool   `json:"resolved"`
	Note     string `json:"note"`
}

// Asked is what an answer may refer to, and what it must cover. Anything else is a violation.
type Asked struct {
	Replies     []int64    // review comments that accept a reply
	Unanswered  []NewEvent // comments that need an answer; none for an answer that was accepted before
	Findings    []Finding  // review: earlier findings, to be judged, each once; fix: to be answered
	Escalations []string   // reviewers that the answer may call in
	Coming      []string   // reviewers that it may name without effect
	Below       bool       // the issue is below a roadmap, and the answer may ask to change it
	Roadmap     *Roadmap   // roadmap_start: the bounds of its document, and the document that it changes
	Headings    []string   // of the repository's template of pull requests, which a text keeps
	EditsPull   bool       // the agent saw title and text of the pull request, and may replace them
	Runs        int        // review: the runs whose answers it joins; 0: one

	Blocking review.Severity // the least severity for which changes may be requested; empty: major
}

// Decode reads an agent's answer. Violations are sentences for the repair turn; if there are any,
// the answer is empty and must not be used. Decode is pure: a stored answer that passed once passes
// again. Lines by which a program signs are left out. Secrets are left to Secrets.Check.
func Decode(kind work.Kind, raw []byte, asked Asked) (Answer, []string) {
	schema, ok := schemaFor(kind, asked.Below)
	if !ok {
		return Answer{}, []string{fmt.Sprintf("there is no answer of kind %q", kind)}
	}
	if v := checkForm(raw); v != "" {
		return Answer{}, []string{v}
	}
	value, err := decodeOne(raw)
	if err != nil {
		return Answer{}, []string{quoted(err.Error())}
	}
	if object, is := value.(map[string]any); is && schemaNames[kind] == "feedback" {
		for _, key := range []string{"title", "description"} { // stored answers of earlier versions lack them
			if _, has := object[key]; !has {
				object[key] = nil
			}
		}
	}
	if v := schema.check(value); len(v) > 0 {
		return Answer{}, v
	}
	if v := checkStrings("answer", value); len(v) > 0 {
		return Answer{}, v
	}
	if text := unsigned(value); !reflect.DeepEqual(text, value) {
		if raw, err = json.Marshal(text); err != nil {
			return Answer{}, []string{quoted(err.Error())}
		}
	}
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Answer{}, []string{quoted(fmt.Sprintf("the answer does not fit its schema: %v", err))}
	}
	if v := checkMeaning(kind, a, asked); len(v) > 0 {
		return Answer{}, v
	}
	return a, nil
}

// checkForm checks an answer's bytes before they are parsed as JSON.
func checkForm(raw []byte) string {
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(raw) > MaxAnswer:
		return fmt.Sprintf("the answer has %d bytes; at most %d are read", len(raw), MaxAnswer)
	case !utf8.Valid(raw):
		return "the answer is not valid UTF-8"
	case len(trimmed) == 0:
		return "the answer is empty"
	case bytes.HasPrefix(trimmed, []byte("```")):
		return "the answer stands in a Markdown fence; it must be the JSON object alone"
	case trimmed[0] != '{':
		return "the answer does not begin with a JSON object: it begins with " + quotedStart(trimmed)
	}
	return ""
}

func quotedStart(b []byte) string { return fmt.Sprintf("%q", public.FirstRunes(quoted(string(b)), 40)) }

// decodeOne decodes exactly one JSON value without duplicate keys.
func decodeOne(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	end := d.InputOffset()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("text follows the JSON object: %s", quotedStart(bytes.TrimSpace(raw[end:])))
	}
	if err := checkKeys(json.NewDecoder(bytes.NewReader(raw))); err != nil {
		return nil, err
	}
	return value, nil
}

// checkKeys rejects a JSON object with duplicate keys: readers differ in which of the two counts.
func checkKeys(d *json.Decoder) error {
	tok, err := d.Token()
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return fmt.Errorf("read the answer: %w", err)
			}
			name, _ := key.(string)
			if seen[name] {
				return fmt.Errorf("key %q stands twice in one object", name)
			}
			seen[name] = true
		}
		if err := checkKeys(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// unsigned removes the lines by which an agent's program signs a text, in every text of an answer.
func unsigned(value any) any {
	switch v := value.(type) {
	case string:
		return public.Unsigned(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = unsigned(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[key] = unsigned(e)
		}
		return out
	}
	return value
}

// schemaNoise removes parts of the library's messages that do not help an agent.
var schemaNoise = strings.NewReplacer(
	"validating root: ", "", "validating ", "", "anyOf: did not validate against any of [<anonymous schema> <anonymous schema>]:", "",
	"<invalid reflect.Value>", "null", "/anyOf/0: ", "", "/anyOf/1: ", "or ",
)

// check returns the violations of the schema, at least one per invalid key.
func (s answerSchema) check(value any) []string {
	object, ok := value.(map[string]any)
	if !ok {
		return []string{"the answer is no JSON object"}
	}
	var out []string
	for _, key := range s.required {
		if _, ok := object[key]; !ok {
			out = append(out, fmt.Sprintf("%s is missing; every key must be present, null where there is nothing", key))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		sub, ok := s.keys[key]
		if !ok {
			out = append(out, quoted(fmt.Sprintf("unknown key %q", key)))
			continue
		}
		if err := sub.Validate(object[key]); err != nil {
			out = append(out, quoted(key+": "+schemaNoise.Replace(err.Error())))
		}
	}
	if len(out) == 0 {
		if err := s.whole.Validate(value); err != nil {
			out = append(out, quoted(err.Error()))
		}
	}
	return out
}

// checkStrings rejects control characters in any string.
func checkStrings(path string, value any) []string {
	var out []string
	switch v := value.(type) {
	case string:
		if i := strings.IndexFunc(v, refusedControl); i >= 0 {
			r, _ := utf8.DecodeRuneInString(v[i:])
			out = append(out, fmt.Sprintf("%s holds the control character %U", path, r))
		}
	case []any:
		for i, e := range v {
			out = append(out, checkStrings(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, checkStrings(path+"."+key, v[key])...)
		}
	}
	return out
}

func refusedControl(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r'
}

// How many unanswered comments the repair turn quotes.
const (
	maxNamed   = 15 // comments quoted with their first words
	maxListed  = 20 // further ids in one line
	firstWords = 60 // characters
)

// checkAnswers demands an answer to each comment in the prompt: a reply to a comment on a line, or
// a general comment for all others. A question to people counts as a general comment.
func (c *checker) checkAnswers(a Answer, told []NewEvent) {
	var rest []string
	named := 0
	general := strings.TrimSpace(a.GeneralComment+a.BlockedReason) != ""
	for _, e := range told {
		missing, id := "", public.OneLine(e.ID)
		switch {
		case e.Asks() && e.Kind == work.EventReview && !replied(a, id):
			missing = fmt.Sprintf("review comment %s by %s (%s) has no reply in review_replies", id, public.OneLine(e.Author), begin(e.Body))
		case e.Asks() && e.Kind != work.EventReview && !general:
			missing = fmt.Sprintf("%s %s by %s (%s) has no answer: general_comment is empty", eventNames[e.Kind], id, public.OneLine(e.Author), begin(e.Body))
		default:
			continue
		}
		if named++; named <= maxNamed {
			c.add("%s", missing)
		} else {
			rest = append(rest, id)
		}
	}
	for ids := range slices.Chunk(rest, maxListed) {
		c.add("these have no answer either: %s", strings.Join(ids, ", "))
	}
}

// checkFindingAnswers demands an answer to each finding: a reply to one that is a comment on a
// line, or a general comment for those in the review's text.
func (c *checker) checkFindingAnswers(a Answer, findings []Finding) {
	general := strings.TrimSpace(a.GeneralComment+a.BlockedReason) != ""
	for _, x := range findings {
		id := strconv.FormatInt(x.CommentID, 10)
		switch {
		case x.CommentID != 0 && !replied(a, id):
			c.add("review comment %s by %s (%s) has no reply in review_replies", id, public.OneLine(x.Reviewer), begin(x.Body))
		case x.CommentID == 0 && !general:
			c.add("finding %s by %s (%s) has no answer: general_comment is empty", public.OneLine(x.ID), public.OneLine(x.Reviewer), begin(x.Body))
		}
	}
}

// Asks reports whether the event needs an answer. A review's verdict without text does not, nor
// does an approval without a question.
func (e NewEvent) Asks() bool {
	approval := e.Kind == work.EventSummary && e.State == "APPROVED"
	return e.Kind.IsComment() && strings.TrimSpace(e.Body) != "" && (!approval || strings.Contains(e.Body, "?"))
}

func replied(a Answer, id string) bool {
	return slices.ContainsFunc(a.ReviewReplies, func(r ReviewReply) bool { return fmt.Sprint(r.ReviewCommentID) == id })
}

// begin quotes the first words of a comment, by which people and agents recognize it.
func begin(body string) string {
	words := secrets.Redact(public.OneLine(body)) // redact before cutting: half a token matches no pattern
	if short := public.FirstRunes(words, firstWords); len(short) < len(words) {
		words = short + "…"
	}
	return fmt.Sprintf("%q", words)
}
