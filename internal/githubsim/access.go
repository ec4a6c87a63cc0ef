package githubsim

import (
	"slices"
)

// levels are the permissions, each including the ones before it.
var levels = []string{"none", "read", "triage", "write", "maintain", "admin"}

// level is what the user may do in the repository; nobody at all may read what is public.
func (r *Repo) level(u *user) string {
	if u == nil {
		if r.private {
			return "none"
		}
		return "read"
	}
	if u == r.owner {
		return "admin"
	}
	if l, ok := r.perms[u.id]; ok && l != "none" {
		return l
	}
	if r.private {
		return "none"
	}
	return "read"
}

// can tells whether the user has at least that permission.
func (r *Repo) can(u *user, level string) bool {
	return slices.Index(levels, r.level(u)) >= slices.Index(levels, level)
}

// oldLevel folds the level into the four words of the "permission" field.
func oldLevel(level string) string {
	switch level {
	case "maintain":
		return "write"
	case "triage":
		return "read"
	}
	return level
}

// association is the author_association of somebody's words.
func (r *Repo) association(u *user) string {
	if u == nil || u.deleted {
		return "NONE"
	}
	_, listed := r.perms[u.id]
	switch {
	case u == r.owner:
		return "OWNER"
	case listed && r.owner.kind == "Organization":
		return "MEMBER"
	case listed:
		return "COLLABORATOR"
	}
	return "NONE"
}

// writable refuses every change of an archived repository.
func (r *Repo) writable() *apiError {
	if r.archived {
		return forbidden("Repository was archived so is read-only.")
	}
	return nil
}

// need refuses an actor below the level. What cannot even be read does not exist.
func (r *Repo) need(actor *user, level string) *apiError {
	if !r.can(actor, "read") {
		return notFound()
	}
	if e := r.writable(); e != nil {
		return e
	}
	if actor != nil && !actor.token.reaches(r, level) { // GitHub does not say that scopes are missing
		return notFound()
	}
	if !r.can(actor, level) {
		if level == "admin" {
			return forbidden("Must have admin rights to Repository.")
		}
		return forbidden("Must have push access to repository")
	}
	return nil
}

// mayEdit tells whether the actor may change what author wrote.
func (r *Repo) mayEdit(actor, author *user) *apiError {
	if e := r.writable(); e != nil {
		return e
	}
	if actor != author && !r.can(actor, "write") {
		return forbidden("Must have admin rights to Repository.")
	}
	return nil
}

// mayTalk refuses words in a locked conversation from those who cannot write.
func (is *issue) mayTalk(actor *user) *apiError {
	if e := is.repo.need(actor, "read"); e != nil {
		return e
	}
	if is.locked && !is.repo.can(actor, "write") {
		return forbidden("Unable to create comment because issue is locked.")
	}
	return nil
}
