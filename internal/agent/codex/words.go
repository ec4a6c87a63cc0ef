package codex

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// Codex has one kind for some failures that are not the same, and tells them
// apart by sentences of its own, which no model and no repository can make it say.
const cutStream = "stream disconnected before completion"

var noCreditWords = []string{"Quota exceeded.", "To use Codex with your ChatGPT plan", "Your workspace is out of credits"}

// noCredit reports that a usage limit is one that time does not lift.
func noCredit(words string) bool {
	for _, begins := range noCreditWords {
		if strings.HasPrefix(words, begins) {
			return true
		}
	}
	return false
}

// namesModel reports that the provider refused the request for its model: some
// say so in a sentence alone.
func (c *codex) namesModel(record record, words string) bool {
	refused := record.kind == "other" || record.kind == "bad_request" || record.status == 400
	return refused && c.spec.Model != "" && strings.Contains(words, c.spec.Model) && strings.Contains(strings.ToLower(words), "model")
}

// tryAgain is how OpenAI says when a rate limit lets the next request through.
var tryAgain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)try again in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`) })

// retryIn is how long the provider asks to wait; 0 when it does not say.
func retryIn(words string) time.Duration {
	found := tryAgain().FindStringSubmatch(words)
	if found == nil {
		return 0
	}
	d, err := time.ParseDuration(found[1])
	if err != nil {
		return 0
	}
	return d
}
