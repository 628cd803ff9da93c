# testlog.fish: completion of testlog in fish(1). The commands' own --help lists the
# flags.
function __testlog_commands
    testlog --help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
end

function __testlog_flags
    set -l words (commandline -opc)
    testlog $words[2] --help 2>/dev/null | string match -rg '^ +(?:-., )?(--[a-z-]+)'
end

complete -c testlog -n 'test (count (commandline -opc)) -eq 1' -f -a '(__testlog_commands)'
complete -c testlog -n 'test (count (commandline -opc)) -gt 1' -a '(__testlog_flags)'
