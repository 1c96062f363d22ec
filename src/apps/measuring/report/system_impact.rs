//! The part of `haul profile` about system impact: a table, and its conclusion in a sentence.
use super::latency;
use crate::measure::{Effect, Interference, Memory, Profiled, Way};
use crate::report::columns::cells;
use crate::report::style::{STRONG, paint};
use crate::report::units;

/// A program start is slow if it takes longer than this multiple of a start without a read.
const SLOWER: f64 = 1.05;

/// The table; empty if the system impact was not measured.
pub(crate) fn table(found: &Profiled) -> String {
    let Some(Ok(system_impact)) = &found.system_impact else { return String::new() };
    let row = |texts: [&str; 6]| {
        let widths = [12, 12, 10, 9, 10, 10];
        let texts: Vec<String> = texts.iter().zip(widths).map(|(text, width)| format!("{text:>width$}")).collect();
        cells(&texts, 0)
    };
    let head = row(["reading", "read", "cached", "start", "during", "after"]);
    let mut text = format!("\n{}\n", paint(STRONG, &head));
    for effect in &system_impact.effects {
        let read = if effect.way.is_some() { units::size(effect.read_bytes) } else { "-".to_owned() };
        let [before, during, after] =
            [effect.start_before_s, effect.start_during_s, effect.start_after_s].map(|seconds| latency(seconds * 1e6));
        let (name, kept) = (name(effect), effect.kept * 100.0);
        text += &(row([name, &read, &format!("{kept:.0} %"), &before, &during, &after]) + "\n");
    }
    text
}

/// How the disk was read, in a word.
pub(crate) fn name(effect: &Effect) -> &'static str {
    effect.way.map_or("nothing", Way::name)
}

/// The conclusion and its conditions, or why it is unknown.
pub(crate) fn sentence(found: &Profiled) -> String {
    let system_impact = match &found.system_impact {
        None => return String::new(),
        Some(Err(why)) => return format!("system impact not measured: {why}"),
        Some(Ok(system_impact)) => system_impact,
    };
    format!("{}; {}", felt(system_impact), conditions(system_impact))
}

/// The effect of each read method on other programs.
pub(crate) fn felt(system_impact: &Interference) -> String {
    let read = system_impact.effects.iter().filter(|effect| effect.way.is_some());
    read.map(felt_of_one).collect::<Vec<_>>().join("; ")
}

fn felt_of_one(effect: &Effect) -> String {
    let slower = if effect.start_before_s > 0.0 { effect.start_during_s / effect.start_before_s } else { 1.0 };
    let starts = if slower >= SLOWER { format!("{slower:.1} times as long") } else { "no longer".to_owned() };
    let kept = effect.kept * 100.0;
    format!("{} reads leave {kept:.0} % of a cached file, and program starts take {starts}", name(effect))
}

/// The memory in which it was measured, and whether too little was read to require eviction.
pub(crate) fn conditions(system_impact: &Interference) -> String {
    let test_file = units::size(system_impact.test_file_bytes);
    let buffered = system_impact.effects.iter().filter(|effect| effect.way == Some(Way::Buffered));
    let most = buffered.map(|effect| effect.read_bytes).max().unwrap_or(0);
    let (bytes, memory) = match &system_impact.memory {
        Memory::Group(bytes) => (*bytes, format!("a memory control group of {}", units::size(*bytes))),
        Memory::Machine { available_bytes, why } => {
            (*available_bytes, format!("{} of available memory ({why})", units::size(*available_bytes)))
        }
    };
    let plenty = most + system_impact.test_file_bytes <= bytes;
    let plenty = if plenty { ": more than was read, so no eviction was needed" } else { "" };
    format!("a cached test file of {test_file} and {memory}{plenty}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(way: Option<Way>, kept: f64, during_ms: f64) -> Effect {
        Effect {
            way,
            read_bytes: if way.is_some() { 300 << 20 } else { 0 },
            seconds: 2.0,
            cached_before: 1.0,
            kept_least: kept,
            kept,
            start_before_s: 0.003,
            start_during_s: during_ms / 1e3,
            starts: 40,
            start_after_s: 0.0031,
        }
    }

    fn found(memory: Memory) -> Profiled {
        let effects =
            vec![effect(None, 1.0, 3.0), effect(Some(Way::Buffered), 0.02, 5.1), effect(Some(Way::Direct), 1.0, 3.1)];
        let system_impact = Interference { memory, test_file_bytes: 64 << 20, effects };
        Profiled { system_impact: Some(Ok(system_impact)), ..Profiled::default() }
    }

    #[test]
    fn each_read_has_a_row_and_a_part_of_the_sentence() {
        let found = found(Memory::Group(192 << 20));
        let text = anstream::adapter::strip_str(&table(&found)).to_string();
        insta::assert_snapshot!(format!("{text}{}", sentence(&found)));
    }

    #[test]
    fn ample_memory_is_named_as_the_reason() {
        let why = "only root can create a memory control group".to_owned();
        let messages = sentence(&found(Memory::Machine { available_bytes: 6 << 30, why }));
        assert!(
            messages.ends_with("so no eviction was needed") && messages.contains("6.44 GB of available memory"),
            "{messages}"
        );
        let messages = sentence(&found(Memory::Group(192 << 20)));
        assert!(!messages.contains("no eviction was needed"), "{messages}");
    }

    #[test]
    fn unknown_values_are_reported_with_the_reason() {
        let unknown = Profiled { system_impact: Some(Err("it rains".to_owned())), ..Profiled::default() };
        assert_eq!(sentence(&unknown), "system impact not measured: it rains");
        assert_eq!(table(&unknown) + &sentence(&Profiled::default()), "");
    }
}
