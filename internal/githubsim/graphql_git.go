package githubsim

import (
	"fmt"
	"strings"

	"github.com/graph-gophers/graphql-go"
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

func (g *gqlRef) ID() graphql.ID     { return graphql.ID(namedNodeID(kindRef, g.r.id, g.full)) }
func (g *gqlRef) Name() string       { return g.name }
func (g *gqlRef) Prefix() string     { return "refs/heads/" }
func (g *gqlRef) Target() *gqlObject { return &gqlObject{x: g.x, r: g.r, kind: "commit", oid: g.oid} }

// Ref finds a branch by its full or short name.
func (g *gqlRepo) Ref(a struct{ QualifiedName string }) *gqlRef {
	return g.x.ref(g.r, "refs/heads/"+strings.TrimPrefix(a.QualifiedName, "refs/heads/"))
}

// gqlObject is a commit, a tree or a blob.
type gqlObject struct {
	x    *gql
	r    *Repo
	kind string
	oid  string
}

func (g *gqlObject) ID() graphql.ID { return graphql.ID(namedNodeID(kindCommit, g.r.id, g.oid)) }
func (g *gqlObject) Oid() gqlOID    { return gqlOID(g.oid) }

func (g *gqlObject) ToCommit() (*gqlCommit, bool) {
	c := g.x.commit(g.r, g.oid)
	return c, c != nil && g.kind == "commit"
}

func (g *gqlObject) ToTree() (*gqlObject, bool) { return g, g.kind == "tree" }
func (g *gqlObject) ToBlob() (*gqlBlob, bool)   { return &gqlBlob{g}, g.kind == "blob" }

// Object finds what an expression such as main:docs/x.md, or an id, names.
func (g *gqlRepo) Object(a struct {
	Expression *string
	Oid        *gqlOID
},
) *gqlObject {
	name := ""
	switch {
	case a.Oid != nil:
		name = string(*a.Oid)
	case a.Expression != nil && !strings.HasPrefix(*a.Expression, "-"):
		name = *a.Expression
	}
	oid, err := g.r.git.run("rev-parse", "--verify", "--quiet", name)
	if name == "" || err != nil {
		return nil
	}
	kind, err := g.r.git.run("cat-file", "-t", oid)
	if err != nil {
		return nil
	}
	return &gqlObject{g.x, g.r, kind, oid}
}

// gqlBlob is a file's content.
type gqlBlob struct{ *gqlObject }

func (g *gqlBlob) content() string {
	out, err := g.r.git.run("cat-file", "blob", g.oid)
	if err != nil {
		return ""
	}
	return out
}

func (g *gqlBlob) ByteSize() int32 { return int32(len(g.content())) }
func (g *gqlBlob) IsBinary() *bool { return new(strings.ContainsRune(g.content(), 0)) }

// Text is null for a binary file.
func (g *gqlBlob) Text() *string {
	if *g.IsBinary() {
		return nil
	}
	return new(g.content())
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

func (g *gqlCommit) ID() graphql.ID          { return graphql.ID(namedNodeID(kindCommit, g.r.id, g.info.oid)) }
func (g *gqlCommit) Oid() gqlOID             { return gqlOID(g.info.oid) }
func (g *gqlCommit) AbbreviatedOid() string  { return g.info.oid[:7] }
func (g *gqlCommit) AuthoredDate() gqlTime   { return gqlTime(g.info.author.at) }
func (g *gqlCommit) CommittedDate() gqlTime  { return gqlTime(g.info.committer.at) }
func (g *gqlCommit) Message() string         { return g.info.message }
func (g *gqlCommit) MessageHeadline() string { return firstLine(g.info.message) }
func (g *gqlCommit) URL() gqlURI             { return gqlURI(g.x.urls.page(g.r) + "/commit/" + g.info.oid) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// MessageBody is the message without its first line.
func (g *gqlCommit) MessageBody() string {
	_, body, _ := strings.Cut(g.info.message, "\n")
	return strings.TrimSpace(body)
}

// Authors is the commit's author.
func (g *gqlCommit) Authors(a PageArgs) *gqlPage[*gqlGitActor] {
	return gqlPaginate([]signature{g.info.author}, a, func(s signature) *gqlGitActor {
		return &gqlGitActor{Name: orNull(s.name), Email: orNull(s.email), User: gqlAccountOf(g.x.h.user(s.name))}
	})
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
