
# gh does not ask its extensions: what follows "gh mergexo" is asked here, all else of gh.
typeset -g __mergexo_gh_before=${_comps[gh]:-}
if [[ $__mergexo_gh_before == __mergexo_gh ]]; then
    __mergexo_gh_before=_gh
fi
__mergexo_gh() {
    if ((CURRENT > 2)) && [[ ${words[2]} == mergexo ]]; then
        words=(gh-mergexo "${(@)words[3,-1]}")
        ((CURRENT--))
        _gh-mergexo
        return
    fi
    if [[ -n $__mergexo_gh_before ]]; then
        $__mergexo_gh_before "$@"
    else
        _default
    fi
}
compdef __mergexo_gh gh
