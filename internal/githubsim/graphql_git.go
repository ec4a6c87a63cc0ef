package githubsim

import (
	"fmt"
	"strings"
)

// noNumber is the refusal of a number that names nothing.
func noNumber(what string, n int32) *gqlError {
	return &gqlError{"NOT_FOUND", fmt.Sprintf("Could not resolve to %s with the number of %d.", what, n)}
}

// gqlRef is a Ref.
type gqlRef struct {
	x          *gql
	r          *Repo
	full, name string
	oid        string
}

// ref is null for a branch that is not there.
func (x *gql) ref(r *Repo, full string) *gqlRef {
	if r == nil {
		return nil
	}
	branch, ok := strings.CutPrefix(full, "refs/heads/")
	if !ok {
		return nil
	}
	oid, ok := r.git.head(branch)
	if !ok {
		return nil
	}
	return &gqlRef{x, r, full, branch, oid}
}

func (g *gqlRef) Target() *gqlObject { return &gqlObject{x: g.x, r: g.r, kind: "commit", oid: g.oid} }

func (g *gqlRef) Name() string   { return g.name }
func (g *gqlRef) Prefix() string { return "refs/heads/" }

// gqlObject is a commit, a tree or a blob.
type gqlObject struct {
	x    *gql
	r    *Repo
	kind string
	oid  string
}

func (g *gqlObject) ToCommit() (*gqlCommit, bool) {
	c := g.x.commit(g.r, g.oid)
	return c, c != nil && g.kind == "commit"
}

// gqlCommit is a Commit.
type gqlCommit struct {
	x    *gql
	r    *Repo
	info commitInfo
}

// commit is null for one that the repository does not have.
func (x *gql) commit(r *Repo, oid string) *gqlCommit {
	if oid == "" {
		return nil
	}
	info, err := r.git.commit(oid)
	if err != nil {
		return nil
	}
	return &gqlCommit{x, r, info}
}

func (g *gqlCommit) Oid() gqlOID { return gqlOID(g.info.oid) }

func (g *gqlCommit) AbbreviatedOid() string  { return g.info.oid[:7] }
func (g *gqlCommit) Message() string         { return g.info.message }
func (g *gqlCommit) CommittedDate() gqlTime  { return gqlTime(g.info.committer.at) }
func (g *gqlCommit) MessageHeadline() string { return firstLine(g.info.message) }
func (g *gqlCommit) AuthoredDate() gqlTime   { return gqlTime(g.info.author.at) }

// MessageBody is the message without its first line.
func (g *gqlCommit) MessageBody() string {
	_, body, _ := strings.Cut(g.info.message, "\n")
	return strings.TrimSpace(body)
}

// gqlSigner is a GitActor.
type gqlSigner struct {
	Name, Email *string
	User        *gqlAccount
}

// Authors is the author; co-authors are not told.
func (g *gqlCommit) Authors(a PageArgs) *gqlPage[*gqlSigner] {
	return gqlPaginate([]signature{g.info.author}, a, func(s signature) *gqlSigner {
		return &gqlSigner{&s.name, &s.email, gqlAccountOf(g.x.h.userByEmail(s.email))}
	})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Parents are the commits that it was made on.
func (g *gqlCommit) Parents(a PageArgs) *gqlPage[*gqlCommit] {
	return gqlPaginate(g.info.parents, a, func(oid string) *gqlCommit { return g.x.commit(g.r, oid) })
}

// Status is the commit's statuses, null when it has none.
func (g *gqlCommit) Status() *gqlCommitStatus {
	list := g.r.latestStatuses(g.info.oid)
	if len(list) == 0 {
		return nil
	}
	return &gqlCommitStatus{g, list}
}

// StatusCheckRollup is checks and statuses together.
func (g *gqlCommit) StatusCheckRollup() (*gqlRollup, error) { return g.x.rollup(g.r, g.info.oid) }
