//! Why a request to a store failed, in words without anything secret.
use crate::core::{Kind, byte_count};
use crate::disks::http::failure::{Again, Failure};
use hyper::StatusCode;
use object_store::client::HttpError;
use object_store::{Error, ObjectMeta};
use std::error;
use std::fmt;

/// What to do about content that changed.
const COPY_AGAIN: &str = "Copy again from the start, without --resume.";

/// What to do about credentials that a store refuses.
const CREDENTIALS: &str = "Check the credentials in the environment, and what they may do; 'man haul-copy' names the \
    variables.";

/// A failure of a connection, as the error of a request.
#[derive(Debug)]
pub(super) struct Carried(pub(super) Failure);

impl fmt::Display for Carried {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.words)
    }
}

impl error::Error for Carried {}

/// The failure that an error of the crate is. Its own words have addresses and bodies, which may be secret.
pub(super) fn of(error: &Error) -> Failure {
    if let Some(Carried(failure)) = find(error) {
        return failure.clone();
    }
    let answer = answered(error);
    match (error, answer) {
        (Error::Precondition { .. }, answer) => {
            let words = words_of(answer, "it is another one now");
            Failure::last(format!("the object changed on the server: {words}"), COPY_AGAIN)
        }
        (_, Some(answer)) => refused(answer),
        (Error::NotFound { .. }, None) => Failure::last("the server has no such object", "Check the address."),
        (error, None) => Failure::last(deepest(error), ""),
    }
}

/// The failure of a request that haul makes itself.
pub(super) fn of_connection(error: &HttpError) -> Failure {
    error::Error::source(error)
        .and_then(|source| source.downcast_ref())
        .map_or_else(|| Failure::lost("the answer cannot be read"), |Carried(failure)| failure.clone())
}

/// The failure that an answer to such a request means.
pub(super) fn of_answer(status: StatusCode, body: &str) -> Failure {
    let [code, message] = ["Code", "Message"].map(|name| element(body, name).unwrap_or_default());
    let failure = refused((status, code, message));
    match status.as_u16() {
        408 | 429 | 500.. => Failure { again: Again::Later(None), ..failure },
        _ => failure,
    }
}

fn refused(answer: Answered) -> Failure {
    let (kind, advice) = match (answer.0.as_u16(), answer.1.as_str()) {
        (401 | 403, _) => (Kind::Open, CREDENTIALS),
        (400, code) if code.contains("AccessKey") || code.contains("Token") => (Kind::Open, CREDENTIALS),
        (404, "NoSuchUpload") => {
            (Kind::Io, "The upload was completed or aborted elsewhere: check the object, then copy again.")
        }
        (404, _) => (Kind::Open, "Check the address, and the variables that name the server and its region."),
        (507, _) => (Kind::NoSpace, "Free space in the store, then resume."),
        _ => (Kind::Io, ""),
    };
    Failure { kind, ..Failure::last(words_of(Some(answer), ""), advice) }
}

/// Whether there is no such object, while there may be the bucket.
pub(super) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::NotFound { .. })
}

/// Status, code and message of an answer.
type Answered = (StatusCode, String, String);

/// What a server answered. The crate keeps the type of this error to itself, and its text has the status and the body.
fn answered(error: &Error) -> Option<Answered> {
    let text = error.to_string();
    let (status, body) = if let Some((_, rest)) = text.split_once("non-2xx status code: ") {
        (rest.get(..3)?.parse().ok()?, rest)
    } else if let Some((_, body)) = text.split_once("Server returned error response: ") {
        (StatusCode::OK, body)
    } else if text.contains("redirect without LOCATION") {
        (StatusCode::MOVED_PERMANENTLY, "<Code>PermanentRedirect</Code>")
    } else {
        return None;
    };
    let [code, message] = ["Code", "Message"].map(|name| element(body, name).unwrap_or_default());
    Some((status, code, message))
}

fn words_of(answer: Option<Answered>, otherwise: &str) -> String {
    let Some((status, code, message)) = answer else { return otherwise.to_owned() };
    let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
    let mut words = format!("the server answers {}{reason}", status.as_u16());
    for more in [code, message].iter().filter(|text| !text.is_empty()) {
        words += &format!(": {more}");
    }
    words
}

/// The text of the first element with this name, in one line; nothing else of a body is printed.
fn element(body: &str, name: &str) -> Option<String> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once("</")?;
    let text: String = text.chars().take(300).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    Some(text.trim().trim_end_matches('.').to_owned())
}

/// The cause of this type.
fn find<T: error::Error + 'static>(error: &Error) -> Option<&T> {
    let mut cause: Option<&(dyn error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// The last cause, which has no address.
fn deepest(error: &Error) -> String {
    let mut cause: &(dyn error::Error + 'static) = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// The failure of an object that is another one than before.
pub(super) fn changed(was: &ObjectMeta, is: &ObjectMeta) -> Failure {
    let name = |meta: &ObjectMeta| {
        format!("{} with ETag {}", byte_count(meta.size), meta.e_tag.as_deref().unwrap_or("that is not reported"))
    };
    Failure::last(format!("the object changed on the server: it was {} and is {}", name(was), name(is)), COPY_AGAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_and_message_of_a_body_are_printed() {
        let body = "<?xml?><Error><Code>InvalidAccessKeyId</Code><Message>No such\nkey.</Message>\
            <AWSAccessKeyId>hunter2</AWSAccessKeyId></Error>";
        let found = ["Code", "Message", "Resource"].map(|name| element(body, name));
        assert_eq!(found, [Some("InvalidAccessKeyId".to_owned()), Some("No such key".to_owned()), None]);
        let words = words_of(Some((StatusCode::FORBIDDEN, "A".to_owned(), String::new())), "");
        assert_eq!(words, "the server answers 403 Forbidden: A");
        assert_eq!(element("<Code>cut", "Code"), None);
        let answer = |text: String| Error::Generic { store: "S3", source: text.into() };
        let secret = "http://h/?sig=hunter2 in 1s - Server returned non-2xx status code: 403 Forbidden: ";
        let failure = of(&answer(format!("Error performing GET {secret}{body}")));
        assert_eq!(failure.words, "the server answers 403 Forbidden: InvalidAccessKeyId: No such key");
        assert_eq!((failure.kind, failure.advice), (Kind::Open, CREDENTIALS));
    }
}
