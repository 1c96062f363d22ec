//! What a web server reported about a resource.

/// What a web server reported about a resource, which identifies it as far as the server allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpResource {
    /// The entity tag, in its quotes; it identifies the content unless it is weak.
    pub etag: Option<String>,
    /// The entity tag is weak: it identifies similar content only.
    pub is_weak: bool,
    /// When the content changed last, as the server writes it.
    pub last_modified: Option<String>,
    /// The server sends any range of it.
    pub ranges: bool,
    /// Version of HTTP and of TLS.
    pub protocol: String,
    /// The name and version by which the server calls itself.
    pub server: Option<String>,
    /// Where the address leads by redirects, without what may be secret.
    pub redirected_to: Option<String>,
    /// The proxy in between, without what may be secret.
    pub proxy: Option<String>,
}

impl HttpResource {
    /// What identifies the content besides its length: the strong entity tag, else the time of its last change.
    pub fn version(&self) -> Option<&str> {
        self.etag.as_deref().filter(|_| !self.is_weak).or(self.last_modified.as_deref())
    }
}
