package git

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// FindLanded looks for the merge of head in a base's history from since ("" or a missing commit:
// from the beginning) to its tip. It accepts a commit with the token on a line of its own or as a
// trailer, a merge with head as a later parent, the head's commits in order, or the head itself. Of
// several candidates, one with the expected result comes first. A Landing that is not Same also
// means that head was merged, but the files differ: someone copied the token, or the merge went
// wrong. In either case merging again is wrong.
func (m *Mirror) FindLanded(ctx context.Context, since, tip, head, token string) (Landing, bool, error) {
	var out Landing
	var ok bool
	err := m.withComparer("find "+tip+" "+head, func(b treeComparer) (err error) {
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

func (b treeComparer) find(ctx context.Context, since, tip, head, token string) (Landing, bool, error) {
	within := []string{tip, "^" + head} // an ancestor of head cannot be its merge
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
		if !told && !seriesHas(series, c) {
			continue
		}
		found, err := b.compare(ctx, c, head, since)
		if err != nil || found.Same {
			return found, found.Same, err
		}
		// Some of the head's commits may have landed on their own.
		if best.OID == "" && (told || found.Why != OtherSeries) {
			best = found
		}
	}
	if best.OID != "" {
		return best, true, nil
	}
	return b.findHead(ctx, since, tip, head)
}

// findHead handles a head that reached the base without a merge of its own.
func (b treeComparer) findHead(ctx context.Context, since, tip, head string) (Landing, bool, error) {
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

// trailer matches the key of a line whose value is the rest of the line.
var trailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*: +`) })

// hasToken reports whether a line of the message is the token. A quote of it or a sentence about it
// does not count.
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

// HasToken reports whether a commit's message has the token on a line of its own. That proves no
// author: anyone may copy a token.
func (m *Mirror) HasToken(ctx context.Context, commit, token string) (bool, error) {
	var told bool
	err := m.withComparer("read "+commit, func(b treeComparer) error {
		c, err := b.commit(ctx, commit)
		told = err == nil && hasToken(c.message, token)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read what %s says: %w", commit, err)
	}
	return told, nil
}
