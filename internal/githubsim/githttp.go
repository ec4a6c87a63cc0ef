package githubsim

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// gitServices are what git asks a repository for over HTTP.
var gitServices = []string{"git-upload-pack", "git-receive-pack"}

// gitHTTP answers git's own requests at HOST/owner/name.git: clone, fetch and push. Nobody is asked
// who they are, and neither the log nor faults know of it. It reports whether the request was one
// of them.
func (h *Hub) gitHTTP(w http.ResponseWriter, r *http.Request) bool {
	parts := split(r.URL.Path)
	if len(parts) < 3 {
		return false
	}
	service, advertise := parts[len(parts)-1], false
	if service == "refs" && r.Method == http.MethodGet {
		service, advertise = r.URL.Query().Get("service"), true
	}
	if !slices.Contains(gitServices, service) {
		return false
	}
	repo := h.Repo(parts[0] + "/" + strings.TrimSuffix(parts[1], ".git"))
	if repo == nil {
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return true
	}
	if err := repo.git.overHTTP(w, r, service, advertise); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
	return true
}

// overHTTP runs one half of git's protocol.
func (g *gitDir) overHTTP(w http.ResponseWriter, r *http.Request, service string, advertise bool) error {
	args := []string{strings.TrimPrefix(service, "git-"), "--stateless-rpc"}
	kind := "result"
	if advertise {
		args, kind = append(args, "--advertise-refs"), "advertisement"
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return fmt.Errorf("read git's request: %w", err)
		}
		body = z
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-"+kind)
	w.Header().Set("Cache-Control", "no-cache")
	if advertise {
		line := "# service=" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(line)+4, line)
	}
	return g.stream(r.Context(), "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"), body, w, append(args, g.dir)...)
}
