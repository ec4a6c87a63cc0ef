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
)

// Redactor finds what must not leave this machine: common credentials by pattern, and the machine's
// own tokens exactly. The program shares one; it is safe for concurrent use. A nil Redactor knows
// only the patterns.
type Redactor struct {
	mu    sync.RWMutex
	known map[string]string // value → its name
	order []string          // longest first: a token may be part of another
}

// shortest is the minimum length of a secret. Shorter values would match everyday words everywhere.
// No pattern matches less, so that short texts, which most logged values are, skip the search.
const shortest = 12

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
	if _, ok := s.known[value]; ok {
		return
	}
	s.known[value] = what
	s.order = append(s.order, value)
	slices.SortFunc(s.order, func(a, b string) int { return len(b) - len(a) })
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
			s.Add(form, what)
		}
	}
}

// Find returns the secrets in a text, each with its name.
func (s *Redactor) Find(text string) map[string]string {
	found := map[string]string{}
	if s != nil {
		s.mu.RLock()
		for _, value := range s.order {
			if strings.Contains(text, value) {
				found[value] = s.known[value]
			}
		}
		s.mu.RUnlock()
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
	if s != nil {
		s.mu.RLock()
		for _, value := range s.order {
			text = strings.ReplaceAll(text, value, "[redacted: "+s.known[value]+"]")
		}
		s.mu.RUnlock()
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
