//! The few colours there are. Texts carry them as escape sequences; [`super::Out`] takes them out where they are not
//! wanted them.
use anstyle::{AnsiColor, Style};

/// What is searched for first.
pub(crate) const STRONG: Style = Style::new().bold();
/// What destroys or has failed.
pub(crate) const DANGER: Style = AnsiColor::Red.on_default().bold();
/// What should be known.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// What is as good as it gets.
pub(crate) const BEST: Style = AnsiColor::Green.on_default();

/// The text in this style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
