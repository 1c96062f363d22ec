
# Beginnings of addresses.
function __fish_haul_addresses
    printf '%s\t%s\n' @DESCRIBED@
end

# Block devices beside the files that fish offers: unused loop devices and RAM disks are left out.
function __fish_haul_devices
    for path in /dev/*
        test -b $path; or continue
        string match -qr '^/dev/ram[0-9]+$' -- $path; and continue
        if string match -qr '^/dev/loop[0-9]+$' -- $path; and not test -e /sys/block/(basename $path)/loop
            continue
        end
        printf '%s\tBlock device\n' $path
    end
end
