//! A store with the credentials of the environment, and one object in it.
use super::failure;
use super::service::{Service, Shared};
use crate::core::{ObjectAddress, StoreKind, byte_count, locked};
use crate::disks::http::cancellation::Cancellation;
use crate::disks::http::failure::Failure;
use crate::disks::http::queue::Ranges;
use object_store::RetryConfig;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{BackoffConfig, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::env;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long a request is repeated at most: credentials have to be valid as long.
const REPEATED_FOR: Duration = Duration::from_secs(180);

/// One object of a store.
pub(super) struct Store {
    pub(super) address: ObjectAddress,
    pub(super) path: Path,
    pub(super) objects: Arc<dyn ObjectStore>,
    pub(super) uploads: Arc<dyn MultipartStore>,
    pub(super) signer: Arc<dyn Signer>,
    pub(super) service: Service,
    pub(super) cancelled: Cancellation,
}

impl Store {
    /// The store of `address`, whose server and credentials the environment names. Sends nothing.
    ///
    /// # Errors
    /// The environment does not name them, or contradicts itself.
    pub(super) fn new(address: &ObjectAddress) -> Result<Store, Failure> {
        let shared = Shared::new();
        let repeated = shared.connections.retries.repeated as usize;
        let backoff =
            BackoffConfig { init_backoff: Duration::from_millis(200), max_backoff: Duration::from_secs(10), base: 2.0 };
        let retries = RetryConfig { backoff, max_retries: repeated, retry_timeout: REPEATED_FOR };
        let service = Service { shared, allows_http: false };
        let bucket = address.bucket.as_str();
        let made = match address.store {
            StoreKind::S3 => {
                let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retries);
                builder.with_http_connector(service.clone()).build().map(Clients::of)
            }
            StoreKind::Gcs => {
                let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retries);
                builder.with_http_connector(service.clone()).build().map(Clients::of)
            }
            StoreKind::Azure => {
                let builder = MicrosoftAzureBuilder::from_env().with_container_name(bucket).with_retry(retries);
                builder.with_http_connector(service.clone()).build().map(Clients::of)
            }
        };
        let Clients { objects, uploads, signer } = made.map_err(|error| {
            let words = format!("the environment has no complete configuration: {}", failure::of(&error).words);
            Failure::last(words, "'man haul-copy' names the variables.")
        })?;
        let path = Path::parse(&address.key)
            .map_err(|_| Failure::last("its key has a part that haul does not support", "Rename the object."))?;
        let service = Service { allows_http: allows_http(address.store), ..service };
        let cancelled = Cancellation::default();
        Ok(Store { address: address.clone(), path, objects, uploads, signer, service, cancelled })
    }

    /// What the server has; `None`: no such object.
    ///
    /// # Errors
    /// What the server refuses, or does not answer.
    pub(super) async fn head(&self) -> Result<Option<ObjectMeta>, Failure> {
        match self.objects.head(&self.path).await {
            Ok(meta) => Ok(Some(meta)),
            Err(error) if failure::is_missing(&error) => Ok(None),
            Err(error) => Err(failure::of(&error)),
        }
    }

    /// Fails if the bucket does not exist, or its objects may not be listed: an object that is missing does not tell
    /// which of both is.
    pub(super) async fn check_bucket(&self) -> Result<(), Failure> {
        let mut listed = self.objects.list(Some(&self.path));
        match poll_fn(|context| listed.as_mut().poll_next(context)).await {
            None | Some(Ok(_)) => Ok(()),
            Some(Err(error)) => {
                let failed = failure::of(&error);
                // Credentials that may write need not be allowed to list.
                if failed.words.contains(" 403 ") { Ok(()) } else { Err(failed) }
            }
        }
    }

    /// How often a request failed in a way that was made up for.
    pub(super) fn failed(&self) -> u32 {
        self.service.shared.connections.failed()
    }

    /// The server, as far as it is known, in words for a report.
    pub(super) fn protocol(&self) -> String {
        let tls = locked(&self.service.shared.seen).tls_version.clone();
        format!(
            "{} by HTTP/1.1{}",
            self.address.store.name(),
            tls.map(|tls| format!(" over {tls}")).unwrap_or_default()
        )
    }
}

/// The interfaces of one client.
struct Clients {
    objects: Arc<dyn ObjectStore>,
    uploads: Arc<dyn MultipartStore>,
    signer: Arc<dyn Signer>,
}

impl Clients {
    fn of(client: impl ObjectStore + MultipartStore + Signer) -> Clients {
        let client = Arc::new(client);
        Clients { objects: client.clone(), uploads: client.clone(), signer: client }
    }
}

/// Whether the environment allows connections without TLS, for requests that haul makes itself.
fn allows_http(store: StoreKind) -> bool {
    let name = match store {
        StoreKind::S3 => "AWS_ALLOW_HTTP",
        StoreKind::Gcs => "GOOGLE_ALLOW_HTTP",
        StoreKind::Azure => "AZURE_ALLOW_HTTP",
    };
    env::var(name).is_ok_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
}

/// The content of an object, as it was found.
pub(super) struct Content {
    pub(super) store: Arc<Store>,
    pub(super) meta: ObjectMeta,
}

impl Ranges for Content {
    fn len(&self) -> u64 {
        self.meta.size
    }

    async fn fill(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.store.cancelled.unless(self.read(at, bytes)).await
    }
}

impl Content {
    async fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let wanted = at..at + bytes.len() as u64;
        let options = GetOptions {
            range: Some(GetRange::Bounded(wanted.clone())),
            if_match: self.meta.e_tag.clone(),
            ..GetOptions::default()
        };
        let got = self.store.objects.get_opts(&self.store.path, options).await;
        let got = got.map_err(|error| failure::of(&error).at(at))?;
        let (was, is) = (&self.meta, &got.meta);
        // Some servers ignore the condition.
        if (was.size, &was.e_tag) != (is.size, &is.e_tag) {
            return Err(failure::changed(was, is).at(at));
        }
        if got.range != wanted {
            return Err(Failure::last("the server sends another range than was requested", "").at(at));
        }
        let mut body = got.into_stream();
        let mut filled = 0;
        while let Some(piece) = poll_fn(|context| body.as_mut().poll_next(context)).await {
            let piece = piece.map_err(|error| failure::of(&error).at(at + filled as u64))?;
            let Some(room) = bytes.get_mut(filled..filled + piece.len()) else {
                return Err(Failure::last("the server sends more bytes than were requested", "").at(at));
            };
            room.copy_from_slice(&piece);
            filled += piece.len();
        }
        if filled < bytes.len() {
            let words = format!("{} of {} are missing", bytes.len() - filled, byte_count(bytes.len()));
            return Err(Failure::last(words, "").at(at + filled as u64));
        }
        Ok(())
    }
}
