#!/bin/sh
# slurm.sh FOLDER COMMAND...: runs COMMAND beside Slurm's daemons, which keep
# their files in FOLDER and offer this machine as a node called $NODE with eight
# processors. Exits with 77 if the daemons do not start, or if COMMAND does not
# end.
folder=$1 host=$(hostname -s) end=$(($(date +%s) + 100))
shift
daemons=
cleanup() {
    for pid in $daemons; do
        kill "$pid"
        wait "$pid"
    done 2>/dev/null
}
trap cleanup EXIT
trap 'exit 77' INT TERM

free_port() { # finds two unused ports
    port=$((20000 + $$ % 20000))
    while grep -qiE "^ *[0-9]+: [0-9A-F]+:($(printf '%04X|%04X' $port $((port + 1)))) " \
        /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
        port=$((port + 2))
    done
}

wait_for() { # COMMAND...: retries for 8 seconds
    for _ in $(seq 80); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "failed: $*" >&2
    tail -n 5 "$folder"/*.log >&2
    exit 77
}

is_idle() { sinfo -h -o %t | grep -qE '^(idle|mix)'; }

free_port
mkdir -p "$folder/state" "$folder/spool" || exit
chmod 755 "$folder"
(umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
cat >"$folder/slurm.conf" <<CONF
ClusterName=testlog
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
KillWait=1
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
export SLURM_CONF="$folder/slurm.conf"

munged -F --force --socket="$folder/munge.socket" --num-threads=1 \
    --key-file="$folder/munge.key" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" \
    >"$folder/munge.log" 2>&1 &
daemons=$!
wait_for test -S "$folder/munge.socket"
slurmctld -D >"$folder/control.log" 2>&1 &
daemons="$! $daemons"
wait_for sinfo -h
slurmd -D >"$folder/node.log" 2>&1 &
daemons="$! $daemons"
wait_for is_idle
NODE=$host timeout $((end - $(date +%s))) "$@" >&2
status=$?
[ $status -ne 124 ] && exit $status
echo "the jobs did not end" >&2
squeue >&2
timeout 5 scancel --user=root
exit 77
