//! The beds of object stores in tiny size: a client that copies the object is right, one that only exits with 0 is not.
use super::image::on_every_bed;
use crate::support::cannot_run;
use haul_bench::result::Verdict;

/// The programs that a test needs.
const TOOLS: &[&str] = &["versitygw", "curl"];

/// The required part of haul, by curl.
const STAND_IN: &str = r#"
while (( $# > 2 )); do shift; done
sent="x-amz-content-sha256: UNSIGNED-PAYLOAD"
signed="--aws-sigv4 aws:amz:$AWS_REGION:s3 --user $AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"
case $1 in
s3://*) exec curl -sSf $signed -H "$sent" -o "$2" "$AWS_ENDPOINT/${1#s3://}" ;;
*) exec curl -sSf $signed -H "$sent" -T "$1" "$AWS_ENDPOINT/${2#s3://}" ;;
esac
"#;

#[test]
fn a_client_that_copies_an_object_is_right_and_one_that_does_nothing_is_not() {
    if cannot_run(TOOLS) {
        return;
    }
    let results = on_every_bed("network-s3-", STAND_IN);
    assert_eq!(results.len(), 2);
    for bed in results {
        for contender in &bed.contenders {
            let wrong = contender.runs.iter().find(|run| run.verdict != Verdict::Right);
            assert!(wrong.is_none() && !contender.runs.is_empty(), "{}: {contender:?}", bed.name);
        }
    }
    for bed in on_every_bed("network-s3-", "true") {
        let verdict = &bed.contenders[0].runs[0].verdict;
        assert_eq!(*verdict, Verdict::CopiedWrongly { first_difference: 0 }, "{}", bed.name);
    }
}
