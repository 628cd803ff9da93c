#compdef testlog
# testlog.zsh: completion of testlog in zsh(1), which testlog itself answers. Where it
# offers nothing, files are.
_testlog() {
    local -a offers

    offers=(${(f)"$(testlog __complete "${(@)words[2,CURRENT]}" 2>/dev/null |
        sed 's/:/\\:/g; s/\t/:/')"})
    (( $#offers )) && _describe testlog offers
    _files
}
_testlog "$@"
