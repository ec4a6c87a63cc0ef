package work

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// AgentFile is a file or folder of a repository that agents obey without being asked to: their
// program loads it, or our prompt names it as instructions. Whoever writes it instructs agents.
type AgentFile struct {
	// Path is as in .gitignore: a name without a slash, and a path after "**/", is meant in every
	// folder, any other path from the repository's root. Case does not count, because some file
	// systems ignore it.
	Path string
	// Guide marks instructions in prose, which prompts name: the file itself, or the Markdown files
	// in the folder.
	Guide bool
}

// AgentFiles is the list of these files. The checkout of a review has them as the base has them,
// prompts name the guides among them, and a person approves the merge of a change to one.
var AgentFiles = sync.OnceValue(func() []AgentFile {
	return slices.Concat(
		guides(
			"AGENTS.md", "AGENTS.override.md", "AGENT.md", // most programs
			"CLAUDE.md", "GEMINI.md", "QWEN.md", "CRUSH.md", "WARP.md", "CODEBUDDY.md", "IFLOW.md",
			"**/.github/copilot-instructions.md", "**/.github/instructions",
			".cursorrules", ".cursor/rules", ".clinerules", ".windsurfrules", ".windsurf/rules", ".roorules", ".roo/rules", ".kilocode/rules",
			".goosehints", ".junie/guidelines.md", ".kiro/steering", ".augment-guidelines", ".augment-guidelines.md", ".augment/rules", ".continuerules", ".rules",
		),
		texts("CONTRIBUTING", "HACKING", "DEVELOPMENT", "DEVELOPING"),
		settings(
			".agents", ".agent", ".mcp.json", // several programs
			".claude", ".claude-plugin", "CLAUDE.local.md",
			".codex",
			".gemini", ".qwen", ".iflow",
			"**/.github/agents", "**/.github/skills", "**/.github/prompts", "**/.github/chatmodes", "**/.github/hooks", "**/.github/copilot", "**/.github/extensions", "**/.github/plugins",
			"**/.github/mcp.json", "**/.github/lsp.json", ".copilot", "**/.vscode/mcp.json",
			".opencode", "opencode.json", "opencode.jsonc", "CONTEXT.md", ".kilo", ".kilocode", ".kilocodemodes", "kilo.json", "kilo.jsonc",
			".cursor", ".cline", ".windsurf", ".roo", ".roomodes", ".junie", ".kiro", ".goose", ".augment", ".continue", ".amazonq", ".amp", ".trae", ".factory", ".openhands", ".pi",
			".crush", "crush.json", ".crush.json", ".aider.conf.yml",
		),
		// What hides files from a program, or from the search of several.
		settings(
			".aiexclude", ".aiignore", ".agentignore", ".claudeignore", ".codexignore", ".copilotignore", ".geminiignore", ".qwenignore", ".cursorignore", ".cursorindexingignore",
			".clineignore", ".rooignore", ".kilocodeignore", ".codeiumignore", ".augmentignore", ".continueignore", ".gooseignore", ".aiderignore", ".crushignore", ".ignore", ".rgignore",
		),
		// Variables, such as the provider's address, and code that programs load where they start.
		settings("/.env", "/.env.local", "/.env.development", "/.env.production", "/.env.test", "/bunfig.toml"),
	)
})

func guides(paths ...string) []AgentFile {
	var all []AgentFile
	for _, p := range paths {
		all = append(all, AgentFile{Path: p, Guide: true})
	}
	return all
}

func settings(paths ...string) []AgentFile {
	var all []AgentFile
	for _, p := range paths {
		all = append(all, AgentFile{Path: p})
	}
	return all
}

// texts returns guides where GitHub looks for such files, in the formats that it shows.
func texts(names ...string) []AgentFile {
	var all []AgentFile
	for _, name := range names {
		for _, dir := range []string{"/", ".github/", "docs/"} {
			for _, format := range []string{"", ".md", ".rst", ".txt", ".adoc"} {
				all = append(all, AgentFile{Path: dir + name + format, Guide: true})
			}
		}
	}
	return all
}

// fileNames is a list of AgentFile by folded paths: what is meant in every folder, and what from the
// repository's root.
type fileNames struct{ anywhere, fromRoot foldedNames }

// foldedNames has the rows by path, and the folders around those paths.
type foldedNames struct {
	rows   map[string][]AgentFile
	around map[string]bool
}

var agentFileNames = sync.OnceValue(func() fileNames { return namesOf(AgentFiles()) })

func namesOf(list []AgentFile) fileNames {
	n := fileNames{foldedNames{map[string][]AgentFile{}, map[string]bool{}}, foldedNames{map[string][]AgentFile{}, map[string]bool{}}}
	for _, f := range list {
		below, everywhere := strings.CutPrefix(f.Path, "**/")
		to := n.fromRoot
		if everywhere || !strings.Contains(f.Path, "/") {
			to = n.anywhere
		}
		key := foldPath(strings.TrimPrefix(below, "/"))
		to.rows[key] = append(to.rows[key], f)
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			to.around[dir] = true
		}
	}
	return n
}

// foldPath returns the same text for paths that differ in case only, with the letters that are
// others' forms, such as the long s.
func foldPath(p string) string { return strings.ToLower(strings.ToUpper(p)) }

// of returns the rows that mean a folded path itself, and whether it is a folder around one.
func (n fileNames) of(p string) (rows []AgentFile, around bool) {
	rows, around = n.fromRoot.rows[p], n.fromRoot.around[p]
	for from := 0; ; {
		rows, around = append(slices.Clip(rows), n.anywhere.rows[p[from:]]...), around || n.anywhere.around[p[from:]]
		next := strings.IndexByte(p[from:], '/')
		if next < 0 {
			return rows, around
		}
		from += next + 1
	}
}

// has reports whether a file, or a folder around it, is in the list. A file in the place of a folder
// around one counts too, because a link there puts other files into the folder.
func (n fileNames) has(file string) bool {
	file = foldPath(file)
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		if rows, around := n.of(p); len(rows) > 0 || around && p == file {
			return true
		}
	}
	return false
}

// IsAgentFile reports whether agents obey a file of a repository by AgentFiles.
func IsAgentFile(file string) bool { return agentFileNames().has(file) }

// IsGuide reports whether a file has instructions in prose for agents or contributors.
func IsGuide(file string) bool {
	file = foldPath(file)
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		rows, _ := agentFileNames().of(p)
		isGuide := slices.ContainsFunc(rows, func(f AgentFile) bool { return f.Guide })
		if isGuide && (p == file || slices.Contains([]string{".md", ".mdc"}, path.Ext(file))) {
			return true
		}
	}
	return false
}
