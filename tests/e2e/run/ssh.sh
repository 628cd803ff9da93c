#!/bin/sh
# ssh.sh FOLDER COMMAND...: runs COMMAND beside an sshd on this machine, which
# FOLDER/ssh connects to as the host "loopback". Keys and settings are in FOLDER.
# Exits with 77 if sshd does not start.
folder=$1
shift
mkdir -m 700 -p "$folder" || exit
port=$((20000 + $$ % 20000))
for name in host user; do
    ssh-keygen -q -t ed25519 -N '' -f "$folder/$name" || exit 77
done
cp "$folder/user.pub" "$folder/authorized"
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd

cat >"$folder/sshd_config" <<CONF
Port $port
ListenAddress 127.0.0.1
HostKey $folder/host
AuthorizedKeysFile $folder/authorized
PidFile none
PasswordAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
CONF
cat >"$folder/config" <<CONF
Host loopback
HostName 127.0.0.1
Port $port
IdentityFile $folder/user
IdentitiesOnly yes
BatchMode yes
StrictHostKeyChecking accept-new
UserKnownHostsFile $folder/known
LogLevel ERROR
CONF
printf '#!/bin/sh\nexec ssh -F "%s/config" "$@"\n' "$folder" >"$folder/ssh"
chmod +x "$folder/ssh"

/usr/sbin/sshd -D -e -f "$folder/sshd_config" 2>"$folder/sshd.log" &
daemon=$!
trap 'kill $daemon; wait $daemon 2>/dev/null' EXIT
trap 'exit 77' INT TERM
tries=0
until "$folder/ssh" loopback true; do
    tries=$((tries + 1))
    if [ $tries = 40 ]; then
        tail -n 5 "$folder/sshd.log" >&2
        exit 77
    fi
    sleep 0.1
done 2>/dev/null
"$@"
