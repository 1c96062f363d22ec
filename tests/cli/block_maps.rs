//! Block maps of images, made and used by bmaptool too.
use crate::support::{
    FaultyServer, LoopDevice, NbdServer, Reply, checksum, cmp, cmp_ranges, compressed_forms, filled, has, haul,
    in_one_line, name, noise, scratch, skip, stderr, web_haul,
};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const MIB: usize = 1 << 20;

/// Bytes of the image: no whole number of blocks.
const IMAGE_BYTES: u64 = 6 * MIB as u64 + 512;

/// The parts of the image that have data; the last one ends with it.
const MAPPED: [(u64, usize); 4] = [(0, 4096), (64 << 10, 200 << 10), (2 << 20, MIB + 4096), (IMAGE_BYTES - 512, 512)];

fn copy(arguments: &[&str]) -> assert_cmd::assert::Assert {
    haul().args(["copy", "--yes"]).args(arguments).assert()
}

/// A sparse image.
fn image(path: &Path) {
    let file = File::create(path).unwrap();
    file.set_len(IMAGE_BYTES).unwrap();
    for (number, (offset, len)) in MAPPED.into_iter().enumerate() {
        file.write_all_at(&noise(len, 7 + number as u64), offset).unwrap();
    }
}

fn sum(program: &str, bytes: &[u8], dir: &Path) -> String {
    let file = dir.join("summed");
    fs::write(&file, bytes).unwrap();
    checksum(program, &file)
}

/// The map of the image in an old or the present form, with digests by coreutils.
fn map(image: &Path, version: &str) -> String {
    map_of(image, version, &MAPPED)
}

/// The same of some parts of it.
fn map_of(image: &Path, version: &str, mapped: &[(u64, usize)]) -> String {
    let (bytes, dir) = (fs::read(image).unwrap(), image.parent().unwrap());
    let (own, attribute, program) = match version {
        "1.2" => ("", "sha1", "sha1sum"),
        "1.3" => ("BmapFileSHA1", "sha1", "sha1sum"),
        _ => ("BmapFileChecksum", "chksum", "sha256sum"),
    };
    let zeros = "0".repeat(sum(program, b"", dir).len());
    let (mut ranges, mut blocks) = (String::new(), 0);
    for &(offset, len) in mapped {
        let (first, end) = (offset / 4096, (offset + len as u64).div_ceil(4096));
        blocks += end - first;
        let data = &bytes[first as usize * 4096..(end as usize * 4096).min(bytes.len())];
        ranges += &format!("<Range {attribute}=\"{}\"> {first}-{} </Range>\n", sum(program, data, dir), end - 1);
    }
    let own = match own {
        "" => String::new(),
        "BmapFileSHA1" => format!("<{own}> {zeros} </{own}>"),
        own => format!("<ChecksumType> sha256 </ChecksumType><{own}> {zeros} </{own}>"),
    };
    let text = format!(
        "<?xml version=\"1.0\" ?>\n<bmap version=\"{version}\"><ImageSize> {IMAGE_BYTES} </ImageSize><BlockSize> 4096 \
         </BlockSize><BlocksCount> 1537 </BlocksCount><MappedBlocksCount> {blocks} </MappedBlocksCount>{own}\n\
         <BlockMap>\n{ranges}</BlockMap></bmap>\n"
    );
    if own.is_empty() { text } else { text.replacen(&zeros, &sum(program, text.as_bytes(), dir), 1) }
}

/// A disk full of other bytes.
fn disk(dir: &Path) -> Option<LoopDevice> {
    let backing = dir.join("disk");
    filled(&backing, 8 * MIB, 0xa5);
    LoopDevice::over(&backing)
}

/// The mapped parts are those of the image, the other bytes are the old ones.
fn expect_mapped(image: &Path, device: &Path) {
    let (image, found) = (fs::read(image).unwrap(), fs::read(device).unwrap());
    let mut expected = vec![0xa5; found.len()];
    for (offset, len) in MAPPED {
        let (first, end) =
            (offset as usize / 4096 * 4096, (offset as usize + len).next_multiple_of(4096).min(image.len()));
        expected[first..end].copy_from_slice(&image[first..end]);
    }
    assert!(found == expected, "byte {:?} differs", found.iter().zip(&expected).position(|(one, other)| one != other));
}

/// The image in each form: as it is, and compressed by the programs that are installed.
fn forms(image: &Path) -> Vec<PathBuf> {
    std::iter::once(image.to_owned()).chain(compressed_forms(image)).collect()
}

#[test]
fn only_mapped_ranges_are_copied_of_plain_and_compressed_images() {
    let dir = scratch();
    let (image_path, bmap) = (dir.path().join("disk.img"), dir.path().join("disk.img.bmap"));
    image(&image_path);
    let Some(device) = disk(dir.path()) else { return };
    for version in ["1.2", "1.3", "2.0"] {
        fs::write(&bmap, map(&image_path, version)).unwrap();
        for form in forms(&image_path) {
            let refill = || fs::write(device.path(), vec![0xa5; 8 * MIB]).unwrap();
            refill();
            let messages = stderr(&copy(&["--verify", name(&form), name(device.path())]).success());
            assert!(messages.contains(&format!("block map {} (version {version})", name(&bmap))), "{messages}");
            assert!(messages.contains("4 ranges of source") && messages.contains("checksums in"), "{messages}");
            assert!(messages.contains("verified"), "{messages}");
            expect_mapped(&image_path, device.path());
            refill();
            let messages = stderr(&copy(&["--no-bmap", name(&form), name(device.path())]).success());
            assert!(!messages.contains("block map"), "{messages}");
            cmp_ranges(&image_path, 0, device.path(), 0, IMAGE_BYTES);
        }
    }
    // Under another name it is named; the ending of the image may be left out.
    let elsewhere = dir.path().join("elsewhere");
    fs::rename(&bmap, &elsewhere).unwrap();
    fs::write(device.path(), vec![0xa5; 8 * MIB]).unwrap();
    copy(&["--engine", "threads", "--bmap", name(&elsewhere), name(&image_path), name(device.path())]).success();
    expect_mapped(&image_path, device.path());
    fs::rename(&elsewhere, dir.path().join("disk.bmap")).unwrap();
    let form = forms(&image_path).pop().unwrap();
    assert!(stderr(&copy(&[name(&form), name(device.path())]).success()).contains("disk.bmap"));
    let dry = haul().args(["copy", "--dry-run", name(&form), name(device.path())]).assert().success();
    let text = in_one_line(&dry.get_output().stdout);
    assert!(text.contains("block map") && text.contains("4 ranges, compared with their sha256 checksums"), "{text}");
    // Options about all bytes, and destinations that are files, use no map.
    for options in [&["--hash", "sha256"][..], &["--count", "4K"]] {
        let messages = stderr(&copy(&[options, &[name(&form), name(device.path())]].concat()).success());
        assert!(!messages.contains("block map"), "{messages}");
    }
    let out = dir.path().join("out");
    assert!(!stderr(&copy(&["--decompress", name(&form), name(&out)]).success()).contains("block map"));
    cmp(&image_path, &out);
}

#[test]
fn a_map_without_checksums_is_used_only_if_it_is_named() {
    let dir = scratch();
    let source = dir.path().join("image");
    image(&source);
    let Some(device) = disk(dir.path()) else { return };
    let whole = map(&source, "1.2");
    let mut parts = whole.split(" sha1=\"");
    let first = parts.next().unwrap().to_owned();
    let bare = parts.fold(first, |text, part| text + part.split_once('"').unwrap().1);
    assert!(!bare.contains("sha1"), "{bare}");
    let beside = dir.path().join("image.bmap");
    // One range without a checksum is enough.
    let one = whole.replacen(&whole[whole.find(" sha1=").unwrap()..whole.find("> 0-0").unwrap()], "", 1);
    for text in [&bare, &one] {
        fs::write(&beside, text).unwrap();
        let messages = in_one_line(stderr(&copy(&[name(&source), name(device.path())]).success()));
        assert!(messages.contains("is not used") && messages.contains("--bmap"), "{messages}");
        cmp_ranges(&source, 0, device.path(), 0, IMAGE_BYTES);
    }
    filled(&dir.path().join("disk"), 8 * MIB, 0xa5);
    copy(&["--bmap", name(&beside), name(&source), name(device.path())]).success();
    expect_mapped(&source, device.path());
}

#[test]
fn a_damaged_range_fails_the_copy_with_its_bytes() {
    let dir = scratch();
    let (image_path, bmap) = (dir.path().join("disk.img"), dir.path().join("disk.img.bmap"));
    image(&image_path);
    fs::write(&bmap, map(&image_path, "2.0")).unwrap();
    let Some(device) = disk(dir.path()) else { return };
    for (number, (offset, len)) in MAPPED.into_iter().enumerate() {
        image(&image_path);
        let file = File::options().read(true).write(true).open(&image_path).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, offset + len as u64 / 2).unwrap();
        file.write_all_at(&[byte[0] ^ 1], offset + len as u64 / 2).unwrap();
        let (first, end) = (offset / 4096 * 4096, (offset + len as u64).next_multiple_of(4096).min(IMAGE_BYTES));
        for form in forms(&image_path) {
            for engine in ["ring", "sync"] {
                let engine = if engine == "ring" { &[][..] } else { &["--engine", "sync"] };
                let assert = copy(&[engine, &[name(&form), name(device.path())]].concat()).code(1);
                let messages = stderr(&assert);
                let bytes = format!("bytes {first} to {} have the digest", end - 1);
                assert!(messages.contains(&bytes), "range {number} of {}: {messages}", form.display());
                assert!(messages.contains("do not use it") && !messages.contains("4 ranges of source"), "{messages}");
            }
        }
    }
}

#[test]
fn a_map_that_is_damaged_or_of_another_image_is_refused_before_the_first_write() {
    let dir = scratch();
    let (image_path, bmap) = (dir.path().join("disk.img"), dir.path().join("disk.img.bmap"));
    image(&image_path);
    let good = map(&image_path, "2.0");
    let Some(device) = disk(dir.path()) else { return };
    let refused = |text: &str, code: i32, words: &str| {
        fs::write(&bmap, text).unwrap();
        for form in forms(&image_path) {
            let messages = stderr(&copy(&[name(&form), name(device.path())]).code(code));
            assert!(messages.contains(words) && messages.contains("Nothing was written"), "{words}: {messages}");
        }
        assert!(fs::read(device.path()).unwrap().iter().all(|&byte| byte == 0xa5));
    };
    refused(&good.replace(" 2.0", "2.0").replace("309", "310"), 1, "it is damaged: its sha256 digest is");
    refused(&good[..good.len() / 2], 1, "cannot be used");
    refused(&good.replace("version=\"2.0\"", "version=\"3.0\""), 1, "haul reads 1.2 to 2.0");
    fs::write(&bmap, "<html>not found</html>").unwrap();
    copy(&["--dry-run", name(&image_path), name(device.path())]).success();
    // An image that was cut: its size is that of no map. gzip and bzip2 state none before the copy.
    fs::write(&bmap, &good).unwrap();
    File::options().write(true).open(&image_path).unwrap().set_len(IMAGE_BYTES - 512).unwrap();
    let messages = stderr(&copy(&[name(&image_path), name(device.path())]).code(1));
    assert!(messages.contains("is that of an image of") && messages.contains("--no-bmap"), "{messages}");
    for form in forms(&image_path) {
        copy(&[name(&form), name(device.path())]).code(1);
    }
    image(&image_path);
    File::options().write(true).open(&image_path).unwrap().set_len(IMAGE_BYTES + 512).unwrap();
    for form in forms(&image_path) {
        let messages = stderr(&copy(&[name(&form), name(device.path())]).code(1));
        assert!(messages.contains("block map"), "{}: {messages}", form.display());
    }
    let out = dir.path().join("out");
    let messages = stderr(&copy(&["--bmap", name(&bmap), name(&image_path), name(&out)]).code(2));
    assert!(messages.contains("haul uses block maps for devices"), "{messages}");
    assert!(!out.exists());
    copy(&["--bmap", name(&bmap), "--count", "1", name(&image_path), name(device.path())]).code(2);
    copy(&["--bmap", "nowhere", name(&image_path), name(device.path())]).code(1);
}

#[test]
fn a_compressed_image_is_checked_beyond_the_last_range() {
    let dir = scratch();
    let (image_path, bmap) = (dir.path().join("disk.img"), dir.path().join("disk.img.bmap"));
    image(&image_path);
    fs::write(&bmap, map_of(&image_path, "2.0", &MAPPED[..2])).unwrap();
    let Some(device) = disk(dir.path()) else { return };
    for form in &forms(&image_path)[1..] {
        let (bytes, list) = (fs::read(form).unwrap(), PathBuf::from(format!("{}.sha256", name(form))));
        fs::write(&list, sum("sha256sum", &bytes, dir.path())).unwrap();
        fs::write(device.path(), vec![0xa5; 8 * MIB]).unwrap();
        let messages = stderr(&copy(&[name(form), name(device.path())]).success());
        assert!(messages.contains("2 ranges of source") && messages.contains("matches its sha256"), "{messages}");
        cmp_ranges(&image_path, MAPPED[1].0, device.path(), MAPPED[1].0, MAPPED[1].1 as u64);
        assert!(fs::read(device.path()).unwrap()[1 << 20..].iter().all(|&byte| byte == 0xa5));
        fs::remove_file(&list).unwrap();
        fs::write(form, &bytes[..bytes.len() - 5]).unwrap();
        let assert = copy(&[name(form), name(device.path())]);
        assert_eq!(assert.get_output().status.code(), Some(1), "{}: {}", form.display(), stderr(&assert));
    }
}

#[test]
fn an_export_gets_the_mapped_ranges_of_a_web_resource() {
    let dir = scratch();
    let image_path = dir.path().join("disk.img");
    image(&image_path);
    let bmap = map(&image_path, "2.0");
    let Some(device) = disk(dir.path()) else { return };
    for form in forms(&image_path) {
        for has_ranges in [true, false] {
            let (bytes, bmap) = (fs::read(&form).unwrap(), bmap.clone());
            let server = FaultyServer::start(move |asked| match asked.target.as_str() {
                "/disk.img.bmap" => Reply::whole(bmap.as_bytes()),
                target if target.ends_with(".bmap") || target.contains("256") || target.contains("512") => {
                    Reply::status(404)
                }
                target if target.contains("md5") || target.contains("MD5") => Reply::status(404),
                _ if has_ranges => Reply::ranged(asked, &bytes),
                _ => Reply::whole(&bytes),
            });
            let url = server.url(form.file_name().unwrap().to_str().unwrap());
            fs::write(device.path(), vec![0xa5; 8 * MIB]).unwrap();
            let output = web_haul().args(["copy", "--yes", "--verify", &url, name(device.path())]).output().unwrap();
            let messages = in_one_line(&output.stderr);
            assert!(output.status.success(), "{messages}");
            if form == image_path && !has_ranges {
                assert!(!messages.contains("block map"), "it has no offsets: {messages}");
                cmp_ranges(&image_path, 0, device.path(), 0, IMAGE_BYTES);
                continue;
            }
            assert!(messages.contains("4 ranges of source"), "{messages}");
            expect_mapped(&image_path, device.path());
        }
    }
    let backing = dir.path().join("there");
    fs::write(dir.path().join("disk.img.bmap"), &bmap).unwrap();
    let Some(server) = NbdServer::nbdkit(dir.path(), &["memory", "8M"]) else { return };
    let messages = stderr(&copy(&[name(&image_path), &server.address("")]).success());
    assert!(messages.contains("4 ranges of source"), "{messages}");
    server.saved_to(&backing);
    cmp_ranges(&image_path, 0, &backing, 0, IMAGE_BYTES);
}

#[test]
fn a_map_that_bmaptool_made_is_used() {
    if !has("bmaptool") {
        return skip("bmaptool is not installed");
    }
    let dir = scratch();
    let (image_path, bmap) = (dir.path().join("disk.img"), dir.path().join("disk.bmap"));
    image(&image_path);
    let status =
        Command::new("bmaptool").args(["-q", "create", name(&image_path), "-o", name(&bmap)]).status().unwrap();
    assert!(status.success());
    let Some(device) = disk(dir.path()) else { return };
    for form in forms(&image_path) {
        fs::write(device.path(), vec![0xa5; 8 * MIB]).unwrap();
        let messages = stderr(&copy(&["--verify", name(&form), name(device.path())]).success());
        assert!(messages.contains("sha256 checksums in"), "{messages}");
        // The file system decides which blocks of the image are holes: what is mapped is equal, the rest is unchanged.
        let (image, found) = (fs::read(&image_path).unwrap(), fs::read(device.path()).unwrap());
        assert!(found.iter().enumerate().all(|(at, &byte)| Some(&byte) == image.get(at) || byte == 0xa5));
        for (offset, len) in MAPPED {
            let range = offset as usize..offset as usize + len;
            assert!(found[range.clone()] == image[range]);
        }
        assert!(found[1 << 20..(2 << 20) - (64 << 10)].iter().all(|&byte| byte == 0xa5), "a hole was written");
    }
}
