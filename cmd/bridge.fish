
# gh does not ask its extensions: what follows "gh mergexo" is asked here, all else of gh.
function __mergexo_gh_is_asked
    set -l typed (commandline -opc)
    test (count $typed) -ge 2; and test "$typed[2]" = mergexo
end
function __mergexo_gh_answers
    set -l typed (commandline -opc)
    set -l last (commandline -ct)
    gh-mergexo __complete $typed[3..-1] "$last" 2>/dev/null | string match -v -r '^(:\d+|Completion ended .*)$'
end
complete -c gh -n __mergexo_gh_is_asked -f -a '(__mergexo_gh_answers)'
