//! Tests whether a journal is kept, and what happens to the dest of a resumed copy.
use super::*;
use crate::core::{Existing, HashKind, Zeros};

fn journal(journal: JournalChoice, resume: bool) -> Options {
    Options { journal, resume, ..Options::default() }
}

fn auto() -> Options {
    journal(JournalChoice::Auto, false)
}

fn resume() -> Options {
    journal(JournalChoice::Auto, true)
}

#[test]
fn a_journal_is_kept_if_the_copy_can_be_resumed() {
    let (disk, image, new) = (disk(1, GIB), file("a", 1, GIB), new_file("b"));
    for (source, dest) in [(&disk, &new), (&image, &disk), (&disk, &file("b", 2, 5)), (&image, &new)] {
        assert!(made(&auto(), source, dest).journal, "{} to {}", source.address, dest.address);
        assert!(!made(&journal(JournalChoice::Never, false), source, dest).journal);
    }
}

#[test]
fn no_journal_is_kept_for_copies_that_cannot_resume_and_naming_one_is_refused() {
    let (disk, image, new) = (disk(1, GIB), file("a", 1, GIB), new_file("b"));
    let count = Options { count_bytes: Some(MIB), ..auto() };
    let no_flush = Options { no_flush: true, ..auto() };
    let apart = Options { skip_bytes: Some(0), seek_bytes: Some(2 * GIB), ..auto() };
    let table = [
        (auto(), &pipe(), &new, "the source is a stream"),
        (auto(), &image, &pipe(), "the destination is a stream"),
        (auto(), &image, &Facts::new("/dev/null", EndpointKind::Null), "stores nothing"),
        (count, &endless(), &disk, "the source generates its data"),
        (no_flush, &image, &disk, "--no-flush is given"),
        (apart, &image, &image, "one file"),
    ];
    for (options, source, dest, why_not) in table {
        let plan = made(&options, source, dest);
        assert!(!plan.journal && why(&plan, "journal").contains(why_not), "{}", why(&plan, "journal"));
        let asked = Options { journal: JournalChoice::At("j".into()), ..options.clone() };
        expect(&refused(&asked, source, dest), Kind::Usage, &["--journal", why_not]);
        expect(&refused(&Options { resume: true, ..options }, source, dest), Kind::Usage, &["--resume", why_not]);
    }
}

#[test]
fn an_empty_source_is_copied_without_the_named_journal() {
    for choice in [JournalChoice::Auto, JournalChoice::At("j".into())] {
        let plan = made(&journal(choice, false), &file("a", 1, 0), &new_file("b"));
        assert!(!plan.journal && why(&plan, "journal").contains("nothing to copy"), "{}", why(&plan, "journal"));
    }
    expect(&refused(&resume(), &file("a", 1, 0), &new_file("b")), Kind::Usage, &["--resume", "nothing to copy"]);
}

#[test]
fn a_dest_in_memory_has_a_journal_only_if_named() {
    let dest = Facts { filesystem: Some("tmpfs".to_owned()), ..new_file("b") };
    assert!(!made(&auto(), &file("a", 1, GIB), &dest).journal);
    assert!(made(&journal(JournalChoice::At("j".into()), false), &file("a", 1, GIB), &dest).journal);
}

#[test]
fn a_resumed_file_is_not_truncated_first_and_ends_with_the_copy() {
    let plan = made(&resume(), &file("a", 1, GIB), &file("b", 2, GIB));
    assert_eq!((plan.dest.access.existing, plan.set_end, plan.preallocate), (Existing::Keep, true, false));
    assert!(plan.journal);
    // Data from an earlier run need not be zeros.
    let sparse = Facts { sparse: true, ..file("a", 1, GIB) };
    assert_eq!(made(&auto(), &sparse, &file("b", 2, GIB)).zeros, Zeros::Leave);
    assert_eq!(made(&resume(), &sparse, &file("b", 2, GIB)).zeros, Zeros::Device);
}

#[test]
fn a_resumed_copy_with_a_digest_of_all_data_says_that_it_reads_again_what_is_copied() {
    let (from, to) = (file("a", 1, GIB), file("b", 2, GIB));
    let hash = Options { hashes: vec![HashKind::Sha256], ..resume() };
    let manifest = Options { manifest: Some("m".to_owned()), ..resume() };
    let [again, from_journal] = ["earlier runs kept no digests", "from the journal where earlier runs recorded them"];
    for (options, kind, says) in [(hash, HashKind::Sha256, again), (manifest, HashKind::Blake3, from_journal)] {
        let plan = made(&options, &from, &to);
        assert_eq!((plan.hashes.as_slice(), plan.journal), (&[kind][..], true));
        let messages = why(&plan, "digests");
        assert!(messages.contains(says), "{messages}");
    }
    assert!(made(&resume(), &from, &to).hashes.is_empty());
}

#[test]
fn a_resumed_copy_uses_no_reflink() {
    let (from, to) = (file("a", 1, GIB), file("b", 2, GIB));
    let reflink = Options { reflink: When::Always, ..resume() };
    expect(&refused(&reflink, &from, &to), Kind::Unsupported, &["--resume", "--reflink always"]);
    expect(&refused(&Options { offload: true, ..resume() }, &from, &to), Kind::Usage, &["--offload"]);
    let shares = |facts: Facts| Facts { reflinks: true, filesystem: Some("btrfs".to_owned()), ..facts };
    let plan = made(&resume(), &shares(from), &shares(to));
    assert!(plan.engine != crate::core::EngineKind::Reflink && plan.engine_instead.is_none());
}
