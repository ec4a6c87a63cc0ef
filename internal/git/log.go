package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// ContainsTurn reports whether a turn's work is reachable from head: its commit, or a rewritten one
// that kept the turn's trailer.
func (m *Mirror) ContainsTurn(ctx context.Context, head, turnKey, oid string) (bool, error) {
	if !m.Has(ctx, head) {
		return false, &MissingError{OID: head}
	}
	if m.Has(ctx, oid) {
		if ok, err := m.IsAncestor(ctx, oid, head); ok || err != nil {
			return ok, err
		}
	}
	if turnKey == "" {
		return false, nil
	}
	if err := checkKey(turnKey); err != nil {
		return false, err
	}
	found, err := m.command("log", "-1", "--format=%H", "--basic-regexp",
		"--grep=^"+work.TrailerTurn+": "+strings.ReplaceAll(work.ShortTurn(turnKey), ".", `\.`)+"[0-9a-f]*$", head).text(ctx)
	if err != nil {
		return false, fmt.Errorf("look for turn %s: %w", turnKey, err)
	}
	return found != "", nil
}

// Entry is a commit with the values of its trailers.
type Entry struct {
	OID     string
	Subject string
	Turn    string   // Mergexo-Turn: the beginning of the turn key
	Handled []string // Mergexo-Handled: event keys
}

// Log lists commits reachable from to but not from from ("" for all), newest first, at most limit.
func (m *Mirror) Log(ctx context.Context, from, to string, limit int) ([]Entry, error) {
	args := []string{"log", "-z", "--format=%H%n%B", fmt.Sprintf("-%d", limit), to}
	if !validOID(to) || (from != "" && !validOID(from)) {
		return nil, fmt.Errorf("list commits: %q..%q: no object ids", from, to)
	}
	if from != "" {
		line, whole, err := m.objects.line(ctx, from, to, min(limit, fewCommits))
		if err != nil || whole && !slices.ContainsFunc(line, func(c commitObject) bool { return c.Recoded }) {
			return entriesOf(line), err
		}
		args = append(args, "^"+from)
	}
	records, err := m.command(args...).fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var entries []Entry
	for _, record := range records {
		oid, message, _ := strings.Cut(record, "\n")
		entries = append(entries, entryOf(oid, message))
	}
	return entries, nil
}

// fewCommits is how many commits are read one by one before git log is started.
const fewCommits = 50

func entriesOf(line []commitObject) []Entry {
	entries := make([]Entry, len(line))
	for i, c := range line {
		entries[i] = entryOf(c.OID, c.Message)
	}
	return entries
}

func entryOf(oid, message string) Entry {
	e := Entry{OID: oid}
	e.Subject, _, _ = strings.Cut(message, "\n")
	e.Turn, e.Handled = work.TrailersOf(message)
	return e
}
