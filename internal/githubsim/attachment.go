package githubsim

import (
	"fmt"
	"net/http"
)

// attachment is a file that somebody uploaded to a text.
type attachment struct {
	content string
	leads   string // the address that the host answers with; empty: that of its storage
}

// Attach uploads a file, and returns its id. leads is an address that the host answers with in place of its storage's.
func (h *Hub) Attach(content, leads string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(h.attachments)+1)
	if h.attachments == nil {
		h.attachments = map[string]attachment{}
	}
	h.attachments[id] = attachment{content, leads}
	return id
}

// getAttachment leads somebody with a token to the storage, by an address that lets in whoever has it.
func getAttachment(c *call) (reply, *apiError) {
	id := c.r.PathValue("name")
	a, is := c.h.attachments[id]
	if !is || c.viewer == nil {
		return reply{}, notFound()
	}
	if a.leads == "" {
		a.leads = fmt.Sprintf("http://objects.%s/stored-attachments/%s?jwt=signed", c.r.Host, id)
	}
	return reply{status: http.StatusFound, header: http.Header{"Location": {a.leads}}}, nil
}

func getStoredAttachment(c *call) (reply, *apiError) {
	a, is := c.h.attachments[c.r.PathValue("name")]
	if !is || c.r.URL.Query().Get("jwt") != "signed" {
		return reply{}, notFound()
	}
	return reply{status: http.StatusOK, text: a.content}, nil
}
