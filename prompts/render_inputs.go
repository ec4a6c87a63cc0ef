package prompts

import "strings"

// section renders a heading with its points; nothing if there are none.
func section(title string, points []string) string {
	if len(points) == 0 {
		return ""
	}
	return title + ":\n- " + strings.Join(points, "\n- ") + "\n"
}

// handoff renders a merged design: the short agreement, then the document itself.
func (f fencer) handoff(h *Handoff) string {
	if h == nil {
		return ""
	}
	base := h.Base
	if h.BaseSHA != "" {
		base += " at " + h.BaseSHA
	}
	facts := head("document", h.DocumentPath, "merged as", h.MergeCommit, "work from", base) +
		section("decisions", h.Decisions) + section("non-goals", h.NonGoals) +
		section("acceptance criteria", h.Criteria) + section("files that will likely change", h.TouchPaths) + section("risks", h.Risks)
	return f.data("what was agreed on", facts) + "\n" + f.data("design document", orNothing(h.Document))
}

func (f fencer) checks(list []Check) string {
	parts := make([]string, 0, len(list))
	for _, c := range list {
		var text strings.Builder
		text.WriteString(head("check", c.Name, "conclusion", c.Conclusion, "link", c.URL))
		if c.Summary != "" {
			text.WriteString("\n" + c.Summary + "\n")
		}
		for _, a := range c.Annotations {
			text.WriteString("\n" + head("at", place(a.Path, a.Line), "level", a.Level) + a.Message + "\n")
		}
		if c.Log != "" {
			text.WriteString("\nthe end of its log:\n" + c.Log + "\n")
		}
		parts = append(parts, f.data("red check", text.String()))
	}
	return strings.Join(parts, "\n")
}

func (f fencer) conflict(c *Conflict) string {
	if c == nil {
		return ""
	}
	base := c.Base
	if c.BaseSHA != "" {
		base += " at " + c.BaseSHA
	}
	text := head("base", base, "head", c.HeadSHA) + section("files in conflict", c.Paths)
	if c.Log != "" {
		text += "what the merge said:\n" + c.Log + "\n"
	}
	return f.data("conflict", text)
}
