//! The requests of the crate `object_store`, on haul's own connections: their proxies, certificates and time limits.
use super::answer::Answer;
use super::connections::{Connections, server_of};
use super::failure::Carried;
use super::progress::{Moving, Progress};
use crate::core::{HttpAddress, locked};
use crate::disks::http::failure::{Again, Failure, in_words};
use crate::disks::http::link::Link;
use http_body_util::BodyExt;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION, SERVER, USER_AGENT};
use hyper::{Method, Uri};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a store may take to join the parts of an object without a byte in between.
const JOINS_WITHIN: Duration = Duration::from_secs(600);

/// What the connections of a store have in common.
pub(super) struct Shared {
    pub(super) connections: Arc<Connections>,
    /// What the server reports about itself.
    pub(super) seen: Mutex<Seen>,
    /// A header for the request that completes an upload.
    condition: Mutex<Option<(HeaderName, HeaderValue)>>,
}

/// What is known of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) tls_version: Option<String>,
    /// The name and version by which it calls itself.
    pub(super) server: Option<String>,
    /// Where it is.
    pub(super) place: String,
    pub(super) proxy: Option<String>,
}

impl Shared {
    pub(super) fn new() -> Arc<Shared> {
        let connections = Arc::new(Connections::new());
        Arc::new(Shared { connections, seen: Mutex::default(), condition: Mutex::default() })
    }

    /// From now on, an upload is completed only on this condition.
    pub(super) fn complete_if(&self, name: HeaderName, value: HeaderValue) {
        *locked(&self.condition) = Some((name, value));
    }

    async fn send(&self, request: HttpRequest, allows_http: bool) -> Result<HttpResponse, Failure> {
        let (mut head, body) = request.into_parts();
        let address = HttpAddress::of_url(&head.uri.to_string()).map_err(|why| Failure::last(why, ""))?;
        if !address.is_tls && !allows_http {
            let words = format!("{} is not encrypted", address.authority());
            return Err(Failure::last(words, "Use https, or allow it with AWS_ALLOW_HTTP=true (GOOGLE_, AZURE_)."));
        }
        let mut link = self.connections.link(&address).await?;
        self.see(&address, &link);
        let headers = &mut head.headers;
        let is_joining = head.method == Method::POST && has_upload_id(&head.uri);
        if let (true, Some((name, value))) = (is_joining, &*locked(&self.condition)) {
            headers.insert(name, value.clone());
        }
        dress(headers, &address, &link)?;
        if !link.by_proxy {
            let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
            head.uri = path.parse().map_err(|_| Failure::last("its path is none that a request can have", ""))?;
        }
        let progress = Arc::new(Progress::default());
        let body = Moving::new(body, progress.clone()).map_err(Into::into).boxed_unsync();
        let silent = if is_joining {
            JOINS_WITHIN.max(self.connections.retries.silent)
        } else {
            self.connections.retries.silent
        };
        let sent = link.sender.send_request(hyper::Request::from_parts(head, body));
        let answer = progress.unless_silent(silent, sent).await;
        let answer = answer
            .map_err(|()| Failure::new(Again::Later(None), format!("no answer within {} s", silent.as_secs())))?;
        let answer = answer.map_err(|error| Failure::lost(in_words(&error)))?;
        let (head, body) = answer.into_parts();
        if let Some(server) = head.headers.get(SERVER).and_then(|value| value.to_str().ok()) {
            locked(&self.seen).server = Some(server.to_owned());
        }
        if matches!(head.status.as_u16(), 408 | 429 | 500..) {
            self.connections.on_failure();
        }
        let body = Answer::new(body, self.connections.clone(), (server_of(&address), link));
        Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)))
    }

    fn see(&self, address: &HttpAddress, link: &Link) {
        let mut seen = locked(&self.seen);
        seen.tls_version.clone_from(&link.tls_version);
        seen.place = format!("{}://{}", address.scheme(), address.authority());
        seen.proxy = self.connections.proxy_name(address);
    }
}

fn has_upload_id(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.split('&').any(|field| field.starts_with("uploadId=")))
}

/// Adds the headers that every request has.
fn dress(headers: &mut HeaderMap, address: &HttpAddress, link: &Link) -> Result<(), Failure> {
    if !headers.contains_key(HOST) {
        let host = HeaderValue::try_from(address.authority());
        headers.insert(HOST, host.map_err(|_| Failure::last("its host is none that a request can have", ""))?);
    }
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("haul/", env!("CARGO_PKG_VERSION"))));
    if let Some(credentials) = &link.proxy_credentials {
        headers.insert(PROXY_AUTHORIZATION, credentials.clone());
    }
    Ok(())
}

/// The connections of a store, for the crate.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) shared: Arc<Shared>,
    pub(super) allows_http: bool,
}

impl fmt::Debug for Service {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Service").finish_non_exhaustive()
    }
}

impl HttpService for Service {
    // As the crate async_trait would write it.
    fn call<'a: 'b, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>> {
        Box::pin(async move {
            let sent = self.shared.send(request, self.allows_http).await;
            sent.map_err(|failure| {
                let kind = match failure.again {
                    Again::Never | Again::Elsewhere => HttpErrorKind::Unknown,
                    Again::Reconnect => HttpErrorKind::Connect,
                    Again::Later(_) => HttpErrorKind::Interrupted,
                };
                if kind != HttpErrorKind::Unknown {
                    self.shared.connections.on_failure();
                }
                HttpError::new(kind, Carried(failure))
            })
        })
    }
}

impl HttpConnector for Service {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        Ok(HttpClient::new(Service { allows_http, ..self.clone() }))
    }
}
