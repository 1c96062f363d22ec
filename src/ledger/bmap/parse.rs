//! Reads a block map.
use crate::core::stages::Hasher;
use crate::core::{BlockMap, Extent, HashKind, MappedRange, count};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The largest offset that the kernel knows.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// Elements within each other, at most.
const DEPTH_MAX: usize = 8;

/// Digests of bmaptool: the names of the algorithms in Python that haul has.
const ALGORITHMS: [HashKind; 4] = [HashKind::Sha1, HashKind::Sha256, HashKind::Sha512, HashKind::Md5];

/// Whether a text looks like a block map: a server may send a page for any name.
pub fn is_bmap(text: &str) -> bool {
    text.contains("<bmap")
}

/// What the elements of a map contain, before anything is checked.
#[derive(Default)]
struct Elements {
    version: String,
    image_bytes: Option<u64>,
    block_bytes: Option<u64>,
    blocks: Option<u64>,
    mapped_blocks: Option<u64>,
    algorithm: Option<String>,
    own_digest: Option<String>,
    /// First block, last block, digest.
    ranges: Vec<(u64, u64, Option<String>)>,
}

/// The map in `text`; `address` is where it was found.
///
/// # Errors
/// Why it is not a block map, or not intact: a clause.
pub fn parse(address: &str, text: &str) -> Result<BlockMap, String> {
    let elements = elements(text)?;
    let (major, minor) = version(&elements.version)?;
    // Before version 1.4, there was one algorithm.
    let algorithm = match &elements.algorithm {
        None if (major, minor) < (1, 4) => HashKind::Sha1,
        None => return Err("it names no checksum algorithm (ChecksumType)".to_owned()),
        Some(name) => {
            let known = ALGORITHMS.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
            known.ok_or_else(|| format!("haul does not support its checksum algorithm, '{name}'"))?
        }
    };
    match &elements.own_digest {
        Some(digest) => check_itself(text, digest, algorithm)?,
        None if (major, minor) < (1, 3) => {}
        None => return Err("its own checksum is missing".to_owned()),
    }
    let number = |value: Option<u64>, name: &str| value.ok_or_else(|| format!("it has no {name}"));
    let image_bytes = number(elements.image_bytes, "ImageSize")?;
    let block_bytes = number(elements.block_bytes, "BlockSize")?;
    if block_bytes == 0 || image_bytes > OFFSET_MAX {
        return Err(format!("an image of {image_bytes} bytes in blocks of {block_bytes} bytes does not exist"));
    }
    let blocks = image_bytes.div_ceil(block_bytes);
    if elements.blocks.is_some_and(|stated| stated != blocks) {
        return Err(format!(
            "its image has {}, and its BlocksCount is another number",
            count(blocks, "block", "blocks")
        ));
    }
    let ranges = ranges(&elements, block_bytes, image_bytes, algorithm)?;
    let has_digests = ranges.iter().any(|range| range.digest.is_some());
    let mapped: u64 = elements.ranges.iter().map(|(first, last, _)| last - first + 1).sum();
    if elements.mapped_blocks.is_some_and(|stated| stated != mapped) {
        return Err(format!(
            "its ranges have {}, and its MappedBlocksCount is another number",
            count(mapped, "block", "blocks")
        ));
    }
    Ok(BlockMap {
        address: address.to_owned(),
        version: elements.version,
        image_bytes,
        block_bytes,
        algorithm: has_digests.then_some(algorithm),
        ranges,
    })
}

fn version(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    match parts {
        Some((1, minor @ 2..)) => Ok((1, minor)),
        Some((2, minor)) => Ok((2, minor)),
        _ => Err(format!("its version is '{text}', and haul reads 1.2 to 2.0")),
    }
}

/// Checks the map against its own digest, which is that of the map with zeros in its place.
fn check_itself(text: &str, digest: &str, algorithm: HashKind) -> Result<(), String> {
    let mut hasher = Hasher::new(algorithm);
    let at = text.find(digest).expect("it was read from this text");
    hasher.update(&text.as_bytes()[..at]);
    hasher.update("0".repeat(digest.len()).as_bytes());
    hasher.update(&text.as_bytes()[at + digest.len()..]);
    let found = hasher.finish();
    if found.eq_ignore_ascii_case(digest) {
        return Ok(());
    }
    Err(format!("it is damaged: its {} digest is {found}, but it states {digest}", algorithm.name()))
}

fn ranges(
    elements: &Elements,
    block_bytes: u64,
    image_bytes: u64,
    algorithm: HashKind,
) -> Result<Vec<MappedRange>, String> {
    let blocks = image_bytes.div_ceil(block_bytes);
    let digits = Hasher::new(algorithm).finish().len();
    let mut next = 0;
    let mut ranges = Vec::with_capacity(elements.ranges.len());
    for (first, last, digest) in &elements.ranges {
        if *first < next || last < first || *last >= blocks {
            return Err(format!("its range {first}-{last} is not between block {next} and block {blocks}"));
        }
        next = last + 1;
        if let Some(digest) = digest
            && (digest.len() != digits || !digest.bytes().all(|digit| digit.is_ascii_hexdigit()))
        {
            return Err(format!("the checksum of its range {first}-{last} is no {} digest", algorithm.name()));
        }
        let (start, end) = (first * block_bytes, (next * block_bytes).min(image_bytes));
        let digest = digest.as_ref().map(|digest| digest.to_ascii_lowercase().into());
        ranges.push(MappedRange { extent: Extent::new(start, end - start), digest });
    }
    Ok(ranges)
}

fn elements(text: &str) -> Result<Elements, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("it is no valid XML: {error}");
    let mut reader = Reader::from_str(text);
    let mut found = Elements::default();
    // Names of the open elements, with the text of the innermost one and the digest of a range.
    let (mut open, mut content, mut digest): (Vec<String>, String, Option<String>) = (Vec::new(), String::new(), None);
    loop {
        match reader.read_event().map_err(|error| wrong(&error))? {
            Event::Start(start) => {
                let name = String::from_utf8_lossy(start.name().as_ref()).into_owned();
                if open.len() == DEPTH_MAX {
                    return Err(format!("its element {name} has more than {DEPTH_MAX} elements around it"));
                }
                match (open.as_slice(), name.as_str()) {
                    ([], "bmap") => found.version = attribute(&start, &["version"])?.unwrap_or_default(),
                    ([], _) => return Err(format!("its outermost element is {name}, not bmap")),
                    (_, "Range") => digest = attribute(&start, &["chksum", "sha1"])?,
                    _ => {}
                }
                open.push(name);
                content.clear();
            }
            Event::Text(text) => content.push_str(&text.decode().map_err(|error| wrong(&error))?),
            Event::End(_) => {
                let inside: Vec<&str> = open.iter().skip(1).map(String::as_str).collect();
                found.take(&inside, content.trim(), &mut digest)?;
                open.pop();
                content.clear();
            }
            Event::Eof if !open.is_empty() || found.version.is_empty() => return Err("it ends too early".to_owned()),
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}

fn attribute(start: &BytesStart<'_>, names: &[&str]) -> Result<Option<String>, String> {
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| format!("it is no valid XML: {error}"))?;
        if names.iter().any(|name| attribute.key.as_ref() == name.as_bytes()) {
            return Ok(Some(String::from_utf8_lossy(&attribute.value).trim().to_owned()));
        }
    }
    Ok(None)
}

impl Elements {
    /// The element at the end of the path `inside` has ended; it has this text.
    fn take(&mut self, inside: &[&str], content: &str, digest: &mut Option<String>) -> Result<(), String> {
        let number = || content.parse().map(Some).map_err(|_| format!("'{content}' is not a number"));
        match inside {
            ["ImageSize"] => self.image_bytes = number()?,
            ["BlockSize"] => self.block_bytes = number()?,
            ["BlocksCount"] => self.blocks = number()?,
            ["MappedBlocksCount"] => self.mapped_blocks = number()?,
            ["ChecksumType"] => self.algorithm = Some(content.to_owned()),
            ["BmapFileChecksum" | "BmapFileSHA1"] => self.own_digest = Some(content.to_owned()),
            ["BlockMap", "Range"] => {
                let (first, last) = content.split_once('-').unwrap_or((content, content));
                let blocks = first.trim().parse().ok().zip(last.trim().parse().ok());
                let (first, last) = blocks.ok_or_else(|| format!("'{content}' is not a range of blocks"))?;
                self.ranges.push((first, last, digest.take()));
            }
            _ => {}
        }
        Ok(())
    }
}
