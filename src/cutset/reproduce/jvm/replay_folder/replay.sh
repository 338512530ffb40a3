#!/bin/sh
# Replays a failure of a JVM program.
#
#     sh replay.sh [--java PATH] [--class-path PATH] [--keep] [--json]
#
# Exit code: 1 the failure is there, 0 it is not, 3 cannot tell. A Python 3.11 or later judges that, by replay.py; name
# one with CUTSET_PYTHON if it is not on PATH. Without one, the workload runs once with the fault, what fired is told,
# the run stays in a new folder, and the exit code is 3.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 3
for python in "$CUTSET_PYTHON" python3 python python3.14 python3.13 python3.12 python3.11; do
    if [ "$python" ] && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        exec "$python" "$here/replay.py" "$@"
    fi
done

java=@JAVA@
class_path=@CLASS_PATH@
while [ $# -gt 0 ]; do
    case $1 in
        --java) java=$2 && shift ;;
        --class-path) class_path=$2 && shift ;;
        --keep | --json) ;;
        *) echo "replay.sh: what is $1? Its options are --java PATH, --class-path PATH, --keep, --json" >&2 && exit 3 ;;
    esac
    shift
done
folder=$(mktemp -d "${TMPDIR:-/tmp}/cutset-replay-XXXXXX") && mkdir "$folder/work" "$folder/out" || exit 3
sed "s|/@OUT@|$folder/out|" "$here/plan.json" >"$folder/plan.json" || exit 3
@FIXED@
@ENVIRONMENT@
agent=-javaagent:$here/vendor/cutset/reproduce/jvm/cutset-jvm.jar=$folder/plan.json
export JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS:+$JAVA_TOOL_OPTIONS }\"$agent\""

(
    cd @CWD@ || exit
    @COMMAND@ >"$folder/run.log" 2>&1 </dev/null &
    echo $! >"$folder/pid"
    wait $!
    echo $? >"$folder/ended"
) &
trap 'kill "$(cat "$folder/pid")"; exit 130' INT TERM
waited=0
while [ ! -s "$folder/ended" ]; do
    [ $waited -ne @TIMEOUT@ ] || kill -9 "$(cat "$folder/pid")"
    waited=$((waited + 1))
    sleep 1
done

echo 'It cannot be told whether the failure is there: that takes a Python 3.11 or later.'
printf '  oracle   %s\n' @ORACLE@
fired() {
    if [ -s "$folder/out/$1" ]; then echo "           fired, as $folder/out/$1 tells"; else echo '           did not fire'; fi
}
@FAULTS@
echo "  ended    with status $(cat "$folder/ended"), after some $waited s"
echo "  log      $folder/run.log"
exit 3
