//! What packages install beside the program: man page and completions, made of the definition of the command line.

use crate::apps::measuring;
use crate::cli::help::{self, escape};
use crate::cli::words::{Table, words};
use clap::builder::TypedValueParser;
use clap_complete::Shell;
use clap_mangen::Man;
use minijinja::context;

/// Something that packages install beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// The man page `haul(1)`.
    Man,
    /// The man page `haul-dd(1)`.
    ManDd,
    /// The man page `haul-sg_dd(1)`, of its kin, too.
    ManSgDd,
    /// The man page `haul-tune(1)`.
    ManTune,
    /// The man page `haul-profile(1)`.
    ManProfile,
    /// Completions for bash.
    Bash,
    /// Completions for zsh.
    Zsh,
    /// Completions for fish.
    Fish,
}

/// The bytes of the artifact, ready for a file; none of the man pages of the fronts, which write their own. The same on
/// every run of the same version: no date is in it.
pub fn render(artifact: Artifact) -> Vec<u8> {
    match artifact {
        Artifact::Man => manual(include_str!("manual.roff"), "copy", super::MANUAL).into_bytes(),
        Artifact::ManDd | Artifact::ManSgDd => Vec::new(),
        Artifact::ManTune => measuring::cli::tune_manual().into_bytes(),
        Artifact::ManProfile => measuring::cli::profile_manual().into_bytes(),
        Artifact::Bash => complete(Shell::Bash),
        Artifact::Zsh => complete(Shell::Zsh),
        Artifact::Fish => complete(Shell::Fish),
    }
}

fn complete(shell: Shell) -> Vec<u8> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "haul", &mut bytes);
    bytes
}

/// The man page that `template` makes of a command's help and options, with `sections` behind them.
pub(crate) fn manual(template: &str, command: &str, sections: &[&str]) -> String {
    let mut haul = super::command();
    haul.build();
    let found = haul.find_subcommand(command).expect("it is a subcommand");
    let [summary, about, long] = [haul.get_about(), found.get_about(), found.get_long_about()]
        .map(|text| text.map(ToString::to_string).unwrap_or_default());
    // The first paragraph is the one-line summary, which has its place elsewhere.
    let paragraphs = long.split("\n\n").skip(1).map(|paragraph| format!(".PP\n{}\n", escape(paragraph)));
    let mut options = Vec::new();
    Man::new(found.clone()).render_options_section(&mut options).expect("a vector takes all bytes");
    let values = context! {
        command,
        version => env!("CARGO_PKG_VERSION"),
        summary => escape(&summary),
        about => escape(&about),
        description => paragraphs.collect::<String>(),
        options => String::from_utf8_lossy(&options),
        sections => help::roff(&sections.concat()),
    };
    help::fill(template, values)
}

/// The words for them.
const ARTIFACTS: Table<Artifact> = &[
    ("man", "the man page haul(1)", Artifact::Man),
    ("man-dd", "the man page haul-dd(1)", Artifact::ManDd),
    ("man-sg_dd", "the man page haul-sg_dd(1)", Artifact::ManSgDd),
    ("man-tune", "the man page haul-tune(1)", Artifact::ManTune),
    ("man-profile", "the man page haul-profile(1)", Artifact::ManProfile),
    ("bash", "completions for bash", Artifact::Bash),
    ("zsh", "completions for zsh", Artifact::Zsh),
    ("fish", "completions for fish", Artifact::Fish),
];

/// Reads which artifact is meant.
pub(crate) fn artifact() -> impl TypedValueParser<Value = Artifact> {
    words(ARTIFACTS)
}
