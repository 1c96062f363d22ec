# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_haul_global_optspecs
    string join \n h/help V/version
end

function __fish_haul_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_haul_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_haul_using_subcommand
    set -l cmd (__fish_haul_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c haul -n "__fish_haul_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_needs_command" -s V -l version -d 'Print version'
complete -c haul -n "__fish_haul_needs_command" -f -a "copy" -d 'Copy a disk, a partition, a file or a stream'
complete -c haul -n "__fish_haul_needs_command" -f -a "rescue" -d 'Rescue a failing disk: what is readable first'
complete -c haul -n "__fish_haul_needs_command" -f -a "map" -d 'Show, compare and combine the maps of rescues'
complete -c haul -n "__fish_haul_needs_command" -f -a "verify" -d 'Compare two sides: what differs, and where'
complete -c haul -n "__fish_haul_needs_command" -f -a "manifest" -d 'Show, compare or export manifests of copies'
complete -c haul -n "__fish_haul_needs_command" -f -a "pattern" -d 'Test a disk: write a pattern, then verify it'
complete -c haul -n "__fish_haul_needs_command" -f -a "journal" -d 'List or remove journals; exchange them with GNU ddrescue'
complete -c haul -n "__fish_haul_needs_command" -f -a "plan" -d 'Divide a copy among many machines'
complete -c haul -n "__fish_haul_needs_command" -f -a "status" -d 'Show how far a copy by many machines is'
complete -c haul -n "__fish_haul_needs_command" -f -a "finish" -d 'Complete a copy by many machines'
complete -c haul -n "__fish_haul_needs_command" -f -a "tune" -d 'Find the best block size and queue depth for a disk'
complete -c haul -n "__fish_haul_needs_command" -f -a "profile" -d 'Measure a disk: rate by position, latency of commands'
complete -c haul -n "__fish_haul_needs_command" -f -a "list" -d 'List block devices: aliases, size, identity, use and partitions'
complete -c haul -n "__fish_haul_needs_command" -f -a "config" -d 'Show the configured defaults, and where each comes from'
complete -c haul -n "__fish_haul_needs_command" -f -a "dd" -d 'Copy with the operands of GNU dd'
complete -c haul -n "__fish_haul_needs_command" -f -a "sg_dd" -d 'Copy with the operands of sg_dd of sg3_utils'
complete -c haul -n "__fish_haul_needs_command" -f -a "sgp_dd" -d 'Copy with the operands of sgp_dd of sg3_utils'
complete -c haul -n "__fish_haul_needs_command" -f -a "sgm_dd" -d 'Copy with the operands of sgm_dd of sg3_utils'
complete -c haul -n "__fish_haul_needs_command" -f -a "help" -d 'Print the help of haul or of a command'
complete -c haul -n "__fish_haul_needs_command" -f -a "version" -d 'Print the version'
complete -c haul -n "__fish_haul_using_subcommand copy" -l also -d 'Additional destination; may be repeated' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l skip -d 'Start at this offset of the source' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l seek -d 'Start at this offset of the destination' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -s c -l count -d 'Copy only this many bytes' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l time -d 'Stop after this time' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l ranges -d 'Only the ranges that FILE lists' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l source-ranges -d 'Gather these ranges of the source' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l destination-ranges -d 'Scatter to these ranges of the destination' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l ranges-unit -d 'Unit of numbers without suffix in lists of ranges' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l plan -d 'Copy one shard of this plan' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l shard -d 'Which shard of --plan: K/N, or auto' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l expect -d 'Refuse unless DST has this serial, model, wwn, size' -r -f -a "serial=\t''
model=\t''
wwn=\t''
size=\t''
etag=\t''"
complete -c haul -n "__fish_haul_using_subcommand copy" -l choose -d 'Disks offered without DST: removable, all' -r -f -a "removable\t'disks that can be taken out'
all\t'every disk that is not in use'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l choose-max -d 'Largest disk offered without DST' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l verify -d 'Read the destination back and compare it' -r -f -a "all\t''
afterwards\t''
sample:1%\t''"
complete -c haul -n "__fish_haul_using_subcommand copy" -l delta -d 'Write only blocks that differ' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l manifest -d 'Write digests of the copied data to FILE' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l manifest-block -d 'Block size of digests; default: 4M' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l on-error -d 'On unreadable sectors: stop, skip, retry:N' -r -f -a "stop\t''
skip\t''
retry:3\t''
retry:3\,skip\t''"
complete -c haul -n "__fish_haul_using_subcommand copy" -l compress -d 'Compress the destination: zstd, xz or gzip, with :LEVEL' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l checksum -d 'Compare the source with a checksum: FILE or sha256:HEX' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l bmap -d 'Copy only the ranges of this block map' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l journal -d 'Keep the journal in this file' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l checkpoint -d 'Seconds between two checkpoints' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l mapfile -d 'Write a mapfile for GNU ddrescue' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l sparse -d 'Zeros and holes: auto, always, never' -r -f -a "auto\t'where it is faster'
always\t'always, or fail'
never\t'never'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l reflink -d 'Share extents of files: auto, always, never' -r -f -a "auto\t'where it is faster'
always\t'always, or fail'
never\t'never'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l direct -d 'Direct I/O: auto, always, never' -r -f -a "auto\t'where it is faster'
always\t'always, or fail'
never\t'never'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l passthrough -d 'SCSI/NVMe passthrough: source, destination, both' -r -f -a "possible\t'every side that supports it, at least one'
source\t'the source, or fail'
destination\t'the destination, or fail'
both\t'both, or fail'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l command-timeout -d 'Timeout of passthrough commands in seconds' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l engine -d 'auto, ring (io_uring), threads, sync' -r -f -a "auto\t'ring where the kernel allows it, otherwise threads'
ring\t'io_uring: many requests in flight from one thread'
threads\t'helper threads with blocking calls, many requests in flight'
sync\t'one block at a time, as a baseline'"
complete -c haul -n "__fish_haul_using_subcommand copy" -s b -l block-size -d 'Bytes per request; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l depth -d 'Blocks in flight; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -s l -l limit -d 'Limit the rate in bytes per second' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l hash -d 'Digest of the source: blake3, sha256, md5, xxh3' -r -f -a "blake3\t'256 bits, fast'
sha256\t'256 bits, widely used'
sha512\t'512 bits, for existing checksum lists'
md5\t'128 bits, only for existing checksum lists'
xxh3\t'128 bits, fastest, not cryptographic'
none\t'no digest, even if one is configured'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l progress -d 'auto, bar, plain, json, none' -r -f -a "auto\t'bar on a terminal, plain elsewhere'
bar\t'a redrawn bar'
plain\t'a line periodically'
json\t'one JSON object a line'
none\t'nothing'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l label -d 'Label of this run in its report' -r -f
complete -c haul -n "__fish_haul_using_subcommand copy" -l report -d 'Write the report as a page with charts' -r -F
complete -c haul -n "__fish_haul_using_subcommand copy" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand copy" -l independent -d 'Do not let a slow --also destination delay the others'
complete -c haul -n "__fish_haul_using_subcommand copy" -s y -l yes -d 'Overwrite a device without asking'
complete -c haul -n "__fish_haul_using_subcommand copy" -s n -l dry-run -d 'Show the plan, write nothing'
complete -c haul -n "__fish_haul_using_subcommand copy" -l no-flush -d 'Exit before the data is on the medium'
complete -c haul -n "__fish_haul_using_subcommand copy" -l decompress -d 'Copy the content of a compressed source'
complete -c haul -n "__fish_haul_using_subcommand copy" -l as-is -d 'Copy a compressed source unchanged'
complete -c haul -n "__fish_haul_using_subcommand copy" -l no-checksum -d 'Ignore lists of checksums beside the source'
complete -c haul -n "__fish_haul_using_subcommand copy" -l no-bmap -d 'Ignore a block map beside the source'
complete -c haul -n "__fish_haul_using_subcommand copy" -l resume -d 'Resume an interrupted copy'
complete -c haul -n "__fish_haul_using_subcommand copy" -l restart -d 'Discard an unfinished copy and copy from the start'
complete -c haul -n "__fish_haul_using_subcommand copy" -l no-journal -d 'Keep no journal'
complete -c haul -n "__fish_haul_using_subcommand copy" -l offload -d 'Offload the copy to the device where supported'
complete -c haul -n "__fish_haul_using_subcommand copy" -s v -l verbose -d 'Print the full report; -vv: and the plan\'s reasons'
complete -c haul -n "__fish_haul_using_subcommand copy" -s q -l quiet -d 'Print nothing but errors'
complete -c haul -n "__fish_haul_using_subcommand copy" -l no-estimate -d 'Do not estimate the duration with sample reads'
complete -c haul -n "__fish_haul_using_subcommand copy" -l json -d 'Print the report as JSON on standard output'
complete -c haul -n "__fish_haul_using_subcommand copy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s r -l retries -d 'Passes over unreadable sectors, or endless' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -s m -l domain -d 'Rescue only what this map lists as finished' -r -F
complete -c haul -n "__fish_haul_using_subcommand rescue" -s F -l fill -d 'Rescue nothing: fill what was not rescued with data' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -s K -l skip-size -d 'Bytes to skip after a failed read: FIRST, FIRST,MOST or ,MOST' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -s a -l min-slow-rate -d 'A slower read is left for later' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -l read-timeout -d 'Time limit of a read: COPYING or COPYING,LATER' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -l reconnect -d 'Wait for a disk that disappears: TIME or never' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -l max-temperature -d 'Pause above this temperature in °C' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -s Z -l max-read-rate -d 'No more than this many bytes a second' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -s E -l max-error-rate -d 'End above this rate of errors' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -s T -l stop-after -d 'End after this time without a new byte' -r -f
complete -c haul -n "__fish_haul_using_subcommand rescue" -l expect -d 'DST must be this one: serial=S,size=N,…' -r -f -a "serial=\t''
model=\t''
wwn=\t''
size=\t''
etag=\t''"
complete -c haul -n "__fish_haul_using_subcommand rescue" -l progress -d 'auto, bar, plain, json, none' -r -f -a "auto\t'bar on a terminal, plain elsewhere'
bar\t'a redrawn bar'
plain\t'a line periodically'
json\t'one JSON object a line'
none\t'nothing'"
complete -c haul -n "__fish_haul_using_subcommand rescue" -l log-events -d 'Append the phases and the end to FILE' -r -F
complete -c haul -n "__fish_haul_using_subcommand rescue" -l log-rates -d 'Append the rates of each second to FILE' -r -F
complete -c haul -n "__fish_haul_using_subcommand rescue" -l log-reads -d 'Append each read to FILE' -r -F
complete -c haul -n "__fish_haul_using_subcommand rescue" -l report -d 'Write the report as a page with a picture of the map' -r -F
complete -c haul -n "__fish_haul_using_subcommand rescue" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand rescue" -s R -l reverse -d 'Start at the end of the source'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s n -l no-scrape -d 'Do not read failed blocks sector by sector'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s N -l no-trim -d 'Do not read the edges of failed blocks'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s A -l try-again -d 'Try what failed as new: trimmed and scraped blocks'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s M -l retrim -d 'Trim all failed blocks again'
complete -c haul -n "__fish_haul_using_subcommand rescue" -l passthrough -d 'Send commands to SRC, with time limits of their own'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s y -l yes -d 'Overwrite DST without asking'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s v -l verbose -d 'Print the full report; -vv: and the plan\'s reasons'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s q -l quiet -d 'Print nothing but errors'
complete -c haul -n "__fish_haul_using_subcommand rescue" -l json -d 'Print the result as JSON on standard output'
complete -c haul -n "__fish_haul_using_subcommand rescue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "show" -d 'Show phase, amounts and a picture of a rescue'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "compare" -d 'Compare two maps'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "done" -d 'Whether everything is rescued'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "and" -d 'What is rescued in both maps'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "or" -d 'What is rescued in one map or in both'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "xor" -d 'What is rescued in one map, but not in both'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "not" -d 'What is not rescued'
complete -c haul -n "__fish_haul_using_subcommand map; and not __fish_seen_subcommand_from show compare done and or xor not complete" -f -a "complete" -d 'Add the bytes that a map does not list'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from show" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON document'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from compare" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from compare" -s q -l quiet -d 'Print nothing; the exit status is the answer'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from done" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from done" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from and" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from and" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from or" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from or" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from xor" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from xor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from not" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from not" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from complete" -l size -d 'Size of the source; default: the end of the last block' -r -f
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from complete" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from complete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand verify" -l manifest -d 'Compare DST with this manifest instead of a source' -r -F
complete -c haul -n "__fish_haul_using_subcommand verify" -l skip -d 'Start at this offset of the source' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -l seek -d 'Start at this offset of the destination' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -s c -l count -d 'Compare only this many bytes' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -l ranges -d 'Only the ranges that FILE lists' -r -F
complete -c haul -n "__fish_haul_using_subcommand verify" -l source-ranges -d 'Gather these ranges of the source' -r -F
complete -c haul -n "__fish_haul_using_subcommand verify" -l destination-ranges -d 'Scatter to these ranges of the destination' -r -F
complete -c haul -n "__fish_haul_using_subcommand verify" -l ranges-unit -d 'Unit of numbers without suffix in lists of ranges' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -l bmap -d 'Compare only the ranges of this block map' -r -F
complete -c haul -n "__fish_haul_using_subcommand verify" -l on-error -d 'On unreadable sectors: stop, skip, retry:N' -r -f -a "stop\t''
skip\t''
retry:3\t''
retry:3\,skip\t''"
complete -c haul -n "__fish_haul_using_subcommand verify" -l direct -d 'Direct I/O: auto, always, never' -r -f -a "auto\t'where it is faster'
always\t'always, or fail'
never\t'never'"
complete -c haul -n "__fish_haul_using_subcommand verify" -l passthrough -d 'SCSI/NVMe passthrough: source, destination, both' -r -f -a "possible\t'every side that supports it, at least one'
source\t'the source, or fail'
destination\t'the destination, or fail'
both\t'both, or fail'"
complete -c haul -n "__fish_haul_using_subcommand verify" -l command-timeout -d 'Timeout of passthrough commands in seconds' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -l engine -d 'auto, ring (io_uring), threads, sync' -r -f -a "auto\t'ring where the kernel allows it, otherwise threads'
ring\t'io_uring: many requests in flight from one thread'
threads\t'helper threads with blocking calls, many requests in flight'
sync\t'one block at a time, as a baseline'"
complete -c haul -n "__fish_haul_using_subcommand verify" -s b -l block-size -d 'Bytes per request; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -l depth -d 'Blocks in flight; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -s l -l limit -d 'No more than this many bytes a second' -r -f
complete -c haul -n "__fish_haul_using_subcommand verify" -l progress -d 'auto, bar, plain, json, none' -r -f -a "auto\t'bar on a terminal, plain elsewhere'
bar\t'a redrawn bar'
plain\t'a line periodically'
json\t'one JSON object a line'
none\t'nothing'"
complete -c haul -n "__fish_haul_using_subcommand verify" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand verify" -l decompress -d 'Compare the content of a compressed source'
complete -c haul -n "__fish_haul_using_subcommand verify" -l as-is -d 'Compare a compressed source unchanged'
complete -c haul -n "__fish_haul_using_subcommand verify" -l no-bmap -d 'Ignore a block map beside the source'
complete -c haul -n "__fish_haul_using_subcommand verify" -s n -l dry-run -d 'Show the plan, compare nothing'
complete -c haul -n "__fish_haul_using_subcommand verify" -s v -l verbose -d 'Print the full report; -vv: and the plan\'s reasons'
complete -c haul -n "__fish_haul_using_subcommand verify" -s q -l quiet -d 'Print nothing but errors'
complete -c haul -n "__fish_haul_using_subcommand verify" -l json -d 'Print the report as JSON on standard output'
complete -c haul -n "__fish_haul_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand manifest; and not __fish_seen_subcommand_from show diff export" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand manifest; and not __fish_seen_subcommand_from show diff export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand manifest; and not __fish_seen_subcommand_from show diff export" -f -a "show" -d 'Show source, destination and digest of a copy'
complete -c haul -n "__fish_haul_using_subcommand manifest; and not __fish_seen_subcommand_from show diff export" -f -a "diff" -d 'Compare two copies by their manifests'
complete -c haul -n "__fish_haul_using_subcommand manifest; and not __fish_seen_subcommand_from show diff export" -f -a "export" -d 'Write a block map of an image, for bmaptool and haul copy --bmap'
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from show" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from show" -l json -d 'Print one JSON document'
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Print nothing; the exit status is the answer'
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from diff" -l json -d 'Print one JSON document'
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from export" -l bmap -d 'The block map to create; it must not exist' -r -F
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from export" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from export" -l omit-zeros -d 'Leave blocks of zeros out of the map'
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand pattern; and not __fish_seen_subcommand_from write check" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and not __fish_seen_subcommand_from write check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand pattern; and not __fish_seen_subcommand_from write check" -f -a "write" -d 'Fill a disk or a file with self-describing blocks'
complete -c haul -n "__fish_haul_using_subcommand pattern; and not __fish_seen_subcommand_from write check" -f -a "check" -d 'Verify the pattern and classify damage'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l seek -d 'Start at this offset' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s c -l count -d 'Only this many bytes' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l run -d 'Number of the run; default: current time for write, newest for check' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l expect -d 'Refuse unless DST has this serial, model, wwn, size' -r -f -a "serial=\t''
model=\t''
wwn=\t''
size=\t''
etag=\t''"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l direct -d 'Direct I/O: auto, always, never' -r -f -a "auto\t'where it is faster'
always\t'always, or fail'
never\t'never'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l passthrough -d 'SCSI/NVMe passthrough: source, destination, both' -r -f -a "possible\t'every side that supports it, at least one'
source\t'the source, or fail'
destination\t'the destination, or fail'
both\t'both, or fail'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l command-timeout -d 'Timeout of passthrough commands in seconds' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l engine -d 'auto, ring (io_uring), threads, sync' -r -f -a "auto\t'ring where the kernel allows it, otherwise threads'
ring\t'io_uring: many requests in flight from one thread'
threads\t'helper threads with blocking calls, many requests in flight'
sync\t'one block at a time, as a baseline'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s b -l block-size -d 'Bytes per request; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l depth -d 'Blocks in flight; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s l -l limit -d 'No more than this many bytes a second' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l progress -d 'auto, bar, plain, json, none' -r -f -a "auto\t'bar on a terminal, plain elsewhere'
bar\t'a redrawn bar'
plain\t'a line periodically'
json\t'one JSON object a line'
none\t'nothing'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s y -l yes -d 'Overwrite a device without asking'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l no-flush -d 'Exit before the data is on the medium'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s n -l dry-run -d 'Show the plan and end'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s v -l verbose -d 'Print the full report; -vv: and the plan\'s reasons'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s q -l quiet -d 'Print nothing but errors'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -l json -d 'Print the report as JSON on standard output'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l seek -d 'Start at this offset' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -s c -l count -d 'Only this many bytes' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l run -d 'Number of the run; default: current time for write, newest for check' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l direct -d 'Direct I/O: auto, always, never' -r -f -a "auto\t'where it is faster'
always\t'always, or fail'
never\t'never'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l passthrough -d 'SCSI/NVMe passthrough: source, destination, both' -r -f -a "possible\t'every side that supports it, at least one'
source\t'the source, or fail'
destination\t'the destination, or fail'
both\t'both, or fail'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l command-timeout -d 'Timeout of passthrough commands in seconds' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l engine -d 'auto, ring (io_uring), threads, sync' -r -f -a "auto\t'ring where the kernel allows it, otherwise threads'
ring\t'io_uring: many requests in flight from one thread'
threads\t'helper threads with blocking calls, many requests in flight'
sync\t'one block at a time, as a baseline'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -s b -l block-size -d 'Bytes per request; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l depth -d 'Blocks in flight; default: auto-tuned' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -s l -l limit -d 'No more than this many bytes a second' -r -f
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l progress -d 'auto, bar, plain, json, none' -r -f -a "auto\t'bar on a terminal, plain elsewhere'
bar\t'a redrawn bar'
plain\t'a line periodically'
json\t'one JSON object a line'
none\t'nothing'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -s n -l dry-run -d 'Show the plan and end'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Print the full report; -vv: and the plan\'s reasons'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Print nothing but errors'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -l json -d 'Print the report as JSON on standard output'
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -f -a "list" -d 'List unfinished copies, and the command that continues each'
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -f -a "remove" -d 'Remove a journal: discard an unfinished copy'
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -f -a "uploads" -d 'List incomplete uploads in an object store'
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -f -a "abort" -d 'Abort an incomplete upload in an object store'
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -f -a "export" -d 'Write a journal as a mapfile of GNU ddrescue'
complete -c haul -n "__fish_haul_using_subcommand journal; and not __fish_seen_subcommand_from list remove uploads abort export import" -f -a "import" -d 'Create a journal from a mapfile, for haul copy --resume'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from list" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from remove" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from remove" -s y -l yes -d 'Remove without asking'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from uploads" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from uploads" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from abort" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from abort" -s y -l yes -d 'Abort without asking'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from abort" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from export" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from import" -l skip -d '--skip of the copy to be continued' -r -f
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from import" -l seek -d '--seek of the copy to be continued' -r -f
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from import" -l count -d '--count of the copy to be continued' -r -f
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from import" -l journal -d 'Path of the journal, instead of the default of haul copy' -r -F
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from import" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand plan" -l emit -d 'Print the job that copies a plan: slurm, kubernetes, aws-batch, ray, parallel' -r -f -a "slurm\t'A shell script that submits an array job, and haul finish after it'
kubernetes\t'An Indexed Job'
aws-batch\t'A shell script that submits an array job'
ray\t'A Python program'
parallel\t'A shell script that runs GNU parallel'"
complete -c haul -n "__fish_haul_using_subcommand plan" -l workers -d 'Most shards that the job copies at a time [default: 32]' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l image -d 'Container image of the job, whose entry point is haul [default: haul]' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l shard-size -d 'Size of each shard' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l shards -d 'Number of shards' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l state -d 'Place of the shared state' -r -F
complete -c haul -n "__fish_haul_using_subcommand plan" -l lease -d 'Time without a sign of life after which a worker counts as dead' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l skip -d 'Start at this offset of the source' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l seek -d 'Start at this offset of the destination' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -s c -l count -d 'Copy only this many bytes' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l expect -d 'Refuse unless DST has this serial, model, wwn, size' -r -f -a "serial=\t''
model=\t''
wwn=\t''
size=\t''
etag=\t''"
complete -c haul -n "__fish_haul_using_subcommand plan" -l hash -d 'Digest of all data: blake3' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l manifest-block -d 'Block size of digests; default: 4M' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l on-error -d 'On unreadable sectors: stop, skip, retry:N' -r -f -a "stop\t''
skip\t''
retry:3\t''
retry:3\,skip\t''"
complete -c haul -n "__fish_haul_using_subcommand plan" -l sparse -d 'Zeros and holes: auto, always, never' -r -f -a "auto\t'where it is faster'
always\t'always, or fail'
never\t'never'"
complete -c haul -n "__fish_haul_using_subcommand plan" -s l -l limit -d 'Limit the rate of each worker in bytes per second' -r -f
complete -c haul -n "__fish_haul_using_subcommand plan" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand plan" -s y -l yes -d 'Overwrite a device without asking'
complete -c haul -n "__fish_haul_using_subcommand plan" -s n -l dry-run -d 'Show the plan, write nothing'
complete -c haul -n "__fish_haul_using_subcommand plan" -l restart -d 'Discard an unfinished copy to DST'
complete -c haul -n "__fish_haul_using_subcommand plan" -l verify -d 'Have each worker read its shard back and compare it'
complete -c haul -n "__fish_haul_using_subcommand plan" -l manifest -d 'Record the digest of each block, for haul finish --manifest'
complete -c haul -n "__fish_haul_using_subcommand plan" -l json -d 'With --dry-run: print the plan as JSON'
complete -c haul -n "__fish_haul_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand status" -l report -d 'Write the status as an HTML page to FILE' -r -F
complete -c haul -n "__fish_haul_using_subcommand status" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand status" -l watch -d 'Show it again and again, until all shards are done'
complete -c haul -n "__fish_haul_using_subcommand status" -l json -d 'Print one JSON document'
complete -c haul -n "__fish_haul_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand finish" -l manifest -d 'Write a manifest of the whole to FILE' -r -F
complete -c haul -n "__fish_haul_using_subcommand finish" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand finish" -l abort -d 'Abort the job: discard the unfinished destination'
complete -c haul -n "__fish_haul_using_subcommand finish" -s y -l yes -d 'With --abort: do not ask'
complete -c haul -n "__fish_haul_using_subcommand finish" -l json -d 'Print one JSON document'
complete -c haul -n "__fish_haul_using_subcommand finish" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand tune" -l time -d 'Approximate duration; default 60 s' -r -f
complete -c haul -n "__fish_haul_using_subcommand tune" -l engine -d 'auto, ring (io_uring), threads, sync' -r -f -a "auto\t'ring where the kernel allows it, otherwise threads'
ring\t'io_uring: many requests in flight from one thread'
threads\t'helper threads with blocking calls, many requests in flight'
sync\t'one block at a time, as a baseline'"
complete -c haul -n "__fish_haul_using_subcommand tune" -l expect -d 'Refuse unless the device is this one: serial=, model=, wwn=, size=' -r -f -a "serial=\t''
model=\t''
wwn=\t''
size=\t''
etag=\t''"
complete -c haul -n "__fish_haul_using_subcommand tune" -l label -d 'Label of this run in JSON' -r -f
complete -c haul -n "__fish_haul_using_subcommand tune" -l report -d 'Write a page with charts' -r -F
complete -c haul -n "__fish_haul_using_subcommand tune" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand tune" -l quick -d 'Fewer block sizes and depths, in 8 seconds'
complete -c haul -n "__fish_haul_using_subcommand tune" -l save -d 'Save the result: copies from this disk, or to it with --write, start with it'
complete -c haul -n "__fish_haul_using_subcommand tune" -l restore -d 'Measure nothing: restore the original data after an interrupted run'
complete -c haul -n "__fish_haul_using_subcommand tune" -l write -d 'Measure writing: to a new file, in a directory, on a device'
complete -c haul -n "__fish_haul_using_subcommand tune" -l destroy -d 'Save nothing: all data on the device is lost'
complete -c haul -n "__fish_haul_using_subcommand tune" -s y -l yes -d 'Do not ask before writing to a device'
complete -c haul -n "__fish_haul_using_subcommand tune" -l json -d 'Print one JSON document on standard output'
complete -c haul -n "__fish_haul_using_subcommand tune" -l csv -d 'Print the table as comma-separated values'
complete -c haul -n "__fish_haul_using_subcommand tune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand profile" -l offset -d 'With --timing: start at this byte offset' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l place -d 'With --timing: start at the position of this number' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l buffer-sizes -d 'With --read-buffer: bytes per command, such as 4K,64K' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l positions -d 'Positions at which to measure the rate; default 20' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l sustained -d 'Only the sustained write rate: write BYTES continuously' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l time -d 'Approximate duration; default 30 s' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l engine -d 'auto, ring (io_uring), threads, sync' -r -f -a "auto\t'ring where the kernel allows it, otherwise threads'
ring\t'io_uring: many requests in flight from one thread'
threads\t'helper threads with blocking calls, many requests in flight'
sync\t'one block at a time, as a baseline'"
complete -c haul -n "__fish_haul_using_subcommand profile" -l block-size -d 'With --random: bytes per read; default 4K' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l depth -d 'With --random: reads in flight; default 1' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l range -d 'With --random: only in the range FIRST+LENGTH' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l seed -d 'With --random: seed for the same offsets as another run' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l requests -d 'With --random: number of reads' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l slower-than -d 'With --random: list reads that take longer' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l expect -d 'Refuse unless the device is this one: serial=, model=, wwn=, size=' -r -f -a "serial=\t''
model=\t''
wwn=\t''
size=\t''
etag=\t''"
complete -c haul -n "__fish_haul_using_subcommand profile" -l label -d 'Label of this run in JSON' -r -f
complete -c haul -n "__fish_haul_using_subcommand profile" -l report -d 'Write a page with charts' -r -F
complete -c haul -n "__fish_haul_using_subcommand profile" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand profile" -l timing -d 'Only the rate at the start: 3 s, three times'
complete -c haul -n "__fish_haul_using_subcommand profile" -l read-buffer -d 'Only READ BUFFER of a disk, without medium access'
complete -c haul -n "__fish_haul_using_subcommand profile" -l echo-buffer -d 'With --read-buffer: the echo buffer instead'
complete -c haul -n "__fish_haul_using_subcommand profile" -l random -d 'Only random reads: latency and IOPS'
complete -c haul -n "__fish_haul_using_subcommand profile" -l write -d 'Measure writing: to a new file, in a directory, on a device'
complete -c haul -n "__fish_haul_using_subcommand profile" -l destroy -d 'Save nothing: all data on the device is lost'
complete -c haul -n "__fish_haul_using_subcommand profile" -s y -l yes -d 'Do not ask before writing to a device'
complete -c haul -n "__fish_haul_using_subcommand profile" -l json -d 'Print one JSON document on standard output'
complete -c haul -n "__fish_haul_using_subcommand profile" -l csv -d 'Print the table as comma-separated values'
complete -c haul -n "__fish_haul_using_subcommand profile" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand list" -s o -l columns -d 'Columns to show: NAME,SIZE,…; +NAME adds to the default ones' -r -f
complete -c haul -n "__fish_haul_using_subcommand list" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand list" -s a -l all -d 'Show all details, on several lines per device'
complete -c haul -n "__fish_haul_using_subcommand list" -l json -d 'Print one JSON document instead of a table'
complete -c haul -n "__fish_haul_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand config" -l units -d 'Units of sizes and rates: si (kB, MB), iec (KiB, MiB)' -r -f -a "si\t'powers of 1000: kB, MB, GB'
iec\t'powers of 1024: KiB, MiB, GiB'"
complete -c haul -n "__fish_haul_using_subcommand config" -l json -d 'Print one JSON document instead of a table'
complete -c haul -n "__fish_haul_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c haul -n "__fish_haul_using_subcommand help" -s h -l help -d 'Print help'
complete -c haul -n "__fish_haul_using_subcommand version" -s h -l help -d 'Print help'

# Beginnings of addresses.
function __fish_haul_addresses
    printf '%s\t%s\n' nbd:// 'NBD server' nbds:// 'NBD server, by TLS' nbd+unix:/// 'NBD server, Unix domain socket' nbds+unix:/// 'NBD server, Unix domain socket, by TLS' http:// 'Web server' https:// 'Web server, by TLS' s3:// 'Amazon S3' gs:// 'Google Cloud Storage' az:// 'Azure Blob Storage' file:/// 'File of this machine' qcow2: 'Image, through qemu-nbd' vmdk: 'Image, through qemu-nbd' vhdx: 'Image, through qemu-nbd'
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
complete -c haul -n "__fish_haul_using_subcommand copy" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand rescue" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from show" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from compare" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from done" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from and" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from or" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from xor" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from not" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand map; and __fish_seen_subcommand_from complete" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand verify" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from show" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from diff" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand manifest; and __fish_seen_subcommand_from export" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from list" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from remove" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from export" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand journal; and __fish_seen_subcommand_from import" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand plan" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand status" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand finish" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand tune" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand profile" -a "(__fish_haul_devices)"
complete -c haul -n "__fish_haul_using_subcommand copy" -a "(__fish_haul_addresses)"
complete -c haul -n "__fish_haul_using_subcommand verify" -a "(__fish_haul_addresses)"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from write" -a "(__fish_haul_addresses)"
complete -c haul -n "__fish_haul_using_subcommand pattern; and __fish_seen_subcommand_from check" -a "(__fish_haul_addresses)"
complete -c haul -n "__fish_haul_using_subcommand list" -f
complete -c haul -n "__fish_haul_using_subcommand version" -f
complete -c haul -n "__fish_haul_using_subcommand help" -f -a "copy rescue map verify manifest pattern journal plan status finish tune profile list config dd sg_dd sgp_dd sgm_dd help version"
