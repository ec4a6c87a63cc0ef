package demo

// program is the repository of the demo: a small program with a bug.
var program = map[string]string{
	"greet.sh": `#!/bin/sh
# greet.sh [NAME] says hello.
set -eu

name=${1-}
echo "Hello, $name!"
`,
	"test.sh": `#!/bin/sh
# Tests of greet.sh: says what is wrong, and ends with 1 if anything is.
cd "$(dirname "$0")" || exit 1
failed=0

check() { # check WANT [NAME]
	want=$1
	shift
	got=$(sh greet.sh "$@")
	[ "$got" = "$want" ] || {
		echo "greet.sh $*: want '$want', got '$got'"
		failed=1
	}
}

check 'Hello, Ada!' Ada
[ $failed = 1 ] || echo "all well"
exit $failed
`,
	"README.md": `# greet

Says hello.
`,
}

// What the scripted agent changes of it: each edit replaces what stands in the
// file, once, so that an edit that does not fit is seen.
var (
	fixName     = edit{"greet.sh", "name=${1-}\n", "name=${1:-world}\n"}
	nameDefault = edit{"greet.sh", "name=${1:-world}\n", "everybody=world # who is greeted when nobody is named\n\nname=${1:-$everybody}\n"}
	addTest     = edit{"test.sh", "check 'Hello, Ada!' Ada\n", "check 'Hello, Ada!' Ada\ncheck 'Hello, world!'\n"}
	explainUse  = edit{"README.md", "Says hello.\n", "Says hello.\n\n## Use\n\n    ./greet.sh Ada\n\n`sh test.sh` runs the tests.\n"}
	useSh       = edit{"README.md", "    ./greet.sh Ada\n", "    sh greet.sh Ada\n"} // greet.sh is a text, and no program
)

// The implementation of the design, on top of the bug fix.
var (
	addLanguage = edit{"greet.sh", "name=${1:-$everybody}\necho \"Hello, $name!\"\n", `greeting=Hello
if [ "${1-}" = --lang ]; then
	greeting=$(awk -v lang="$2" '$1 == lang { print $2 }' "$(dirname "$0")/greetings.txt")
	[ -n "$greeting" ] || {
		echo "greet.sh: no greeting for $2" >&2
		exit 1
	}
	shift 2
fi
name=${1:-$everybody}
echo "$greeting, $name!"
`}
	testLanguage = edit{"test.sh", "check 'Hello, world!'\n", "check 'Hello, world!'\ncheck 'Hallo, Ada!' --lang de Ada\n"}
)

const (
	greetingsFile = "greetings.txt"
	greetings     = "de Hallo\npl Cześć\n"
)

// farewell are the nodes of the roadmap; the second and the third need the first.
var farewell = []node{
	{
		id: "bye", title: "Say goodbye", goal: "`sh bye.sh Ada` says \"Goodbye, Ada!\".",
		scope: "A new program `bye.sh`; `greet.sh` stays as it is.", tests: "`test.sh` runs `bye.sh`.",
		edits: []edit{testBye}, file: byeFile, text: bye,
	},
	{
		id: "all", title: "Say goodbye to several people", needs: []string{"bye"}, goal: "`sh bye.sh Ada Bob` says goodbye to both, on a line each.",
		scope: "`bye.sh` alone.", tests: "`test.sh` runs `bye.sh` with two names.",
		edits: []edit{byeAll, testAll},
	},
	{
		id: "readme", title: "Say in the README how to say goodbye", needs: []string{"bye"}, goal: "The README names `bye.sh`.",
		scope: "`README.md` alone.", tests: "What it says is typed as it stands.",
		edits: []edit{explainBye},
	},
}

const (
	byeFile = "bye.sh"
	bye     = `#!/bin/sh
# bye.sh [NAME] says goodbye.
set -eu

echo "Goodbye, ${1:-everybody}!"
`
)

var (
	testBye    = edit{"test.sh", "[ $failed = 1 ] ||", "[ \"$(sh bye.sh Ada)\" = 'Goodbye, Ada!' ] || failed=1\n[ $failed = 1 ] ||"}
	byeAll     = edit{byeFile, "echo \"Goodbye, ${1:-everybody}!\"\n", "[ $# -gt 0 ] || set -- everybody\nfor name; do\n\techo \"Goodbye, $name!\"\ndone\n"}
	testAll    = edit{"test.sh", "[ $failed = 1 ] ||", "[ \"$(sh bye.sh Ada Bob | wc -l)\" -eq 2 ] || failed=1\n[ $failed = 1 ] ||"}
	explainBye = edit{"README.md", "    sh greet.sh Ada\n", "    sh greet.sh Ada\n    sh bye.sh Ada Bob\n"}
)

const designDoc = `## What

` + "`greet.sh --lang de Ada`" + ` says "Hallo, Ada!". Without ` + "`--lang`" + ` nothing changes.

## How

` + "`greetings.txt`" + ` gets a line for each language: its code, a blank, the greeting.
A new language is a new line, and no code.
`

const designAnswer = `
## A language that is not in the file

` + "`greet.sh`" + ` says so on standard error, greets nobody and ends with 1:
no greeting is better than a wrong one.
`
