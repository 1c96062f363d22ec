//! Why a request failed, and whether another one may succeed.
use crate::core::{DeviceError, Kind};
use std::io;
use std::time::Duration;

/// Whether it makes sense to request the same again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disks) enum Again {
    /// The answer would be the same, or the content is another one.
    Never,
    /// There was no connection.
    Reconnect,
    /// After this time, if the server named one.
    Later(Option<Duration>),
    /// Where an address redirected to is valid for a limited time, that address may lead elsewhere now.
    Elsewhere,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::disks) struct Failure {
    pub(in crate::disks) words: String,
    pub(in crate::disks) again: Again,
    pub(in crate::disks) kind: Kind,
    pub(in crate::disks) advice: &'static str,
}

impl Failure {
    pub(in crate::disks) fn new(again: Again, words: impl Into<String>) -> Failure {
        Failure { words: words.into(), again, kind: Kind::Io, advice: "" }
    }

    /// One that no repetition changes.
    pub(in crate::disks) fn last(words: impl Into<String>, advice: &'static str) -> Failure {
        Failure { advice, ..Failure::new(Again::Never, words) }
    }

    /// The connection failed, or ended too early.
    pub(in crate::disks) fn lost(why: impl std::fmt::Display) -> Failure {
        Failure::new(Again::Later(None), format!("the connection was lost: {why}"))
    }

    /// The same as an error of a read that got to byte `offset`.
    pub(in crate::disks) fn at(self, offset: u64) -> io::Error {
        let Failure { words, kind, advice, .. } = self;
        let advice = if advice.is_empty() { "Check the server, and proxies before it." } else { advice };
        DeviceError { kind, words, offset: Some(offset), of_medium: false, advice, sense: None }.into()
    }
}

/// An error without the number that the kernel gives it, and with its cause.
pub(in crate::disks) fn in_words(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    words.split(" (os error").next().unwrap_or("").to_owned()
}

/// What sort of failure an error of a request is.
pub(in crate::disks) fn kind_of(error: &io::Error) -> Kind {
    DeviceError::of(error).map_or(Kind::Io, |failure| failure.kind)
}
