//! `haul rescue` and GNU ddrescue killed at random moments, in turn, with one map. HAUL_RESCUE_KILLS sets the number of
//! kills, HAUL_RESCUE_SEED their moments and the order of the programs.
use crate::rescue::{Scene, areas};
use crate::support::{has, haul_path, noise, state_home};
use rustix::process::{Pid, Signal};
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("the variable has a number"))
}

#[test]
fn both_programs_killed_in_turn_make_what_one_run_makes() {
    if !has("ddrescue") {
        return;
    }
    let Some(scene) = Scene::new() else { return };
    let (kills, seed) = (number("HAUL_RESCUE_KILLS", 16), number("HAUL_RESCUE_SEED", 1));
    let random = noise(2 * kills as usize, seed);
    let mut finished = 0;
    for (turn, draw) in random.chunks(2).enumerate() {
        let of_haul = draw[1] % 2 == 0;
        let mut command = Command::new(if of_haul { haul_path() } else { "ddrescue".into() });
        let options: &[&str] = if of_haul { &["rescue", "-q", "--yes", "-r1"] } else { &["-q", "-r1"] };
        command.args(options).args(scene.operands()).env("XDG_STATE_HOME", state_home());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Any moment will do: the assertions hold for each.
        thread::sleep(Duration::from_micros(8_000 + 1_500 * u64::from(draw[0])));
        // GNU ddrescue writes its map in place, so that SIGKILL may leave a part of it.
        let signal = if of_haul { Signal::KILL } else { Signal::INT };
        let _ = rustix::process::kill_process(Pid::from_child(&child), signal);
        child.wait().unwrap();
        scene.has_what_the_map_lists(&format!("turn {turn} of seed {seed}"));
        let map = fs::read_to_string(scene.path("map")).unwrap_or_default();
        if map.lines().any(|line| line.split_whitespace().nth(1) == Some("+") && !line.starts_with('#')) {
            // GNU ddrescue does not extend the destination over bad sectors at its end; haul does.
            scene.haul(&["--yes"]).code(1);
            scene.is_rescued();
            // From the start again, so that the next kills meet every phase.
            finished += 1;
            fs::remove_file(scene.path("map")).unwrap();
            fs::remove_file(scene.path("dest")).unwrap();
        }
    }
    scene.haul(&["--yes"]).code(1);
    scene.is_rescued();
    if kills > 100 {
        eprintln!("{kills} kills, seed {seed}: {} rescues completed", finished + 1);
    }
    assert!(areas(&scene.path("map"), '?').is_empty());
}
