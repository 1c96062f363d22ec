//! The rules of docs/developer/design.md and CONTRIBUTING.md, applied to the source tree.
//!
//! A line scanner is sufficient: it recognizes strings and comments, and counts braces. `bad.rs` shows that each
//! rule can fail. `TIDY_ROOT=/some/tree cargo test --test tidy` checks another tree.
mod bad;
mod circles;
mod links;
mod rooms;
mod rules;
mod source;
mod tree;
mod words;

use source::Source;
use std::sync::LazyLock;
use tree::Tree;

/// The tree that the rules are applied to; it is read once for all of them.
fn this_tree() -> &'static Tree {
    static TREE: LazyLock<Tree> = LazyLock::new(|| {
        let root = std::env::var("TIDY_ROOT").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
        let tree = Tree::load(root.as_ref());
        assert!(tree.files.contains_key("src/lib.rs"), "{root} is not the root of the repository");
        tree
    });
    &TREE
}

#[track_caller]
fn assert_none(breaches: Vec<String>) {
    assert!(breaches.is_empty(), "{} breaches:\n{}\n", breaches.len(), breaches.join("\n"));
}

#[track_caller]
fn assert_each_file_keeps(rule: fn(&Source) -> Vec<String>) {
    assert_none(this_tree().sources().iter().flat_map(rule).collect());
}

#[test]
fn rooms_import_only_what_the_table_allows() {
    assert_each_file_keeps(rooms::imports);
}

#[test]
fn no_imports_are_circular() {
    assert_none(circles::circles(this_tree()));
}

#[test]
fn features_are_not_named_outside_their_directory() {
    assert_each_file_keeps(rooms::features);
}

#[test]
fn files_have_at_most_400_lines() {
    assert_each_file_keeps(rules::file_size);
}

#[test]
fn functions_have_at_most_70_lines() {
    assert_each_file_keeps(rules::function_size);
}

#[test]
fn a_command_is_a_recipe_of_at_most_120_lines() {
    assert_each_file_keeps(rules::recipe_size);
}

#[test]
fn lines_have_at_most_120_characters() {
    assert_each_file_keeps(rules::line_width);
}

#[test]
fn only_the_room_report_prints() {
    assert_each_file_keeps(rules::printing);
}

#[test]
fn only_main_ends_the_process() {
    assert_each_file_keeps(rules::exiting);
}

#[test]
fn files_are_created_renamed_and_removed_in_one_room() {
    assert_each_file_keeps(rules::file_calls);
}

#[test]
fn only_one_file_reads_from_terminals() {
    assert_each_file_keeps(rules::terminals);
}

#[test]
fn tests_do_not_match_words_where_lines_are_wrapped() {
    assert_each_file_keeps(rules::wrapped_words);
}

#[test]
fn programs_under_a_limit_write_no_coverage_data() {
    assert_each_file_keeps(rules::limited_coverage);
}

#[test]
fn unsafe_is_only_in_listed_files() {
    assert_each_file_keeps(rules::unsafe_places);
}

#[test]
fn no_thread_is_started_by_a_call_that_panics() {
    assert_each_file_keeps(rules::threads);
}

#[test]
fn each_unsafe_has_its_reason() {
    assert_each_file_keeps(rules::unsafe_reasons);
}

#[test]
fn rooms_without_unsafe_forbid_it() {
    assert_each_file_keeps(rules::unsafe_forbidden);
}

#[test]
fn no_leftovers_remain() {
    assert_each_file_keeps(rules::leftovers);
}

#[test]
fn each_room_documents_its_forbidden_imports() {
    assert_each_file_keeps(rules::room_header);
}

#[test]
fn public_names_use_the_words_of_the_glossary() {
    assert_each_file_keeps(rules::glossary);
}

#[test]
fn user_text_has_no_avoided_word() {
    assert_none(words::user_text(this_tree()));
}

#[test]
fn test_names_state_the_behaviour() {
    assert_none(words::test_names(this_tree()));
}

/// `cargo test --test tidy -- --ignored --nocapture` draws other ones each time.
#[test]
#[ignore = "prints sentences for people to judge"]
fn twenty_sentences_for_users_are_drawn() {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new();
    let mut sentences = words::sentences(this_tree());
    sentences.sort_by_key(|sentence| random.hash_one(sentence));
    assert!(sentences.len() > 500, "{} sentences were found", sentences.len());
    sentences.iter().take(20).for_each(|sentence| println!("{sentence}"));
}

#[test]
fn each_file_is_reached_by_a_mod_line() {
    assert_none(tree::dead_files(this_tree()));
}

#[test]
fn file_names_are_meaningful() {
    assert_none(tree::file_names(this_tree()));
}

#[test]
fn decisions_are_numbered_without_gaps() {
    assert_none(tree::decision_numbers(this_tree()));
}

#[test]
fn each_dependency_has_its_reason() {
    assert_none(tree::dependency_reasons(this_tree()));
}

#[test]
fn every_make_target_of_ci_and_documents_exists() {
    assert_none(tree::make_targets(this_tree()));
}

#[test]
fn every_link_of_a_document_resolves() {
    let root: std::path::PathBuf =
        std::env::var_os("TIDY_ROOT").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into();
    let documents = links::documents(&root).expect("the tree can be read");
    assert!(documents.len() > 30, "only {} documents were found; this rule is blind", documents.len());
    assert_none(links::broken(&documents, |path| root.join(path).exists()));
}

#[test]
fn the_page_of_versions_has_each_file_format() {
    assert_none(tree::format_versions(this_tree()));
}
