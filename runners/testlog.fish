# testlog.fish: completion of testlog in fish(1), which testlog itself answers.
function __testlog_offers
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end

complete -c testlog -a '(__testlog_offers)'
