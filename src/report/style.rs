//! The colours. Texts contain them as escape sequences; [`super::Out`] removes them if colour is disabled.
use anstyle::{AnsiColor, Style};

/// The most important words.
pub(crate) const STRONG: Style = Style::new().bold();
/// Errors, and data that will be lost.
pub(crate) const DANGER: Style = AnsiColor::Red.on_default().bold();
/// Warnings.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// The best results.
pub(crate) const BEST: Style = AnsiColor::Green.on_default();

/// The text in this style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
