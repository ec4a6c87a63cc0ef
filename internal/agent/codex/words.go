package codex

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
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

// filtered is how codex reports an answer that its provider's filter cut off.
const filtered = "Incomplete response returned, reason: content_filter"

// passing matches messages after cutStream of a failure that may pass: codex's own about the
// connection, and those of providers that ask to try again.
var passing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:closed (?:by server )?before|(?:idle )?time(?:d )?out|transport|network|connection|websocket|address|decod\w+|sending request|retry|try again|overloaded|server (?:had an )?error|internal|unavailable|temporar\w+|capacity)\b`)
})

// cut returns the error of an answer that ended in the middle. Codex uses one kind for a broken
// connection and for every failure that the provider calls by a name which codex does not know.
func (c *codex) cut(r agent.Request, failed record, words string) error {
	said := strings.TrimPrefix(strings.TrimPrefix(words, cutStream), ": ")
	if said == "" || passing().MatchString(said) {
		return c.spec.Wait("its provider ended an answer in the middle", failed.resets, agent.PauseBusy)
	}
	return c.spec.Invalid(r, "", said)
}

// logAnswers makes codex log the headers of its provider's answers besides its errors: of a 429, its
// output and its record tell neither the message nor the time.
const logAnswers = "RUST_LOG=error,codex_http_client::client=debug"

// environ returns what codex sees besides what every agent sees. Its commands do not see it.
func (c *codex) environ() []string {
	if agent.Lookup(c.spec.Environ, "RUST_LOG") != "" {
		return nil
	}
	return []string{logAnswers}
}

// answerLine matches a line of logAnswers. It may hold cookies and is not kept.
const answerLine = " codex_http_client::"

// withoutAnswers removes the lines of logAnswers.
func withoutAnswers(log []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte(answerLine)) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// answerFilter passes on whole lines without those of logAnswers.
type answerFilter struct{ to io.Writer }

func (f answerFilter) Write(b []byte) (int, error) {
	if f.to != nil {
		if kept := withoutAnswers(b); len(kept) > 0 {
			_, err := f.to.Write(kept)
			return len(b), err
		}
	}
	return len(b), nil
}

// header matches a header of an answer in a line of logAnswers.
var header = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(retry-after|retry-after-ms)": "([^"]{1,40})"`) })

// resets returns when a rate limit ends, as far as the provider says: in its message, in the record,
// or in the last refusal's headers.
func (c *codex) resets(r record, words string, log []byte) time.Time {
	if at := c.spec.ResetIn(words); !at.IsZero() {
		return at
	}
	var asked time.Time
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte(answerLine)) || !bytes.Contains(line, []byte("status=429 ")) {
			continue
		}
		asked = time.Time{}
		for _, h := range header().FindAllStringSubmatch(string(line), -1) {
			if at := c.retryAfter(h[1], h[2]); at.After(asked) {
				asked = at
			}
		}
	}
	if asked.After(r.resets) {
		return asked
	}
	return r.resets
}

// retryAfter reads a header: a number, or a date.
func (c *codex) retryAfter(name, value string) time.Time {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		at, _ := http.ParseTime(value) // zero if it is none
		return at
	case name == "retry-after-ms":
		n /= 1000
	}
	return c.spec.After(time.Duration(agent.Sane(n, maxRetryAfter) * float64(time.Second)))
}

// maxRetryAfter bounds the header, in seconds.
const maxRetryAfter = 366 * 24 * 60 * 60
