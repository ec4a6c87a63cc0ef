//go:build unix

package story

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// scripts is where the stories are: in a folder for each topic, named by the behaviour that they
// show.
var scripts = filepath.Join("..", "..", "testdata", "script")

// worldDir makes a folder for a world that is no story's: in memory where the machine has it, as a disk
// that syncs is what such tests would wait for.
func worldDir(t *testing.T) string {
	t.Helper()
	return cmp.Or(testhome.Memory(t), t.TempDir())
}

// scriptFiles are the files of all stories.
func scriptFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scripts, "*", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// storyName is a story's name: its folder's, a slash, and its own.
func storyName(file string) string {
	return filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
}

// orderVariable names the variable that shuffles the folders.
const orderVariable = "MERGEXO_ORDER"

// shuffled orders folders by a hash with the order that is asked for; without one they stay as they are.
func shuffled(folders []string) []string {
	order := os.Getenv(orderVariable)
	if order == "" {
		return folders
	}
	place := func(folder string) string { return work.ContentHash(order + folder) }
	return slices.SortedFunc(slices.Values(folders), func(a, b string) int { return strings.Compare(place(a), place(b)) })
}

// runFolders plays stories as sub-tests of their folders, side by side. Those about the sandbox play
// where homes are: of a home below a temporary folder, where the others play, a sandbox shows nothing
// anyway.
func runFolders(t *testing.T, p testscript.Params, files []string) {
	t.Helper()
	memory := testhome.Memory(t)
	home := sync.OnceValue(func() string {
		dir, why := testhome.Try(t)
		if why != nil {
			t.Log("no folder outside the temporary ones: ", why)
			return memory
		}
		return dir
	})
	var folders []string
	byFolder := map[string][]string{}
	for _, file := range files {
		folder := filepath.Base(filepath.Dir(file))
		if byFolder[folder] == nil {
			folders = append(folders, folder)
		}
		byFolder[folder] = append(byFolder[folder], file)
	}
	for _, folder := range shuffled(folders) {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			play := func(root func() string, files []string) {
				if len(files) == 0 {
					return
				}
				p := p
				p.Files = files
				p.WorkdirRoot = filepath.Join(cmp.Or(root(), t.TempDir()), folder) // two folders may have a story of the same name
				if err := os.MkdirAll(p.WorkdirRoot, 0o755); err != nil {
					t.Fatal(err)
				}
				testscript.Run(t, p)
			}
			inBox, others := aboutTheSandbox(t, byFolder[folder])
			play(home, inBox)
			play(func() string { return memory }, others)
			if testhome.Long() {
				play(func() string { return memory }, slices.DeleteFunc(inBox, func(file string) bool { return !slices.Contains(insideToo, storyName(file)) }))
			}
		})
	}
}

// The stories of the lists are there, and each is named once.
func TestListedStoriesExist(t *testing.T) {
	all := scriptFiles(t)
	named := map[string]bool{}
	for _, name := range slices.Concat(short, telling) {
		file := filepath.Join(scripts, filepath.FromSlash(name)+".txtar")
		if !slices.Contains(all, file) || named[name] {
			t.Errorf("there is no story %s, or it is named twice", name)
		}
		named[name] = true
	}
}

// A story that is not in a folder, or in one too deep, would never be played.
func TestEveryStoryIsInAFolder(t *testing.T) {
	played := map[string]bool{}
	for _, file := range scriptFiles(t) {
		played[file] = true
	}
	err := filepath.WalkDir(scripts, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !played[path] {
			t.Errorf("%s is not played: stories are in testdata/script/FOLDER/NAME.txtar", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
