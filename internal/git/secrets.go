package git

import (
	"context"
	"maps"
	"slices"
	"strconv"
)

// leakedSecrets collects the secrets in what a change adds: contents, targets of links and names.
type leakedSecrets struct {
	find  func(string) map[string]string
	found []leakedSecret
}

type leakedSecret struct {
	where  string // for messages; never contains the secret
	secret string
	what   string
}

func (l *leakedSecrets) look(ch pathChange, content []byte) {
	if l.find == nil {
		return
	}
	where := "content"
	if ch.newMode == modeSymlink {
		where = "target"
	}
	l.add(where, ch.path, l.find(string(content)))
}

// add records secrets. The path is named only if it contains no secret itself.
func (l *leakedSecrets) add(kind, path string, secrets map[string]string) {
	named := kind == "name" || len(l.find(path)) > 0
	for _, secret := range slices.Sorted(maps.Keys(secrets)) {
		where := "the " + kind + " of a file"
		if !named {
			where = strconv.Quote(path)
			if kind == "target" {
				where = "the link " + where
			}
		}
		l.found = append(l.found, leakedSecret{where: where, secret: secret, what: secrets[secret]})
	}
}

// checkSecrets refuses the secrets that a change adds. Secrets that a changed or removed file held
// before are allowed: a fixture with a made-up token may be edited and moved.
func (j *treeCheck) checkSecrets(ctx context.Context, found leakedSecrets) error {
	if found.find == nil {
		return nil
	}
	for _, ch := range j.changes {
		if ch.oldMode == modeNone {
			found.add("name", ch.path, found.find(ch.path))
		}
	}
	if len(found.found) == 0 {
		return nil
	}
	before, err := secretsBefore(ctx, j.q, j.changes, found.find)
	if err != nil {
		return err
	}
	for _, f := range found.found {
		if !before[f.secret] {
			j.refused.add("%s contains %s", f.where, f.what)
		}
	}
	return nil
}

// secretsBefore returns the secrets that the changed paths held before the change.
func secretsBefore(ctx context.Context, q *quarantine, changes []pathChange, find func(string) map[string]string) (map[string]bool, error) {
	before := map[string]bool{}
	note := func(text string) {
		for secret := range find(text) {
			before[secret] = true
		}
	}
	for _, ch := range changes {
		if ch.oldMode != modeNone {
			note(ch.path)
		}
		changes = append(changes, ch.others...)
	}
	old, err := blobSizes(ctx, q, changes, oldSide)
	if err != nil {
		return nil, err
	}
	return before, eachBlob(ctx, q, old, func(_ changedBlob, content []byte) { note(string(content)) })
}
