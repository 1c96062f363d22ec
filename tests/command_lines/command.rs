//! The command line of a case.
use super::case::{Case, Verb};
use super::scene::Scene;

/// The command line of `case` with these options.
pub fn words(case: &Case, scene: &Scene, options: &[Vec<String>]) -> Vec<String> {
    let dest = |number: usize| scene.dests[number].address.clone();
    let options = options.iter().flatten().cloned();
    if let Verb::Dd(name) = case.verb {
        return dd_words(case, scene, name).into_iter().chain(options).collect();
    }
    if case.verb == Verb::Pattern {
        let words = ["pattern", "write", "--yes", "--run", "7"].map(str::to_owned).into_iter().chain(options);
        let count = ["--count".to_owned(), case.count.unwrap_or(0).to_string(), dest(0)];
        return words.chain(count).collect();
    }
    let verb = if case.verb == Verb::Copy { "copy" } else { "verify" };
    let mut words = vec![verb.to_owned()];
    words.extend(options);
    for (name, value) in [("--skip", case.skip), ("--seek", case.seek), ("--count", case.count)] {
        words.extend(value.map(|value| [name.to_owned(), value.to_string()]).into_iter().flatten());
    }
    words.extend(case.lists.words());
    words.extend([scene.source.clone(), dest(0)]);
    if case.verb == Verb::Copy {
        words.extend((1..case.dests.len()).flat_map(|number| ["--also".to_owned(), dest(number)]));
    }
    words
}

fn dd_words(case: &Case, scene: &Scene, name: &str) -> Vec<String> {
    let mut words = vec![name.to_owned()];
    if name != "dd" {
        words.push("bs=512".to_owned());
    }
    if scene.source != "-" {
        words.push(format!("if={}", scene.source));
    }
    if scene.dests[0].address != "-" {
        words.push(format!("of={}", scene.dests[0].address));
    }
    // sg_dd and its variants count blocks.
    let number = |value: u64| if name == "dd" { format!("{value}B") } else { (value / 512).to_string() };
    for (name, value) in [("skip", case.skip), ("seek", case.seek), ("count", case.count)] {
        words.extend(value.map(|value| format!("{name}={}", number(value))));
    }
    words
}

/// A command line for a shell.
pub fn shown(words: &[String]) -> String {
    let quote = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
