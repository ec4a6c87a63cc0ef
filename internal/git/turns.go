package git

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

func turnRef(key string) string    { return ownRefs + "turns/" + key }
func partialRef(key string) string { return ownRefs + "partial/" + key }

var keyPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`) })

// checkKey refuses strings that are no turn keys, because keys become parts of ref names.
func checkKey(key string) error {
	if !keyPattern().MatchString(key) {
		return fmt.Errorf("%q is no turn key", key)
	}
	return nil
}

// KeepTurn stores a turn's commit as refs/mergexo/turns/<key>. It is durable when KeepTurn returns.
func (m *Mirror) KeepTurn(ctx context.Context, key, oid string) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("keep turn: %w", err)
	}
	if err := m.setRef(ctx, turnRef(key), oid); err != nil {
		return fmt.Errorf("keep turn: %w", err)
	}
	return nil
}

// setPartial stores the commit of a turn's unfinished work as refs/mergexo/partial/<key>.
func (m *Mirror) setPartial(ctx context.Context, key, oid string) error {
	return m.setRef(ctx, partialRef(key), oid)
}

// Partial returns the commit of a turn's unfinished work.
func (m *Mirror) Partial(ctx context.Context, key string) (string, bool, error) {
	return m.turnRefOID(ctx, key, partialRef)
}

// PartialFiles lists the slash-separated paths that unfinished work changed.
func (m *Mirror) PartialFiles(ctx context.Context, oid string) ([]string, error) {
	if !validOID(oid) {
		return nil, fmt.Errorf("%q is no object id", oid)
	}
	c, err := m.objects.Commit(ctx, oid)
	if err != nil || len(c.Parents) == 0 {
		return nil, err
	}
	files, err := m.changedFiles(ctx, c.Parents[0], oid)
	if err != nil {
		return nil, fmt.Errorf("list unfinished work: %w", err)
	}
	return files, nil
}

func (m *Mirror) turnRefOID(ctx context.Context, key string, ref func(string) string) (string, bool, error) {
	if err := checkKey(key); err != nil {
		return "", false, err
	}
	return m.ref(ctx, ref(key))
}

// KeptTurn is a turn of which the mirror has refs.
type KeptTurn struct {
	Key string
	At  time.Time // date of its commit; zero: it has none
}

// KeptTurns returns the turns of which the mirror has refs, by key. A missing mirror has none.
func (m *Mirror) KeptTurns(ctx context.Context) ([]KeptTurn, error) {
	if !files.Exists(m.path(stampName)) {
		return nil, nil
	}
	out, err := m.command("for-each-ref", "--format=%(refname) %(committerdate:unix)", turnRef(""), partialRef("")).text(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the turns in the mirror: %w", err)
	}
	all := map[string]KeptTurn{}
	for line := range strings.Lines(out) {
		ref, date, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, key, ok := strings.Cut(strings.TrimPrefix(ref, ownRefs), "/")
		if !ok || checkKey(key) != nil {
			continue
		}
		t := all[key]
		t.Key = key
		if unix, err := strconv.ParseInt(date, 10, 64); err == nil {
			t.At = time.Unix(unix, 0)
		}
		all[key] = t
	}
	return sorted.Values(maps.Values(all), func(a, b KeptTurn) int { return strings.Compare(a.Key, b.Key) }), nil
}

// DropTurns deletes all refs of the turns. Missing refs or a missing mirror are no error.
func (m *Mirror) DropTurns(ctx context.Context, keys ...string) error {
	var commands strings.Builder
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return fmt.Errorf("drop turns: %w", err)
		}
		for _, ref := range []string{turnRef(key), partialRef(key)} {
			commands.WriteString("delete " + ref + "\n")
		}
	}
	if len(keys) == 0 || !files.Exists(m.path(stampName)) {
		return nil
	}
	c := m.command("update-ref", "--no-deref", "--stdin")
	c.Stdin = []byte(commands.String())
	err := m.locked(ctx, func() error {
		_, err := c.Run(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("drop turns: %w", err)
	}
	return nil
}
