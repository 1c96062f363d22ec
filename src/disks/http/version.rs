//! What the head of an answer reports about a resource, and whether it is still the same.
use super::failure::{Again, Failure};
use super::link::{Link, refused};
use crate::core::{HttpAddress, HttpResource, byte_count};
use hyper::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED, SERVER,
    TRANSFER_ENCODING,
};
use hyper::{Response, StatusCode, Version};

/// What to do about content that changed.
const COPY_AGAIN: &str = "Copy again from the start, without --resume.";

/// What a server reported about a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it is, all redirects followed.
    pub(super) address: HttpAddress,
    pub(super) resource: HttpResource,
    /// Bytes, where the server reports them.
    pub(super) length: Option<u64>,
    /// A connection that is cut can be told from the end of the resource.
    pub(super) has_end: bool,
}

impl Found {
    /// What the answer to a request for the first byte reports.
    ///
    /// # Errors
    /// It is neither the first byte nor the resource.
    pub(super) fn of<B>(address: &HttpAddress, link: &Link, response: &Response<B>) -> Result<Found, Failure> {
        let (status, headers) = (response.status(), response.headers());
        let length = match status {
            StatusCode::PARTIAL_CONTENT => match Part::of(headers)? {
                Part { first: 0, last: 0, total } => total,
                Part { first, last, .. } => {
                    let words = format!("the server sends bytes {first} to {last} where byte 0 was requested");
                    return Err(Failure::last(words, ""));
                }
            },
            StatusCode::OK => number(headers, CONTENT_LENGTH),
            StatusCode::RANGE_NOT_SATISFIABLE if text(headers, CONTENT_RANGE).as_deref() == Some("bytes */0") => {
                Some(0)
            }
            status => return Err(refused(status, headers)),
        };
        plain(headers)?;
        let etag = text(headers, ETAG);
        let version = match response.version() {
            Version::HTTP_10 => "HTTP/1.0",
            _ => "HTTP/1.1",
        };
        let tls = link.tls_version.as_ref().map(|version| format!(" over {version}")).unwrap_or_default();
        let resource = HttpResource {
            is_weak: etag.as_ref().is_some_and(|etag| !etag.starts_with('"')),
            etag,
            last_modified: text(headers, LAST_MODIFIED),
            ranges: length.is_some() && status != StatusCode::OK,
            protocol: format!("{version}{tls}"),
            server: text(headers, SERVER),
            redirected_to: None,
            proxy: None,
        };
        let has_end = length.is_some() || headers.contains_key(TRANSFER_ENCODING);
        Ok(Found { address: address.clone(), resource, length, has_end })
    }

    /// Whether this is what `before` was: the same length, and the same entity tag or time of the last change.
    ///
    /// # Errors
    /// How it changed.
    pub(super) fn check_same(&self, before: &Found) -> Result<(), Failure> {
        check_length(before.length, self.length)?;
        before.check_version(self.resource.etag.as_deref(), self.resource.last_modified.as_deref())
    }

    fn check_version(&self, etag: Option<&str>, last_modified: Option<&str>) -> Result<(), Failure> {
        let HttpResource { etag: known, is_weak, last_modified: known_change, .. } = &self.resource;
        let (name, was, is) = match known {
            Some(known) if !is_weak => ("ETag", Some(known), etag),
            _ => ("Last-Modified", known_change.as_ref(), last_modified),
        };
        if was.map(String::as_str) == is || was.is_none() {
            return Ok(());
        }
        let (was, is) = (was.map_or("", String::as_str), is.unwrap_or("not reported"));
        Err(changed(&format!("its {name} was {was} and is {is}")))
    }

    /// The header that has the server send nothing of another content, and its value.
    pub(super) fn condition(&self) -> Option<(&'static str, &str)> {
        let HttpResource { etag, is_weak, last_modified, .. } = &self.resource;
        match (etag, last_modified) {
            (Some(etag), _) if !is_weak => Some(("if-match", etag)),
            (_, Some(last_modified)) => Some(("if-unmodified-since", last_modified)),
            _ => None,
        }
    }

    /// Whether an answer has bytes from `first` on, `last` at most, of this content; returns how many.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check_part<B>(&self, response: &Response<B>, first: u64, last: u64) -> Result<u64, Failure> {
        let (status, headers) = (response.status(), response.headers());
        let has = match status {
            StatusCode::PARTIAL_CONTENT => {
                let part = Part::of(headers)?;
                if part.first != first || part.last > last {
                    let words = format!(
                        "the server sends bytes {} to {} where bytes {first} to {last} were requested",
                        part.first, part.last
                    );
                    return Err(Failure::last(words, ""));
                }
                check_length(self.length, part.total.or(self.length))?;
                part.last - part.first + 1
            }
            // The whole of it is a range, too.
            StatusCode::OK if first == 0 && self.length == Some(last + 1) => last + 1,
            StatusCode::OK => {
                return Err(Failure::last("the server sends the whole resource where a range was requested", ""));
            }
            StatusCode::RANGE_NOT_SATISFIABLE => return Err(changed("it has no such byte any more")),
            status => return Err(self.explain(status, headers)),
        };
        plain(headers)?;
        if let Some(length) = number(headers, CONTENT_LENGTH).filter(|&length| length != has) {
            let words = format!(
                "the server announces {} where a range of {} was requested",
                byte_count(length),
                byte_count(has)
            );
            return Err(Failure::last(words, ""));
        }
        self.check_version(text(headers, ETAG).as_deref(), text(headers, LAST_MODIFIED).as_deref())?;
        Ok(has)
    }

    /// Whether an answer is this content from its first byte on.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check_whole<B>(&self, response: &Response<B>) -> Result<(), Failure> {
        let (status, headers) = (response.status(), response.headers());
        if status != StatusCode::OK {
            return Err(self.explain(status, headers));
        }
        plain(headers)?;
        check_length(self.length, number(headers, CONTENT_LENGTH))?;
        self.check_version(text(headers, ETAG).as_deref(), text(headers, LAST_MODIFIED).as_deref())
    }

    fn explain(&self, status: StatusCode, headers: &HeaderMap) -> Failure {
        match status {
            StatusCode::PRECONDITION_FAILED => {
                let version = self.resource.version().unwrap_or_default();
                changed(&format!("it is no longer {version}"))
            }
            status if status.is_redirection() => Failure::new(Again::Elsewhere, "the server redirects again"),
            status => refused(status, headers),
        }
    }
}

fn changed(how: &str) -> Failure {
    Failure::last(format!("the resource changed on the server: {how}"), COPY_AGAIN)
}

fn check_length(was: Option<u64>, is: Option<u64>) -> Result<(), Failure> {
    if was == is {
        return Ok(());
    }
    let words = |length: Option<u64>| length.map_or("unknown".to_owned(), byte_count);
    Err(changed(&format!("its length was {} and is {}", words(was), words(is))))
}

/// Refuses bytes that are encoded, although that was not allowed: they would not be those of the resource.
fn plain(headers: &HeaderMap) -> Result<(), Failure> {
    match text(headers, CONTENT_ENCODING) {
        Some(encoding) if !encoding.eq_ignore_ascii_case("identity") => {
            let words = format!("the server sends the resource with Content-Encoding: {encoding}");
            let advice = "Configure the server to send it unchanged, or decode the output of curl and copy from -.";
            Err(Failure::last(words, advice))
        }
        _ => Ok(()),
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn number(headers: &HeaderMap, name: HeaderName) -> Option<u64> {
    text(headers, name)?.parse().ok()
}

/// The value of Content-Range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    first: u64,
    last: u64,
    /// `None` where the server does not know it.
    total: Option<u64>,
}

impl Part {
    fn of(headers: &HeaderMap) -> Result<Part, Failure> {
        let value = text(headers, CONTENT_RANGE).unwrap_or_default();
        Part::parse(&value).ok_or_else(|| {
            Failure::last(format!("the server sends a range with an invalid Content-Range, '{value}'"), "")
        })
    }

    fn parse(value: &str) -> Option<Part> {
        let (range, total) = value.strip_prefix("bytes ")?.trim_start().split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let total = match total.trim() {
            "*" => None,
            total => Some(total.parse::<u64>().ok()?),
        };
        (first <= last && last < u64::MAX && total.is_none_or(|total| last < total)).then_some(Part {
            first,
            last,
            total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_content_range_is_parsed_or_refused() {
        let part = |first, last, total| Some(Part { first, last, total });
        assert_eq!(Part::parse("bytes 0-0/1"), part(0, 0, Some(1)));
        assert_eq!(Part::parse("bytes 5-9/*"), part(5, 9, None));
        for wrong in ["", "bytes 0-0", "bytes 1-0/5", "bytes 0-5/5", "items 0-0/1", "bytes */5", "bytes 0-x/9"] {
            assert_eq!(Part::parse(wrong), None, "{wrong}");
        }
    }

    fn found(etag: Option<&str>, last_modified: Option<&str>) -> Found {
        let [etag, last_modified] = [etag, last_modified].map(|text| text.map(str::to_owned));
        let is_weak = etag.as_ref().is_some_and(|etag| etag.starts_with("W/"));
        let resource = HttpResource { etag, is_weak, last_modified, ranges: true, ..HttpResource::default() };
        let address = HttpAddress::of_url("http://h/x").unwrap();
        Found { address, resource, length: Some(100), has_end: true }
    }

    fn part(range: &str, more: &[(&str, &str)]) -> Response<()> {
        let mut response = Response::builder().status(206).header("content-range", range);
        for (name, value) in more {
            response = response.header(*name, *value);
        }
        response.body(()).unwrap()
    }

    #[test]
    fn a_part_of_another_content_is_refused() {
        let known = found(Some("\"a\""), Some("Mon"));
        let check = |range: &str, more: &[(&str, &str)]| known.check_part(&part(range, more), 10, 19);
        assert_eq!(check("bytes 10-19/100", &[("etag", "\"a\"")]), Ok(10));
        assert_eq!(check("bytes 10-14/*", &[("etag", "\"a\""), ("content-length", "5")]), Ok(5));
        for (range, more, why) in [
            ("bytes 10-19/100", &[("etag", "\"b\"")][..], "its ETag was \"a\" and is \"b\""),
            ("bytes 10-19/100", &[], "its ETag was \"a\" and is not reported"),
            ("bytes 10-19/101", &[("etag", "\"a\"")], "its length was 100 bytes and is 101 bytes"),
            ("bytes 11-19/100", &[("etag", "\"a\"")], "sends bytes 11 to 19"),
            ("bytes 10-20/100", &[("etag", "\"a\"")], "sends bytes 10 to 20"),
            ("bytes 10-19/100", &[("etag", "\"a\""), ("content-length", "9")], "announces 9 bytes"),
            ("bytes 10-19/100", &[("etag", "\"a\""), ("content-encoding", "gzip")], "Content-Encoding: gzip"),
            ("all", &[("etag", "\"a\"")], "invalid Content-Range"),
        ] {
            let failure = check(range, more).unwrap_err();
            assert!(failure.words.contains(why) && failure.again == Again::Never, "{failure:?}");
        }
    }

    #[test]
    fn a_weak_etag_gives_way_to_last_modified() {
        let known = found(Some("W/\"a\""), Some("Mon"));
        assert_eq!(known.condition(), Some(("if-unmodified-since", "Mon")));
        let check = |more: &[(&str, &str)]| known.check_part(&part("bytes 0-9/100", more), 0, 9);
        assert_eq!(check(&[("etag", "W/\"b\""), ("last-modified", "Mon")]), Ok(10));
        assert!(check(&[("etag", "W/\"a\""), ("last-modified", "Tue")]).is_err());
        assert_eq!(found(None, None).condition(), None);
        assert_eq!(found(Some("\"a\""), None).condition(), Some(("if-match", "\"a\"")));
    }

    #[test]
    fn the_whole_resource_is_accepted_only_if_it_was_requested() {
        let known = found(None, None);
        let whole = Response::builder().status(200).header("content-length", "100").body(()).unwrap();
        assert_eq!(known.check_part(&whole, 0, 99), Ok(100));
        assert!(known.check_part(&whole, 0, 98).is_err() && known.check_part(&whole, 1, 99).is_err());
        assert!(known.check_whole(&whole).is_ok());
    }

    proptest! {
        #[test]
        fn no_content_range_is_a_panic(value in "(bytes )?[0-9 */-]{0,30}") {
            let _ = Part::parse(&value);
        }
    }
}
