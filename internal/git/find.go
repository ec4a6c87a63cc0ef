package git

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// FindLanded looks for a merge of head in a base's history, since it stood there ("" or
// one that is gone: ever) up to its tip: a commit with the token on a line of its own (or
// as a trailer), a merge with the head as its second parent, the head's commits one after
// the other, or the head itself. Where several look like it, one that is what merging gives
// comes before others. Not Same is an answer, too: something says that it is our merge,
// and its files are others. Whoever copies a token can make that, and so can a merge
// that went wrong: to merge again is wrong in either case.
func (m *Mirror) FindLanded(ctx context.Context, since, tip, head, token string) (Landing, bool, error) {
	var out Landing
	var ok bool
	err := m.onBench("find "+tip+" "+head, func(b bench) (err error) {
		for _, oid := range []string{tip, head} {
			if !m.Has(ctx, oid) {
				return &MissingError{OID: oid}
			}
		}
		out, ok, err = b.find(ctx, since, tip, head, token)
		return err
	})
	if err != nil {
		return Landing{}, false, fmt.Errorf("look for what landed: %w", err)
	}
	return out, ok, nil
}

func (b bench) find(ctx context.Context, since, tip, head, token string) (Landing, bool, error) {
	within := []string{tip, "^" + head} // what the head stands on cannot be its merge
	if b.q.mirror.Has(ctx, since) {
		within = append(within, "^"+since)
	} else {
		since = ""
	}
	history, err := b.commits(ctx, within...)
	if err != nil {
		return Landing{}, false, err
	}
	series, err := b.series(ctx, tip, head)
	if err != nil {
		return Landing{}, false, err
	}
	var best Landing
	for _, c := range history {
		told := hasToken(c.message, token) || len(c.parents) > 1 && slices.Contains(c.parents[1:], head)
		if !told && !signedBy(series, c) {
			continue
		}
		found, err := b.compare(ctx, c, head, since)
		if err != nil || found.Same {
			return found, found.Same, err
		}
		// Some of the head's commits may have come another way.
		if best.OID == "" && (told || found.Why != OtherSeries) {
			best = found
		}
	}
	if best.OID != "" {
		return best, true, nil
	}
	return b.findHead(ctx, since, tip, head)
}

// findHead is for a head that came to the base in another way than by a merge of it.
func (b bench) findHead(ctx context.Context, since, tip, head string) (Landing, bool, error) {
	on, err := b.contains(ctx, tip, head)
	if err != nil || !on {
		return Landing{}, false, err
	}
	c, err := b.commit(ctx, head)
	if err != nil {
		return Landing{}, false, err
	}
	found, err := b.compare(ctx, c, head, since)
	return found, err == nil, err
}

// trailer is a line whose value is all that follows the key.
var trailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*: +`) })

// hasToken reports whether a message says the token itself: a quote of it, or a sentence
// about it, does not.
func hasToken(message, token string) bool {
	if token == "" {
		return false
	}
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if line == token || trailer().ReplaceAllString(line, "") == token {
			return true
		}
	}
	return false
}

// Tells reports whether the message of a commit says a token itself. Whoever copies a token
// can make that.
func (m *Mirror) Tells(ctx context.Context, commit, token string) (bool, error) {
	var told bool
	err := m.onBench("read "+commit, func(b bench) error {
		c, err := b.commit(ctx, commit)
		told = err == nil && hasToken(c.message, token)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read what %s says: %w", commit, err)
	}
	return told, nil
}
