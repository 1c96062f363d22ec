//! What the tests of beds share.
use haul_bench::bed::Bed;
use haul_bench::contender;
use haul_bench::race::Observer;
use haul_bench::result::Run;

/// Prints nothing.
pub struct Quiet;

impl Observer for Quiet {
    fn ran(&mut self, _: &Bed, _: &str, _: &Run) {}
    fn doing(&mut self, _: &str) {}
}

/// Whether a test that needs root and these programs is skipped; prints why.
pub fn cannot_run(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| !contender::in_path(tool));
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root, so no mounts and no loop devices");
    } else if let Some(missing) = missing {
        println!("skipped: {missing} is not installed");
    } else {
        return false;
    }
    true
}
