package work

import (
	"slices"
	"strings"
	"unicode"
)

// agentWords are words that people write before the colon of an agent's label.
var agentWords = []string{"agent", "agents", "ai", "bot", "claude", "codex", "copilot", "gh-mergexo", "mergexo"}

// NearLabel returns the first of the labels that is most likely a slip for one of the wanted ones, and which
// one: agent:smalljob for agent:small-job. Both are empty if there is none. Known labels mean what they say,
// and one whose right form is set, too, does no harm.
func NearLabel(set, known, wanted []string) (label, meant string) {
	for _, l := range set {
		for _, w := range wanted {
			if w != "" && !HasLabel(known, l) && !HasLabel(set, w) && nearLabel(l, w) {
				return l, w
			}
		}
	}
	return "", ""
}

func nearLabel(label, wanted string) bool {
	prefix, word := cutLabel(label)
	own, deed := cutLabel(wanted)
	word, deed = lettersOf(word), lettersOf(deed)
	switch {
	case deed == "": // no sign is nearly another one
		return false
	case lettersOf(label) == lettersOf(wanted):
		return true
	case prefix == "" || own == "":
		return false // bug is a label of its own
	case !strings.EqualFold(prefix, own) && !slices.Contains(agentWords, strings.ToLower(prefix)) && distance(strings.ToLower(prefix), strings.ToLower(own)) > 1:
		return false // type:bugfix is somebody else's
	}
	return distance(word, deed) <= len(deed)/4 || len(word) >= 3 && strings.HasPrefix(deed, word)
}

// cutLabel cuts a label at its last colon or slash.
func cutLabel(label string) (prefix, word string) {
	at := strings.LastIndexAny(label, ":/")
	if at < 0 {
		return "", label
	}
	return strings.TrimSpace(label[:at]), label[at+1:]
}

// lettersOf returns a label's letters and digits, in lower case.
func lettersOf(label string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, label)
}
