package work

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// orderFiles lists files from which gh mergexo, GitHub or a merge bot takes orders about other work.
// Their paths are as in AgentFile.
var orderFiles = sync.OnceValue(func() fileNames {
	all := settings(
		"/.specify", // the specification of a change, for its author and its reviewers
		"/.github/ISSUE_TEMPLATE",
		"/.gitmodules", // from where our login fetches
		// who approves, and what is merged or labelled without a person
		"/CODEOWNERS", "/.github/CODEOWNERS", "/docs/CODEOWNERS", "OWNERS", "OWNERS_ALIASES",
		"/.mergify.yml", "/.mergify", "/.github/mergify.yml", "/.github/settings.yml", "/.asf.yaml", "/bors.toml", "/.github/bors.toml", "/.bulldozer.yml", "/.github/bulldozer.yml",
		"/.kodiak.toml", "/.github/.kodiak.toml", "/.policy.yml", "/.prow.yaml", "/.github/labeler.yml",
		"/renovate.json", "/renovate.json5", "/.renovaterc", "/.renovaterc.json", "/.github/renovate.json", "/.github/renovate.json5",
		"/.aviator", "/.github/auto-merge.yml", "/.github/mergeable.yml",
	)
	for _, dir := range []string{"/", "/.github/", "/docs/"} {
		for _, format := range []string{"", ".md", ".txt"} {
			all = append(all, AgentFile{Path: dir + "PULL_REQUEST_TEMPLATE" + format})
		}
	}
	return namesOf(all)
})

// TakesOrders reports whether others take orders from a file, so that a person must approve its
// change: one of orderFiles, or the document of a design or a roadmap. The document of the changing
// item itself does not count: its flow is how it comes to the base.
func TakesOrders(file string, f Flow, issue int) bool {
	if (f.Document() || f == FlowImplementation) && IsDocument(f, file, issue) {
		return false
	}
	return orderFiles().has(file) || SetsTitles(file) || isAnyDocument(foldPath(file))
}

// SetsTitles reports whether a file is commitlint's configuration, which prompts quote as the rules for titles.
func SetsTitles(file string) bool {
	name := foldPath(file)
	return !strings.Contains(name, "/") && (strings.HasPrefix(name, "commitlint.config.") || name == ".commitlintrc" || strings.HasPrefix(name, ".commitlintrc."))
}

// isAnyDocument reports whether a folded path is a document of any issue, or is in the place of the
// folder of such documents.
func isAnyDocument(file string) bool {
	for _, f := range []Flow{FlowDesign, FlowRoadmap} {
		dir := "docs/" + f.documents()
		name, below := strings.CutPrefix(file, dir+"/")
		digits, _, numbered := strings.Cut(name, "-")
		if slices.Contains([]string{"docs", dir}, file) || below && numbered && digits != "" && strings.Trim(digits, "0123456789") == "" && path.Ext(name) == ".md" {
			return true
		}
	}
	return false
}
