//! System calls of the ring, counted by strace: one call submits a batch of blocks and waits.
use crate::hollow::copies_nothing;
use crate::support::{engines, has, haul_path, scratch, write_noise};
use haul::core::{CallStyle, EngineKind};
use std::path::Path;
use std::process::Command;

const BLOCKS: u64 = 512;
const DEPTH: u32 = 16;

/// Calls of io_uring_enter(2) that `program` makes; `None`, with a message, if they cannot be counted.
fn enters(program: &mut dyn FnMut(&Path) -> Command) -> Option<u64> {
    if !has("strace") || !engines().contains(&"ring") {
        return None;
    }
    let dir = scratch();
    let counted = dir.path().join("counted");
    let traced = program(dir.path());
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-U", "calls,name", "-e", "trace=io_uring_enter", "-o"]).arg(&counted).arg("--");
    strace.arg(traced.get_program()).args(traced.get_args());
    strace.envs(traced.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = strace.output().expect("strace runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = std::fs::read_to_string(&counted).expect("strace wrote its table");
    let row = table.lines().find(|line| line.ends_with("io_uring_enter"));
    let calls = row.and_then(|row| row.split_whitespace().next()?.parse().ok());
    Some(calls.unwrap_or_else(|| panic!("no calls in what strace counted:\n{table}")))
}

#[test]
#[ignore = "what the next test traces"]
fn blocks_without_buffer_bypass_the_ring() {
    copies_nothing(EngineKind::Ring, CallStyle::Waits, 4096, DEPTH, BLOCKS);
}

#[test]
fn a_batch_of_blocks_takes_one_system_call_per_side() {
    let calls = enters(&mut |_| {
        let mut command = Command::new(std::env::current_exe().expect("it runs"));
        command.args(["--ignored", "--exact", "pump_calls::blocks_without_buffer_bypass_the_ring"]);
        command
    });
    let Some(calls) = calls else { return };
    println!("{calls} calls for {BLOCKS} blocks that the kernel is done with at once");
    // Requests that complete at once return with the call that submits them, so that the result does not depend on
    // timing.
    let batches = BLOCKS.div_ceil(DEPTH.into()) * 2;
    assert!(calls <= batches + 8, "{calls} calls of io_uring_enter for {batches} batches");
}

#[test]
fn a_copy_of_a_file_takes_no_more_system_calls_than_completions() {
    let calls = enters(&mut |dir| {
        let (source, dest) = (dir.join("source"), dir.join("dest"));
        write_noise(&source, BLOCKS as usize * 4096, 131);
        let mut command = Command::new(haul_path());
        command.args(["copy", "--engine", "ring", "--reflink", "never", "--block-size", "4K", "--progress", "none"]);
        command.arg("--depth").arg(DEPTH.to_string()).args([&source, &dest]);
        command
    });
    let Some(calls) = calls else { return };
    println!("{calls} calls for {BLOCKS} blocks of a file");
    // Each call that waits returns at least one completion, of a read or a write; most return several.
    assert!(calls <= 2 * BLOCKS + 32, "{calls} calls of io_uring_enter for {BLOCKS} blocks read and written");
}
