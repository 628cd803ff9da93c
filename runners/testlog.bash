# testlog.bash: completion of testlog, and of test programs, in bash(1).
#
#   complete -o default -F _testlog_program ring_test
#
# is for a test program of yours. Flags and tests are asked of the programs
# themselves; where nothing is offered, files are.

# _testlog_line sets `words`, what stands before the cursor, and `token`, the
# last of them: bash's own words end at "=" and ":".
_testlog_line() {
    local line=${COMP_LINE:0:COMP_POINT}

    read -ra words <<<"$line"
    token=${line##*[[:space:]]}
    [[ -n $token ]] && unset 'words[-1]'
    COMPREPLY=()
}

# _testlog_offer WORD...: those that the token may become.
_testlog_offer() {
    local breaks=${COMP_WORDBREAKS//[^=:]/} kept="" plain=${token//\\/} word

    [[ -n $breaks ]] && kept=${plain%"${plain##*["$breaks"]}"}
    for word; do
        [[ $word == "$plain"* ]] || continue
        word=${word#"$kept"}
        [[ $word == *[^A-Za-z0-9_./:=,+@%^~-]* ]] && word=$(printf %q "$word")
        COMPREPLY+=("$word")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

# _testlog_ask PROGRAM FLAG: what a test program answers. Nothing else is run:
# it would do whatever it does.
_testlog_ask() {
    local program

    program=$(type -P -- "${1/#\~\//$HOME/}") || return
    grep -qa TESTLOG_SESSION "$program" || return
    "$program" "$2" </dev/null 2>/dev/null
}

# _testlog_flags: the flags that the help of the program in `asked` lists.
_testlog_flags() {
    {
        "${asked[@]}" --help=all |
            grep -oE '^ +(-.|--[a-z-]+)(, --[a-z-]+)?' | tr -d ' ' | tr , '\n'
    } | awk '!seen[$0]++'
}

# _testlog_tests PROGRAM: its tests as suite/test.
_testlog_tests() {
    _testlog_ask "$1" --list | LC_ALL=C awk '
        /^[A-Za-z_]/ { suite = $1; sub(":.*", "", suite); next }
        match($0, "[A-Za-z_][A-Za-z_0-9]*") {
            print suite "/" substr($0, RSTART, RLENGTH)
        }'
}

# _testlog_words FLAG: the words that its value is one of, from the help of the
# program in `asked`: "--log-time=utc|uptime|none". Placeholders are capitals.
_testlog_words() {
    "${asked[@]}" --help=all |
        sed -nE "s/^ .*[ ,]$1(, --[a-z-]+)?\\[?=([^] ]*).*/\\2/p" | tr '|' '\n' |
        sed -E 's/[A-Z,./]+$//; /^$/d'
}

# _testlog_keys OPTION: the profiler options that this help lists; behind
# "KEY=", the words of its value.
_testlog_keys() {
    local key=${1%%=*}

    [[ $1 == *=* ]] || key='[a-z_]+'
    "${asked[@]}" --help=all |
        if [[ $1 == *=* ]]; then
            sed -nE "s/^ +$key=([^ ]+) .*/\\1/p" | tr '|' '\n' | sed "s/^/$key=/"
        else
            sed -nE "s/^ +($key=).*/\\1/p"
        fi
}

# _testlog_filter HEAD VALUE PROGRAM...: levels, and the programs' targets.
_testlog_filter() {
    local head=$1 value=$2 last=${2##*[,=]} program
    local offers=(off error warn info debug trace)

    shift 2
    if [[ $value != *=* || ${value##*,} != *=* ]]; then
        for program; do
            mapfile -t -O ${#offers[@]} offers < <(
                _testlog_ask "$program" --list-sites |
                    sed -n 's/.*"target":"\([^"]*\)".*/\1/p' | sort -u
            )
        done
    fi
    _testlog_offer "${offers[@]/#/$head${value%"$last"}}"
    compopt -o nospace 2>/dev/null # a directive may go on
}

# _testlog_value FLAG HEAD VALUE PROGRAM...: the value of a flag of programs;
# HEAD is what stands before it in the token.
_testlog_value() {
    local flag=$1 head=$2 value=$3 program
    local -a offers

    shift 3
    case $flag in
    --log | --trace-filter)
        _testlog_filter "$head" "$value" "$@"
        return
        ;;
    --filter | --pattern)
        for program; do
            mapfile -t -O ${#offers[@]} offers < <(_testlog_tests "$program")
        done
        ;;
    --log-span-events | --log-fields | --trace-options)
        head+=${value%"${value##*,}"}
        ;;&
    --trace-options)
        mapfile -t offers < <(_testlog_keys "${value##*,}")
        ;;
    *)
        mapfile -t offers < <(_testlog_words "$flag")
        ;;
    esac
    _testlog_offer "${offers[@]/#/$head}"
}

# _testlog_of PROGRAM...: a flag of test programs, or its value.
_testlog_of() {
    local -a offers asked=(_testlog_ask "$1")

    if [[ $token == --*=* ]]; then
        _testlog_value "${token%%=*}" "${token%%=*}=" "${token#*=}" "$@"
    elif [[ $token == -* ]]; then
        mapfile -t offers < <(_testlog_flags)
        _testlog_offer "${offers[@]}"
    elif [[ ${words[-1]} == -* && ${words[-1]} != -- ]]; then
        _testlog_value "${words[-1]}" "" "$token" "$@"
    else
        _testlog_value --filter "" "$token" "$@"
    fi
}

# Programs complete the words after "run PROGRAM... --", testlog all others.
_testlog() {
    local token i
    local -a words offers

    _testlog_line
    for ((i = 2; i < ${#words[@]}; i++)); do
        if [[ ${words[1]} == run && ${words[i]} == -- ]]; then
            _testlog_of "${words[@]:2:i-2}"
            return
        fi
    done
    mapfile -t offers < <(
        "${words[0]}" __complete "${words[@]:1}" "$token" 2>/dev/null | cut -f 1
    )
    _testlog_offer "${offers[@]}"
}

_testlog_program() {
    local token
    local -a words

    _testlog_line
    _testlog_of "${words[0]}"
}

complete -o default -F _testlog testlog
