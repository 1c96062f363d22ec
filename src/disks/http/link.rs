//! One connection to a server or proxy, and a request on it.
use super::failure::{Again, Failure, in_words};
use super::retry_policy::RetryPolicy;
use crate::core::HttpAddress;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HOST, HeaderMap, HeaderValue, PROXY_AUTHORIZATION, RETRY_AFTER, USER_AGENT,
};
use hyper::{Request, Response, StatusCode};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use std::time::Duration;
use tokio::time::timeout;

/// The body of a request.
pub(in crate::disks) type Sent = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// One connection to a server or proxy.
pub(in crate::disks) struct Link {
    pub(in crate::disks) sender: SendRequest<Sent>,
    /// A proxy reads the requests, which name the server.
    pub(in crate::disks) by_proxy: bool,
    pub(in crate::disks) proxy_credentials: Option<HeaderValue>,
    /// Version of TLS, where it is used.
    pub(in crate::disks) tls_version: Option<String>,
    pub(in crate::disks) retries: RetryPolicy,
}

impl Link {
    /// Sends a GET and receives the head of the answer. `more` are further headers.
    ///
    /// # Errors
    /// The connection failed, or the server did not answer before the time limit.
    pub(in crate::disks) async fn get(
        &mut self,
        address: &HttpAddress,
        more: &[(&'static str, &str)],
    ) -> Result<Response<Incoming>, Failure> {
        let request = self.request(address, more)?;
        match timeout(self.retries.silent, self.sender.send_request(request)).await {
            Err(_) => {
                Err(Failure::new(Again::Later(None), format!("no answer within {} s", self.retries.silent.as_secs())))
            }
            Ok(answer) => answer.map_err(|error| Failure::lost(in_words(&error))),
        }
    }

    fn request(&self, address: &HttpAddress, more: &[(&'static str, &str)]) -> Result<Request<Sent>, Failure> {
        let uri = match self.by_proxy {
            true => format!("{}://{}{}", address.scheme(), address.authority(), address.path_and_query),
            false => address.path_and_query.clone(),
        };
        let mut request = Request::get(uri)
            .header(HOST, address.authority())
            .header(USER_AGENT, concat!("haul/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, "*/*")
            .header(ACCEPT_ENCODING, "identity");
        if let Some(credentials) = address.credentials() {
            let credentials = credentials.map_err(|why| Failure::last(format!("its credentials: {why}"), ""))?;
            request = request.header(AUTHORIZATION, format!("Basic {}", base64(&credentials)));
        }
        if let Some(credentials) = &self.proxy_credentials {
            request = request.header(PROXY_AUTHORIZATION, credentials);
        }
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        // The error could name what is secret in the address.
        let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
        request.body(body).map_err(|_| Failure::last("the address has characters that no request can have", ""))
    }
}

/// What an answer means that has none of the bytes that were requested.
pub(in crate::disks) fn refused(status: StatusCode, headers: &HeaderMap) -> Failure {
    let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
    let words = format!("the server answers {}{reason}", status.as_u16());
    match status.as_u16() {
        401 => Failure {
            advice: "Write user name and password in the address: https://USER:PASSWORD@HOST/PATH.",
            ..Failure::new(Again::Elsewhere, words)
        },
        403 => Failure {
            advice: "Check the permissions; a signed address may have expired.",
            ..Failure::new(Again::Elsewhere, words)
        },
        404 | 410 => Failure::last(words, "Check the address."),
        407 => Failure::last("the proxy requires credentials (407)", "Write them in the address of the proxy."),
        408 | 429 | 500 | 502..=504 | 506..=599 => {
            let requested = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            Failure::new(Again::Later(requested.and_then(|text| pause(text, Timestamp::now()))), words)
        }
        _ => Failure::last(words, ""),
    }
}

/// The value of Retry-After: seconds, or a date.
fn pause(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = rfc2822::parse(text.trim()).ok()?.timestamp();
    Some(Duration::from_secs(until.as_second().saturating_sub(now.as_second()).max(0).unsigned_abs()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at > group.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        let now = Timestamp::from_second(784_111_777 - 30).unwrap();
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (text, seconds) in [("7", Some(7)), (date, Some(30)), ("soon", None), ("-1", None)] {
            assert_eq!(pause(text, now), seconds.map(Duration::from_secs), "{text}");
        }
        assert_eq!(pause(date, Timestamp::from_second(2_000_000_000).unwrap()), Some(Duration::ZERO));
    }

    #[test]
    fn credentials_are_encoded_as_rfc_4648_has_it() {
        let table = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, encoded) in table {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }
}
