use super::fuzzed::{COMMANDS, CONTEXT, answers, cookie, handshake};
use super::protocol::{self, part};
use crate::core::RunKind;
use proptest::prelude::*;

/// A part of the reply to command `index`.
fn of(index: usize, is_last: bool, kind: u16, body: &[&[u8]]) -> Vec<u8> {
    let body = body.concat();
    let mut bytes = protocol::PART_MAGIC.to_be_bytes().to_vec();
    bytes.extend(u16::from(is_last).to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie(index).to_be_bytes());
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    bytes
}

fn data(index: usize, is_last: bool, offset: u64, bytes: &[u8]) -> Vec<u8> {
    of(index, is_last, part::OFFSET_DATA, &[&offset.to_be_bytes(), bytes])
}

fn hole(index: usize, is_last: bool, offset: u64, len: u32) -> Vec<u8> {
    of(index, is_last, part::OFFSET_HOLE, &[&offset.to_be_bytes(), &len.to_be_bytes()])
}

fn error(index: usize, is_last: bool, number: u32, words: &str) -> Vec<u8> {
    let len = (words.len() as u16).to_be_bytes();
    of(index, is_last, part::ERROR | 1, &[&number.to_be_bytes(), &len, words.as_bytes()])
}

fn simple(index: usize, error: u32, bytes: &[u8]) -> Vec<u8> {
    [&protocol::SIMPLE_REPLY_MAGIC.to_be_bytes()[..], &error.to_be_bytes(), &cookie(index).to_be_bytes(), bytes]
        .concat()
}

#[test]
fn answers_may_come_in_pieces_and_in_any_order_and_holes_are_zeros() {
    let all = [
        data(0, false, 2048, &[2; 2048]),
        simple(3, 0, &[]),
        data(1, true, 8192, &[3; 512]),
        hole(0, false, 1024, 1024),
        data(0, false, 0, &[1; 1024]),
        of(0, true, part::NONE, &[]),
        of(2, true, part::NONE, &[]),
    ];
    for piece in [1, 7, 600, 100_000] {
        let (got, broken) = answers(&all.concat(), piece, true);
        assert_eq!(broken, None, "{piece}");
        assert_eq!(got.iter().map(|got| got.0).collect::<Vec<_>>(), [3, 1, 0, 2]);
        assert!(got.iter().all(|got| got.1 == Ok(COMMANDS[got.0].len)));
        assert_eq!(got[1].2, [3; 512]);
        assert_eq!(got[2].2, [vec![1; 1024], vec![0; 1024], vec![2; 2048]].concat(), "{piece}");
    }
}

#[test]
fn only_bytes_that_read_as_zeros_are_taken_for_a_hole() {
    let numbers = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
    // Data; a hole that does not read as zeros; zeros that are not a hole; both.
    let body = numbers(&[CONTEXT, 512, 0, 512, 1, 1024, 2, 1024, 3]);
    let (got, broken) = answers(&of(4, true, part::BLOCK_STATUS, &[&body]), 100, true);
    assert_eq!((broken, &got[0].3[..]), (None, &[(1024, RunKind::Data), (2048, RunKind::Zero)][..]));
    for wrong in [&numbers(&[CONTEXT + 1, 512, 0])[..], &numbers(&[CONTEXT, 0, 2]), &body[..15]] {
        assert!(answers(&of(4, true, part::BLOCK_STATUS, &[wrong]), 100, true).1.is_some(), "{wrong:?}");
    }
}

#[test]
fn an_error_behind_data_is_the_result_and_comes_in_the_words_of_the_server() {
    let all = [data(0, false, 0, &[1; 4096]), error(0, true, 5, "disk\x1b[31m on fire"), simple(2, 28, &[])];
    let (got, broken) = answers(&all.concat(), 100, true);
    let words = "the NBD server reports error 5 (input/output error): disk [31m on fire";
    assert_eq!((broken, got[0].1.clone()), (None, Err(words.to_owned())));
    assert!(got[1].1.as_ref().unwrap_err().contains("no space left"));
}

#[test]
fn an_answer_that_the_protocol_does_not_allow_is_an_error_and_never_data() {
    let lacks = data(0, true, 0, &[1; 4095]);
    let twice = [data(0, false, 0, &[1; 10]), data(0, true, 9, &[1; 4087])].concat();
    for (what, bytes) in [
        ("lacks data", lacks),
        ("the same data twice", twice),
        ("outside", data(0, true, 4000, &[1; 97])),
        ("outside", data(1, true, 0, &[1; 512])),
        ("outside", hole(0, true, u64::MAX, 1)),
        ("other than a read", data(2, true, 0, &[1; 512])),
        ("a simple reply to a read", simple(0, 0, &[1; 4096])),
        ("was not sent", simple(9, 0, &[])),
        ("was not sent", [simple(3, 0, &[]), simple(3, 0, &[])].concat()),
        ("unknown type", of(0, true, 9, &[])),
        ("length", of(0, true, part::NONE, &[&[0]])),
        ("wrong magic number", vec![7; 16]),
        ("lacks the block status", of(4, true, part::NONE, &[])),
    ] {
        let (got, broken) = answers(&bytes, 100, true);
        assert!(broken.as_ref().is_some_and(|messages| messages.contains(what)), "{what}: {broken:?}");
        assert!(got.iter().all(|got| got.0 == 3));
    }
}

#[test]
fn a_server_without_structured_replies_answers_with_the_data_behind() {
    let all = [simple(1, 0, &[9; 512]), simple(0, 5, &[]), simple(2, 0, &[])].concat();
    let (got, broken) = answers(&all, 100, false);
    assert_eq!((broken, got.len(), &got[0].2), (None, 3, &vec![9; 512]));
    assert!(got[1].1.is_err() && got[2].1.is_ok());
}

fn option_reply(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let magic = protocol::OPTION_REPLY_MAGIC.to_be_bytes();
    let len = (data.len() as u32).to_be_bytes();
    [&magic[..], &option.to_be_bytes(), &kind.to_be_bytes(), &len, data].concat()
}

fn greeting(flags: u16) -> Vec<u8> {
    let numbers = [protocol::SERVER_MAGIC.to_be_bytes(), protocol::OPTION_MAGIC.to_be_bytes()].concat();
    [&numbers[..], &flags.to_be_bytes()].concat()
}

fn offered(size: u64, sizes: Option<[u32; 3]>) -> Vec<u8> {
    let export = [&0u16.to_be_bytes()[..], &size.to_be_bytes(), &1u16.to_be_bytes()].concat();
    let mut all = vec![greeting(3), option_reply(8, protocol::reply::UNSUPPORTED, b"")];
    all.push(option_reply(7, 3, &export));
    all.extend(sizes.map(|sizes| {
        let sizes: Vec<u8> = sizes.iter().flat_map(|size| size.to_be_bytes()).collect();
        option_reply(7, 3, &[&3u16.to_be_bytes()[..], &sizes].concat())
    }));
    all.push(option_reply(7, 1, b""));
    all.concat()
}

#[test]
fn the_sizes_of_requests_are_those_of_the_server_or_those_that_all_take() {
    assert_eq!(handshake(&offered(1 << 20, None)).unwrap(), (1 << 20, 1, 32 << 20));
    assert_eq!(handshake(&offered(1 << 20, Some([512, 4096, 65536]))).unwrap(), (1 << 20, 512, 65536));
    assert_eq!(handshake(&offered(1 << 20, Some([1, 4096, u32::MAX]))).unwrap().2, 32 << 20);
}

#[test]
fn a_server_that_cannot_be_used_is_refused_in_words() {
    let reported = |bytes: &[u8]| handshake(bytes).unwrap_err().to_string();
    let oldstyle = [protocol::SERVER_MAGIC.to_be_bytes(), protocol::OLDSTYLE_MAGIC.to_be_bytes()].concat();
    let refused = |kind| [greeting(3), option_reply(8, 1 << 31 | 1, b""), option_reply(7, kind, b"why")].concat();
    for (bytes, words) in [
        (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), "not an NBD server"),
        (oldstyle, "old form"),
        (greeting(0), "old form"),
        (offered(1000, Some([512, 512, 65536])), "not a multiple"),
        (offered(1 << 20, Some([3, 4096, 65536])), "invalid block sizes"),
        (offered(u64::MAX, None), "largest possible offset"),
        (refused(protocol::reply::UNKNOWN), "has no export 'export': why"),
        (refused(protocol::reply::TLS_REQUIRED), "requires TLS"),
        ([greeting(3), vec![0; 20]].concat(), "wrong magic number"),
        (
            [greeting(3), option_reply(8, 1, &[]), option_reply(10, 1, &[]), option_reply(7, 1, &[])].concat(),
            "the size of the export",
        ),
    ] {
        assert!(reported(&bytes).contains(words), "{words}: {}", reported(&bytes));
    }
}

proptest! {
    #[test]
    fn a_read_is_what_the_server_sent_however_it_is_cut(
        cuts in proptest::collection::btree_set(1u32..4096, 0..9), order in any::<u64>(), piece in 1usize..2000
    ) {
        let whole: Vec<u8> = (0..4096u32).map(|at| (at % 251 + 1) as u8).collect();
        let borders: Vec<u32> = [0].into_iter().chain(cuts).chain([4096]).collect();
        let mut chunks: Vec<Vec<u8>> = borders
            .windows(2)
            .map(|part| data(0, false, part[0].into(), &whole[part[0] as usize..part[1] as usize]))
            .collect();
        let mut random = fastrand::Rng::with_seed(order);
        random.shuffle(&mut chunks);
        let all = [chunks.concat(), of(0, true, part::NONE, &[])].concat();
        let (got, broken) = answers(&all, piece, true);
        prop_assert_eq!((broken, &got[0].1, &got[0].2), (None, &Ok(4096), &whole));
    }

    #[test]
    fn no_answer_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1usize..40) {
        let _ = handshake(&[offered(4096, None), bytes.clone()].concat());
        let _ = handshake(&[greeting(3), bytes.clone()].concat());
        for magic in [protocol::SIMPLE_REPLY_MAGIC, protocol::PART_MAGIC] {
            let all = [&magic.to_be_bytes()[..], &bytes[..]].concat();
            answers(&all, piece, true);
            answers(&all, piece, false);
        }
    }
}
