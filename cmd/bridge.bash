
# gh does not ask its extensions: what follows "gh mergexo" is asked here, all else of gh.
__mergexo_gh_before=
if [[ $(complete -p gh 2>/dev/null) =~ -F\ ([^ ]+) && ${BASH_REMATCH[1]} != __mergexo_gh ]]; then
    __mergexo_gh_before=${BASH_REMATCH[1]}
fi

__mergexo_gh() {
    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == mergexo ]]; then
        local line="gh-mergexo${COMP_LINE#*mergexo}"
        ((COMP_POINT += ${#line} - ${#COMP_LINE}))
        COMP_LINE=$line COMP_WORDS=(gh-mergexo "${COMP_WORDS[@]:2}")
        ((COMP_CWORD--))
        __start_gh-mergexo
        return
    fi
    if [[ -z $__mergexo_gh_before ]]; then # gh's own is loaded at its first use
        complete -r gh
        if declare -F _comp_load >/dev/null; then
            _comp_load gh
        elif declare -F _completion_loader >/dev/null; then
            _completion_loader gh
        fi
        if [[ $(complete -p gh 2>/dev/null) =~ -F\ ([^ ]+) ]]; then
            __mergexo_gh_before=${BASH_REMATCH[1]}
        else
            __mergexo_gh_before=:
        fi
        complete -o default -o nosort -F __mergexo_gh gh
    fi
    "$__mergexo_gh_before" "$@"
}
complete -o default -o nosort -F __mergexo_gh gh
