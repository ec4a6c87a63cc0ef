package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// paged cuts the page that the call asks for out of a list, and links to the other ones.
func paged[T any](c *call, list []T) ([]T, http.Header) {
	size, page := c.pageSize(), c.pageNumber()
	last := max(1, (len(list)+size-1)/size)
	header := http.Header{}
	var links []string
	add := func(rel string, n int) {
		links = append(links, fmt.Sprintf(`<%s>; rel="%s"`, c.pageURL(n), rel))
	}
	if page > 1 {
		add("prev", min(page-1, last))
	}
	if page < last {
		add("next", page+1)
		add("last", last)
	}
	if page > 1 {
		add("first", 1)
	}
	if len(links) > 0 {
		header.Set("Link", strings.Join(links, ", "))
	}
	from := min((page-1)*size, len(list))
	return list[from:min(from+size, len(list))], header
}

// pageOf answers with one page of a list, each element encoded.
func pageOf[T, J any](c *call, list []T, encode func(T) J) reply {
	part, header := paged(c, list)
	out := make([]J, len(part))
	for i, v := range part {
		out[i] = encode(v)
	}
	return reply{status: http.StatusOK, body: out, header: header}
}

func (c *call) pageSize() int {
	n, err := strconv.Atoi(c.query("per_page"))
	if err != nil || n < 1 {
		return 30
	}
	if most := c.h.openPage; most > 0 && c.query("state") == "open" && c.below() == "/issues" {
		n = min(n, most)
	}
	return min(n, 100)
}

func (c *call) pageNumber() int {
	n, err := strconv.Atoi(c.query("page"))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// pageURL is the address of another page: by the repository's id, as GitHub writes it.
func (c *call) pageURL(page int) string {
	path := c.r.URL.EscapedPath()
	if c.repo != nil {
		path = fmt.Sprintf("/repositories/%d%s", c.repo.id, c.below())
	}
	q := c.values()
	q.Set("page", strconv.Itoa(page))
	return c.urls.api + path + "?" + q.Encode()
}

// below is the escaped path below the repository.
func (c *call) below() string {
	rest := strings.TrimPrefix(c.r.URL.EscapedPath(), "/")
	drop := 3 // repos/owner/name
	if strings.HasPrefix(rest, "repositories/") {
		drop = 2
	}
	for range drop {
		_, rest, _ = strings.Cut(rest, "/")
	}
	if rest == "" {
		return ""
	}
	return "/" + rest
}

// since is the call's since parameter: what changed at that time or after it.
func (c *call) since() (time.Time, *apiError) {
	s := c.query("since")
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, invalid(errorItem{Resource: "Issue", Field: "since", Code: "invalid"})
	}
	return t, nil
}

// sortBy sorts by a stamp; equal stamps keep the order of ids, both turned by direction=desc.
func sortBy[T any](list []T, direction string, stamp func(T) time.Time) {
	sign := 1
	if direction == "desc" {
		sign = -1
		slices.Reverse(list)
	}
	slices.SortStableFunc(list, func(a, b T) int { return sign * stamp(a).Compare(stamp(b)) })
}

// order reads sort, "created" when it is not given, and direction.
func (c *call) order(direction string) (sort, dir string) {
	sort, dir = c.query("sort"), c.query("direction")
	if sort == "" {
		sort = "created"
	}
	if dir != "asc" && dir != "desc" {
		dir = direction
	}
	return sort, dir
}
