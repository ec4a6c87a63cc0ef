// Package secrets finds and removes credentials in text: documented patterns, and this machine's
// own tokens exactly.
package secrets

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Redactor finds what must not leave this machine: common credentials by pattern, and the machine's
// own tokens and what it hands to agents by their values: whole, in base64, or split by line breaks. The
// program shares one; it is safe for concurrent use. A nil Redactor knows only the patterns.
type Redactor struct {
	mu    sync.RWMutex
	known map[string]string // value → its name
	forms *forms            // of known; nil: to be made
}

// shortest is the minimum length of a known value. Shorter values would match everyday words
// everywhere. No pattern matches less, so that short texts, which most logged values are, skip the
// search.
const shortest = 8

// shortestPart is the minimum length of a part of an address.
const shortestPart = 12

// Add makes a value known, unless it is shorter than shortest.
func (s *Redactor) Add(value, what string) {
	value = strings.TrimSpace(value)
	if len(value) < shortest {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]string{}
	}
	if _, ok := s.known[value]; !ok {
		s.known[value], s.forms = what, nil
	}
}

// settings match the names of variables whose values are no secrets. A change that names a region or
// a mode is not refused because an agent gets that variable, too.
var settings = lazy.Regexp(`(?i)(^|_)(HOME|DIR|FILE|PATH|MODEL|REGION|LOCATION|TYPE|ENV|MODE|PROFILE|LEVEL|VERSION|TIMEOUT|HOST|PORT|LANG|TERM|TZ)$`)

// AddVariable makes the value of a variable known that another program gets. Of an address, its secret
// parts.
func (s *Redactor) AddVariable(name, value string) {
	what := "the value of " + name
	if u, err := url.Parse(strings.TrimSpace(value)); err == nil && u.Host != "" {
		s.AddAddress(value, what)
	} else if !settings().MatchString(name) {
		s.Add(value, what)
	}
}

// AddAddress makes the secret parts of a URL known: its user's password, and what looks like a token
// in its path and its query, as in a webhook.
func (s *Redactor) AddAddress(address, what string) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" {
		return
	}
	parts := strings.Split(u.Path, "/")
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return !strings.ContainsAny(p, "0123456789") })
	if password, ok := u.User.Password(); ok {
		parts = append(parts, password)
	} else if u.User != nil {
		parts = append(parts, u.User.Username())
	}
	for _, p := range parts {
		for _, form := range []string{p, url.PathEscape(p), url.QueryEscape(p)} {
			if len(form) >= shortestPart {
				s.Add(form, what)
			}
		}
	}
}

// Find returns the secrets in a text, each with its name.
func (s *Redactor) Find(text string) map[string]string {
	found := map[string]string{}
	for _, at := range s.search(text) {
		for _, value := range at.values {
			found[value.text] = value.name
		}
	}
	for _, p := range patterns {
		if !p.possible(text) {
			continue
		}
		for _, m := range p.expr().FindAllString(text, -1) {
			if _, ok := found[m]; !ok {
				found[m] = p.name
			}
		}
	}
	return found
}

// Redact replaces the secrets in a text, for logs, comments and quotations.
func (s *Redactor) Redact(text string) string {
	if len(text) < shortest {
		return text
	}
	if all := s.search(text); len(all) > 0 {
		var b strings.Builder
		from := 0
		for _, at := range all {
			b.WriteString(text[from:at.from] + "[redacted: " + at.values[0].name + "]")
			from = at.to
		}
		text = b.String() + text[from:]
	}
	for _, p := range patterns {
		if p.possible(text) {
			text = p.expr().ReplaceAllString(text, "[redacted: "+p.name+"]")
		}
	}
	return text
}

// Check returns violations for secrets in any string of a decoded JSON value, which they call name.
func (s *Redactor) Check(name string, value any) []string {
	var out []string
	switch v := value.(type) {
	case string:
		for _, what := range slices.Sorted(maps.Values(s.Find(v))) {
			out = append(out, fmt.Sprintf("%s holds what looks like %s; secrets are never published", name, what))
		}
	case []any:
		for i, e := range v {
			out = append(out, s.Check(fmt.Sprintf("%s[%d]", name, i), e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, s.Check(name+"."+key, v[key])...)
		}
	}
	return out
}

// Redact removes credentials of known patterns from a text.
func Redact(s string) string { return (*Redactor)(nil).Redact(s) }
