package public

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Programs sign what they write: "🤖 Generated with [Claude Code](…)", "Co-Authored-By: Claude <…>".
// Who wrote a text is said below it once, by us.

// The parts of the patterns of a signature.
const (
	// program is what an agent calls itself, with a version or a link.
	program = `(?:the help of |help from |assistance from )?[\[*_]*` +
		`(?:(?:openai|anthropic|google|github|microsoft)(?:['’]s)? )?` +
		`(?:claude|codex|chatgpt|gpt-[0-9][0-9a-z.-]*|copilot|gemini|qwen|opencode|kilo|auggie|augment|cursor|aider|devin|windsurf|amp|goose|cline|roo|junie|kiro|crush|droid|an? ai|ai)` +
		`(?:[ -]?(?:code|cli|agent|coding|assistant|model|tool|swe|max|mini|pro|flash|opus|sonnet|haiku|v?[0-9][0-9a-z.]*))*[\]*_]*(?:\([^()]*\))?(?: ?\([^()]*\))?`
	// leader is what may stand before a signature: a list's mark, tags, emphasis, a picture.
	leader = `^ {0,3}(?:[-*+] +)?(?:<(?:sub|sup|small|em|i|b|p|div)\b[^<>]*>)*(?:[^\pL\pN\s<>\[\]()"'“”„«|#:` + "`" + `]+ *|:robot(?:_face)?: *)*`
	// trailer is what may stand after it.
	trailer = `[^\pL\pN<>"'” ` + "`" + `]*(?:</(?:sub|sup|small|em|i|b|p|div)>)*[ \t\r]*$`
)

// signatures match a line that says nothing but which program wrote the text.
var signatures = lazy.Regexp(`(?i)(?:` +
	leader + `(?:this (?:pull request|pr|commit|change|comment|reply|review|document|message) (?:was|is|has been) )?(?:automatically |auto-?)?` +
	`(?:generated|created|written|authored|made|produced|drafted|reviewed) (?:with|by|using|via) ` + program + `(?:,? (?:by|via|through) ` + program + `)?` + trailer +
	`|` + leader + `[a-z]+(?:-[a-z]+)*-(?:by|with)[*_]* ?:[*_]* *` + program + ` *(?:<[^<>]*>)?` + trailer +
	`|` + leader + `co-authored-by[*_]* ?:.*<[^<>]*(?:@anthropic\.com|@openai\.com|copilot@|\+copilot|cursoragent@|@aider\.chat|@ampcode\.com|devin-ai|gemini-code-assist)[^<>]*>` + trailer +
	`|^(?:claude|codex|copilot|gemini|amp|devin)-(?:session|thread)(?:-[a-z]+)? ?: *\S+[ \t\r]*$` +
	`|` + leader + `(?:\[[^\]]*\]\()?https://(?:claude\.ai/code|chatgpt\.com/codex|app\.devin\.ai/sessions|ampcode\.com/threads|cursor\.com/agents)[^\s()]*\)?` + trailer +
	`)`)

// Unsigned removes the lines by which an agent's program signs a text. Code, quotations and sentences
// that speak of such lines stay.
func Unsigned(s string) string {
	var kept []string
	fence, signed := "", -1 // how many lines are kept above the last signature
	for line := range strings.SplitSeq(s, "\n") {
		bare := strings.TrimSpace(line)
		switch mark := fenceOf(strings.TrimLeft(bare, ">-*+ ")); {
		case fence != "":
			if bare = strings.TrimLeft(bare, "> "); strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
		case mark != "":
			fence = mark
		case signatures().MatchString(line):
			signed = len(kept)
			continue
		case bare == "" && signed == len(kept) && (len(kept) == 0 || strings.TrimSpace(kept[len(kept)-1]) == ""):
			continue // the blank line below a signature
		}
		kept = append(kept, line)
	}
	if signed < 0 {
		return s
	}
	out := strings.TrimRight(strings.Join(kept, "\n"), " \t\r\n")
	if signed < len(kept) {
		return out
	}
	at := strings.LastIndexByte(out, '\n') + 1
	if breakLine().MatchString(strings.TrimSpace(out[at:])) { // it set the signature apart
		out = strings.TrimRight(out[:at], " \t\r\n")
	}
	return out
}
