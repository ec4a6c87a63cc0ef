package git

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

func turnRef(key string) string    { return ownRefs + "turns/" + key }
func journalRef(key string) string { return ownRefs + "journal/" + key }
func partialRef(key string) string { return ownRefs + "partial/" + key }

var keyPattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`)

// checkKey refuses what cannot be a turn key, for keys are parts of ref names.
func checkKey(key string) error {
	if !keyPattern.MatchString(key) {
		return fmt.Errorf("%q is no turn key", key)
	}
	return nil
}

// KeepTurn keeps the commit of a turn as refs/mergexo/turns/<key>. It is
// durable when it returns.
func (m *Mirror) KeepTurn(ctx context.Context, key, oid string) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("keep turn: %w", err)
	}
	if err := m.setRef(ctx, turnRef(key), oid); err != nil {
		return fmt.Errorf("keep turn: %w", err)
	}
	return nil
}

// Partial is the commit of a turn's unfinished work.
func (m *Mirror) Partial(ctx context.Context, key string) (string, bool, error) {
	return m.own(ctx, key, partialRef)
}

// PartialFiles lists what unfinished work changed, slashed.
func (m *Mirror) PartialFiles(ctx context.Context, oid string) ([]string, error) {
	if !validOID(oid) {
		return nil, fmt.Errorf("%q is no object id", oid)
	}
	files, err := m.call("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-commit-id", oid).Fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list unfinished work: %w", err)
	}
	return files, nil
}

func (m *Mirror) own(ctx context.Context, key string, ref func(string) string) (string, bool, error) {
	if err := checkKey(key); err != nil {
		return "", false, err
	}
	return m.ref(ctx, ref(key))
}

// setRef sets a ref under the lock and makes it durable, its name too.
func (m *Mirror) setRef(ctx context.Context, ref, oid string) error {
	return m.locked(ctx, func() error { return m.setRefLocked(ctx, ref, oid) })
}

func (m *Mirror) setRefLocked(ctx context.Context, ref, oid string) error {
	if !validOID(oid) {
		return fmt.Errorf("%q is no object id", oid)
	}
	if _, err := m.call("update-ref", "--no-deref", ref, oid).Text(ctx); err != nil {
		return err
	}
	for dir := filepath.Dir(m.path(filepath.FromSlash(ref))); len(dir) >= len(m.path("refs")); dir = filepath.Dir(dir) {
		if err := SyncFolder(dir); err != nil {
			return fmt.Errorf("make %s durable: %w", ref, err)
		}
	}
	return nil
}

// PutJournal stores a turn's journal as refs/mergexo/journal/<key>. It is
// durable when it returns.
func (m *Mirror) PutJournal(ctx context.Context, key string, content []byte) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("put journal: %w", err)
	}
	err := m.locked(ctx, func() error {
		c := m.call("hash-object", "-w", "--stdin", "--no-filters")
		c.Stdin = content
		oid, err := c.Text(ctx)
		if err != nil {
			return err
		}
		for _, dir := range []string{m.path("objects", oid[:2]), m.path("objects")} {
			if err := SyncFolder(dir); err != nil && exists(dir) {
				return err
			}
		}
		return m.setRefLocked(ctx, journalRef(key), oid)
	})
	if err != nil {
		return fmt.Errorf("put journal: %w", err)
	}
	return nil
}

// Journal reads a turn's journal; false when there is none.
func (m *Mirror) Journal(ctx context.Context, key string) ([]byte, bool, error) {
	oid, ok, err := m.own(ctx, key, journalRef)
	if err != nil || !ok {
		return nil, false, err
	}
	res, err := m.call("cat-file", "blob", oid).Run(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read journal %s: %w", key, err)
	}
	return res.Stdout, true, nil
}

// Journals lists the keys of all journals. A mirror that does not exist has
// none.
func (m *Mirror) Journals(ctx context.Context) ([]string, error) {
	if !exists(m.path(stampName)) {
		return nil, nil
	}
	out, err := m.call("for-each-ref", "--format=%(refname)", ownRefs+"journal/").Text(ctx)
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var keys []string
	for ref := range strings.FieldsSeq(out) {
		keys = append(keys, strings.TrimPrefix(ref, ownRefs+"journal/"))
	}
	return keys, nil
}

// DropTurns forgets all that is kept of turns; dropping them twice, or from a
// mirror that is gone, is no error.
func (m *Mirror) DropTurns(ctx context.Context, keys ...string) error {
	var commands strings.Builder
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return fmt.Errorf("drop turns: %w", err)
		}
		for _, ref := range []string{turnRef(key), journalRef(key), partialRef(key)} {
			commands.WriteString("delete " + ref + "\n")
		}
	}
	if len(keys) == 0 || !exists(m.path(stampName)) {
		return nil
	}
	c := m.call("update-ref", "--no-deref", "--stdin")
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
