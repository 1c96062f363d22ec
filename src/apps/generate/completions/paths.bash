
# Files, beginnings of addresses, and block devices: unused loop devices and RAM disks are left out.
_haul_paths() {
    local IFS=$'\n' path
    compopt -o filenames 2>/dev/null
    COMPREPLY=()
    [[ $1 == /dev/* ]] || COMPREPLY=( $(compgen -f -- "$1") )
    if [[ ${cmd} == haul__subcmd__@(copy|verify|pattern*) ]]; then
        for path in @SCHEMES@; do
            [[ -n $1 && $path == "$1"* ]] && COMPREPLY+=("$path") && compopt -o nospace 2>/dev/null
        done
    fi
    [[ -z $1 || $1 == /dev/* ]] || return 0
    for path in /dev/* "${1%/*}"/*; do
        [[ $path == "$1"* && $path == /dev/* ]] || continue
        [[ $path == /dev/ram+([0-9]) ]] && continue
        [[ $path == /dev/loop+([0-9]) && ! -e /sys/block/${path##*/}/loop ]] && continue
        if [[ -b $path || ( -n $1 && ( -d $path || $path == /dev/@(null|zero|full|sg+([0-9])|ng+([0-9])n+([0-9])) ) ) ]]; then
            [[ $'\n'"${COMPREPLY[*]}"$'\n' == *$'\n'"$path"$'\n'* ]] || COMPREPLY+=("$path")
        fi
    done
}
