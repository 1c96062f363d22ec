
# Files, beginnings of addresses, and block devices: unused loop devices and RAM disks are left out.
(( $+functions[_haul_paths] )) ||
_haul_paths() {
    local ret=1 path
    local -a devices
    if [[ $PREFIX == /dev/* ]]; then
        _files -g '*(-%b) (null|zero|full|sg<->|ng<->n<->)(-%c)' && ret=0
        return ret
    fi
    _files && ret=0
    if [[ $curcontext == *haul*-(copy|verify|pattern)* && -n $PREFIX ]]; then
        devices=(@SCHEMES@)
        compadd -S '' -a devices && ret=0
        devices=()
    fi
    if [[ -z $PREFIX ]]; then
        for path in /dev/*(N-%b); do
            [[ $path == /dev/ram<-> || ( $path == /dev/loop<-> && ! -e /sys/block/${path:t}/loop ) ]] && continue
            devices+=($path)
        done
        (( $#devices )) && compadd -f -a devices && ret=0
    fi
    return ret
}

