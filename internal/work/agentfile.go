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
	// Path is as in .gitignore: a name without a slash is meant in every folder, any other path
	// from the repository's root. Case does not count, because some file systems ignore it.
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
			".github/copilot-instructions.md", ".github/instructions",
			".cursorrules", ".cursor/rules", ".clinerules", ".windsurfrules", ".windsurf/rules", ".roorules", ".roo/rules", ".kilocode/rules",
			".goosehints", ".junie/guidelines.md", ".kiro/steering", ".augment-guidelines", ".augment/rules", ".continuerules", ".rules",
		),
		texts("CONTRIBUTING", "HACKING", "DEVELOPMENT", "DEVELOPING"),
		settings(
			".agents", ".agent", ".mcp.json", // several programs
			".claude", ".claude-plugin", "CLAUDE.local.md",
			".codex",
			".gemini", ".qwen", ".iflow",
			".github/agents", ".github/skills", ".github/prompts", ".github/chatmodes", ".github/hooks", ".github/copilot", ".github/mcp.json", ".copilot", ".vscode/mcp.json",
			".opencode", "opencode.json", "opencode.jsonc", ".kilo", ".kilocode", ".kilocodemodes", "kilo.json", "kilo.jsonc",
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

// agentFileNames is AgentFiles by folded names and paths.
var agentFileNames = sync.OnceValue(func() (l struct {
	anywhere, fromRoot map[string][]AgentFile
	around             map[string]bool // folders that hold paths of fromRoot
},
) {
	l.anywhere, l.fromRoot, l.around = map[string][]AgentFile{}, map[string][]AgentFile{}, map[string]bool{}
	for _, f := range AgentFiles() {
		key := foldPath(strings.TrimPrefix(f.Path, "/"))
		if !strings.Contains(f.Path, "/") {
			l.anywhere[key] = append(l.anywhere[key], f)
			continue
		}
		l.fromRoot[key] = append(l.fromRoot[key], f)
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			l.around[dir] = true
		}
	}
	return l
})

// foldPath returns the same text for paths that differ in case only, with the letters that are
// others' forms, such as the long s.
func foldPath(p string) string { return strings.ToLower(strings.ToUpper(p)) }

// IsAgentFile reports whether agents obey a file of a repository: the file, or a folder around it,
// is one of AgentFiles. A file in the place of a folder around one counts too, because a link there
// puts other files into the folder.
func IsAgentFile(file string) bool {
	file = foldPath(file)
	l := agentFileNames()
	if l.around[file] {
		return true
	}
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		if len(l.fromRoot[p]) > 0 || len(l.anywhere[path.Base(p)]) > 0 {
			return true
		}
	}
	return false
}

// IsGuide reports whether a file has instructions in prose for agents or contributors.
func IsGuide(file string) bool {
	file = foldPath(file)
	l := agentFileNames()
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		isGuide := slices.ContainsFunc(slices.Concat(l.fromRoot[p], l.anywhere[path.Base(p)]), func(f AgentFile) bool { return f.Guide })
		if isGuide && (p == file || slices.Contains([]string{".md", ".mdc"}, path.Ext(file))) {
			return true
		}
	}
	return false
}
