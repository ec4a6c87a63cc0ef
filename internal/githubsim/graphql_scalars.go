package githubsim

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GitHub's scalars.
type (
	gqlTime time.Time // DateTime
	gqlURI  string    // URI
	gqlOID  string    // GitObjectID
	gqlBig  int64     // BigInt: a string on the wire
	gqlInt  int64     // Int: GitHub's database ids are wider than GraphQL's Int, and it sends them all the same
)

// ImplementsGraphQLType names the scalar.
func (gqlTime) ImplementsGraphQLType(name string) bool { return name == "DateTime" }

// ImplementsGraphQLType names the scalar.
func (gqlURI) ImplementsGraphQLType(name string) bool { return name == "URI" }

// ImplementsGraphQLType names the scalar.
func (gqlOID) ImplementsGraphQLType(name string) bool { return name == "GitObjectID" }

// ImplementsGraphQLType names the scalar.
func (gqlBig) ImplementsGraphQLType(name string) bool { return name == "BigInt" }

// ImplementsGraphQLType names the scalar.
func (gqlInt) ImplementsGraphQLType(name string) bool { return name == "Int" }

// UnmarshalGraphQL reads a DateTime.
func (t *gqlTime) UnmarshalGraphQL(in any) error {
	s, ok := in.(string)
	if !ok {
		return fmt.Errorf("DateTime is a string, not %T", in)
	}
	at, err := time.Parse(time.RFC3339, s)
	*t = gqlTime(at)
	return err
}

// MarshalJSON writes a DateTime.
func (t gqlTime) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(t).UTC().Format(time.RFC3339))
}

// UnmarshalGraphQL is needed of a scalar; no input has a URI.
func (*gqlURI) UnmarshalGraphQL(any) error { return errors.New("no input takes a URI") }

// UnmarshalGraphQL reads a GitObjectID.
func (o *gqlOID) UnmarshalGraphQL(in any) error {
	s, ok := in.(string)
	if !ok || !isOID(s) {
		return fmt.Errorf("%v is no GitObjectID", in)
	}
	*o = gqlOID(s)
	return nil
}

// UnmarshalGraphQL is needed of a scalar; no input has a BigInt.
func (*gqlBig) UnmarshalGraphQL(any) error { return errors.New("no input takes a BigInt") }

// MarshalJSON writes a BigInt.
func (b gqlBig) MarshalJSON() ([]byte, error) {
	return json.Marshal(strconv.FormatInt(int64(b), 10))
}

// UnmarshalGraphQL is needed of a scalar; no input has a wide Int.
func (*gqlInt) UnmarshalGraphQL(any) error { return errors.New("no input takes a wide Int") }

// gqlStamp is null for the zero time.
func gqlStamp(t time.Time) *gqlTime {
	if t.IsZero() {
		return nil
	}
	return new(gqlTime(t))
}

// gqlEnum is a word as enums write it; null for "".
func gqlEnum(s string) *string {
	if s == "" {
		return nil
	}
	return new(strings.ToUpper(s))
}

// gqlLine is null when there is no line.
func gqlLine(n int) *int32 {
	if n == 0 {
		return nil
	}
	return new(int32(n))
}

// gqlLink is null for "".
func gqlLink(s string) *gqlURI {
	if s == "" {
		return nil
	}
	return new(gqlURI(s))
}

// PageArgs are the arguments of every connection.
type PageArgs struct {
	After, Before *string
	First, Last   *int32
}

type gqlPageInfo struct {
	EndCursor       *string
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
}

// gqlPage is one page of a connection.
type gqlPage[T any] struct {
	Nodes      *[]T
	PageInfo   gqlPageInfo
	TotalCount int32
}

// gqlEdge is an edge of a connection, of which gh reads only the node.
type gqlEdge[T any] struct{ Node T }

// Edges are the nodes once more.
func (p *gqlPage[T]) Edges() *[]*gqlEdge[T] { return edgesOf(*p.Nodes) }

func edgesOf[T any](nodes []T) *[]*gqlEdge[T] {
	edges := make([]*gqlEdge[T], 0, len(nodes))
	for _, n := range nodes {
		edges = append(edges, &gqlEdge[T]{n})
	}
	return &edges
}

// gqlPaginate cuts the page that the arguments ask for out of everything that there is.
func gqlPaginate[M, T any](all []M, a PageArgs, encode func(M) T) *gqlPage[T] {
	from, to := 0, len(all)
	if n, ok := gqlReadCursor(a.After); ok {
		from = min(n, to)
	}
	if n, ok := gqlReadCursor(a.Before); ok {
		to = max(from, min(n-1, to))
	}
	if a.First != nil {
		to = min(to, from+int(*a.First))
	}
	if a.Last != nil {
		from = max(from, to-int(*a.Last))
	}
	nodes := make([]T, 0, to-from)
	for _, m := range all[from:to] {
		nodes = append(nodes, encode(m))
	}
	p := &gqlPage[T]{Nodes: &nodes, TotalCount: int32(len(all))}
	p.PageInfo.HasPreviousPage, p.PageInfo.HasNextPage = from > 0, to < len(all)
	if len(nodes) > 0 {
		p.PageInfo.StartCursor, p.PageInfo.EndCursor = new(gqlCursor(from+1)), new(gqlCursor(to))
	}
	return p
}

// gqlPaginateBy is gqlPaginate with cursors that name an element by a number of its own: what goes
// from the pages before it moves no element to another page.
func gqlPaginateBy[M, T any](all []M, a PageArgs, number func(M) int, encode func(M) T) *gqlPage[T] {
	below := func(n int) int { // how many there are with smaller numbers
		if at := slices.IndexFunc(all, func(m M) bool { return number(m) >= n }); at >= 0 {
			return at
		}
		return len(all)
	}
	if n, ok := gqlReadCursor(a.After); ok {
		a.After = new(gqlCursor(below(n + 1)))
	}
	if n, ok := gqlReadCursor(a.Before); ok {
		a.Before = new(gqlCursor(below(n) + 1))
	}
	p := gqlPaginate(all, a, encode)
	for _, c := range []*string{p.PageInfo.StartCursor, p.PageInfo.EndCursor} {
		if n, ok := gqlReadCursor(c); ok {
			*c = gqlCursor(number(all[n-1]))
		}
	}
	return p
}

// gqlCursor names the nth element, from 1.
func gqlCursor(n int) string {
	return base64.StdEncoding.EncodeToString([]byte("cursor:v2:" + strconv.Itoa(n)))
}

func gqlReadCursor(c *string) (int, bool) {
	if c == nil {
		return 0, false
	}
	text, err := base64.StdEncoding.DecodeString(*c)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimPrefix(string(text), "cursor:v2:"))
	return n, err == nil
}
