package codex

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// Codex uses one kind for some different failures and tells them apart by fixed sentences, which no
// model and no repository can make it print.
const cutStream = "stream disconnected before completion"

var noCreditWords = []string{"Quota exceeded.", "To use Codex with your ChatGPT plan", "Your workspace is out of credits"}

// noCredit reports that a usage limit does not end with time.
func noCredit(words string) bool {
	for _, begins := range noCreditWords {
		if strings.HasPrefix(words, begins) {
			return true
		}
	}
	return false
}

// namesModel reports that the provider refused the request because of its model: some providers
// report that only in a sentence.
func (c *codex) namesModel(record record, words string) bool {
	refused := record.kind == "other" || record.kind == "bad_request" || record.status == 400
	return refused && c.spec.Model != "" && strings.Contains(words, c.spec.Model) && strings.Contains(strings.ToLower(words), "model")
}

// tryAgain matches OpenAI's hint when to retry after a rate limit.
var tryAgain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)try again in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`) })

// retryIn returns how long the provider asks to wait; 0 if it does not say.
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
