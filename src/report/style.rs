//! The few colours there are. Texts carry them as escape sequences; [`super::Out`] takes them out where nobody wants
//! them.
use anstyle::{AnsiColor, Style};

/// What is looked for first.
pub(super) const STRONG: Style = Style::new().bold();
/// What destroys or has failed.
pub(super) const DANGER: Style = AnsiColor::Red.on_default().bold();
/// What should be known.
pub(super) const CARE: Style = AnsiColor::Yellow.on_default();
/// What is as good as it gets.
pub(super) const BEST: Style = AnsiColor::Green.on_default();

/// The text in this style.
pub(super) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
