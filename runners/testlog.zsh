#compdef testlog
# testlog.zsh: completion of testlog in zsh(1). The commands' own --help lists the
# flags. Where there are none, files are offered.
_testlog() {
    local -a offers
    local command=${words[2]}

    if (( CURRENT == 2 )); then
        offers=(${(f)"$(testlog --help 2>/dev/null |
            sed -nE 's/^  ([a-z]+) +(.*)/\1:\2/p')"} --help --version)
        _describe command offers
    elif [[ ${words[CURRENT]} == -* ]]; then
        offers=(${(f)"$(testlog $command --help 2>/dev/null |
            grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+')"})
        compadd -- $offers
    elif [[ $command != run ]]; then
        offers=(latest ${(f)"$(testlog list 2>/dev/null | grep -oE '^ *[^ ]*[0-9]T[0-9-]+[^ ]*')"})
        compadd -- $offers
        _files
    else
        _files
    fi
}
_testlog "$@"
