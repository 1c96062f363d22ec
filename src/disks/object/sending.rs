//! Sending the parts of an object, some at a time, and joining them.
use super::failure;
use super::parts::{Part, PartBytes, Parts};
use super::store::Store;
use crate::core::{Extent, StoreKind, byte_count, locked};
use crate::disks::http::failure::Failure;
use crate::disks::http::runtime;
use hyper::body::Bytes;
use hyper::header::{HeaderValue, IF_MATCH, IF_NONE_MATCH};
use object_store::multipart::PartId;
use object_store::{Error, ObjectMeta, PutMode, PutOptions, PutPayload, PutResult, UpdateVersion};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Memory for parts in flight, besides the one that is collected. Longer parts go one at a time.
const IN_FLIGHT_BYTES: usize = 24 << 20;

/// Most parts in flight.
const IN_FLIGHT_MAX: usize = 4;

/// Bytes of a part that are handed over at a time, so that it shows that a slow connection moves.
const PIECE_BYTES: usize = 128 << 10;

/// What to do when another program writes the same object.
const CONTENDED: &str = "Examine the object, then copy again.";

/// How far an object is.
pub(super) struct State {
    pub(super) parts: Parts,
    /// The store's name for the upload, once it began.
    pub(super) upload: Option<String>,
    pub(super) is_complete: bool,
    in_flight: usize,
    failed: Option<(Failure, u64)>,
    is_cancelled: bool,
}

impl State {
    pub(super) fn new(parts: Parts, upload: Option<String>) -> State {
        State { parts, upload, is_complete: false, in_flight: 0, failed: None, is_cancelled: false }
    }

    fn check(&self) -> io::Result<()> {
        match &self.failed {
            _ if self.is_cancelled => Err(io::Error::from_raw_os_error(libc::ECANCELED)),
            Some((failure, offset)) => Err(failure.clone().at(*offset)),
            None => Ok(()),
        }
    }
}

/// The parts of an object on their way.
pub(super) struct Sending {
    store: Arc<Store>,
    /// The object that is replaced.
    existing: Option<ObjectMeta>,
    state: Mutex<State>,
    on_change: Condvar,
}

impl Sending {
    pub(super) fn new(store: Arc<Store>, existing: Option<ObjectMeta>, state: State) -> Sending {
        Sending { store, existing, state: Mutex::new(state), on_change: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// The state, unless a part has failed.
    ///
    /// # Errors
    /// That of the part; ECANCELED.
    pub(super) fn usable(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        state.check().map(|()| state)
    }

    /// Ends all requests.
    pub(super) fn cancel(&self) {
        self.state().is_cancelled = true;
        self.store.cancelled.cancel();
        self.on_change.notify_all();
    }

    /// Requests that were repeated.
    pub(super) fn failed(&self) -> u32 {
        self.store.failed()
    }

    /// Waits until `done`, or a part fails.
    fn wait_until(&self, done: impl Fn(&State) -> bool) -> io::Result<MutexGuard<'_, State>> {
        let waiting = |state: &mut State| !done(state) && state.check().is_ok();
        let state = self.on_change.wait_while(self.state(), waiting).unwrap_or_else(PoisonError::into_inner);
        state.check().map(|()| state)
    }

    /// Waits until no part is in flight.
    ///
    /// # Errors
    /// As for [`Sending::usable`].
    pub(super) fn all_stored(&self) -> io::Result<MutexGuard<'_, State>> {
        self.wait_until(|state| state.in_flight == 0)
    }

    /// Sends a part while others are in flight; waits where they are too many.
    ///
    /// # Errors
    /// As for [`Sending::usable`]; that of beginning the upload.
    pub(super) fn send(this: &Arc<Sending>, part: Part) -> io::Result<()> {
        let id = this.begin(part.offset)?;
        let most = (IN_FLIGHT_BYTES / part.bytes.len().max(1)).clamp(1, IN_FLIGHT_MAX);
        this.wait_until(|state| state.in_flight < most)?.in_flight += 1;
        let sending = this.clone();
        let sent = async move {
            let Part { number, offset, bytes } = part;
            let extent = Extent::new(offset, bytes.len() as u64);
            let store = &sending.store;
            let put = store.uploads.put_part(&store.path, &id, number as usize, payload(bytes));
            let put = store.cancelled.unless(async { Ok(put.await) }).await;
            let mut state = sending.state();
            state.in_flight -= 1;
            match put {
                Ok(Ok(PartId { content_id })) => state.parts.on_stored(number, extent, content_id),
                Ok(Err(error)) => {
                    let failure = failure::of(&error);
                    state.failed.get_or_insert((failure, offset));
                }
                // Cancelled: that is known already.
                Err(_) => {}
            }
            drop(state);
            sending.on_change.notify_all();
        };
        runtime::handle()?.spawn(sent);
        Ok(())
    }

    /// The upload's name; it begins with the first part.
    fn begin(&self, offset: u64) -> io::Result<String> {
        if let Some(id) = &self.usable()?.upload {
            return Ok(id.clone());
        }
        let store = self.store.clone();
        let begun = runtime::wait(async move {
            let created = async { Ok(store.uploads.create_multipart(&store.path).await) };
            store.cancelled.unless(created).await
        })??;
        let id = begun.map_err(|error| failure::of(&error).at(offset))?;
        self.state().upload = Some(id.clone());
        Ok(id)
    }

    /// Writes an object that is one part, unless another program wrote it meanwhile.
    ///
    /// # Errors
    /// What the store refuses.
    pub(super) fn put(&self, bytes: PartBytes) -> io::Result<()> {
        let mode = match &self.existing {
            None => PutMode::Create,
            Some(meta) => PutMode::Update(UpdateVersion { e_tag: meta.e_tag.clone(), version: meta.version.clone() }),
        };
        let (size, payload) = (bytes.len() as u64, payload(bytes));
        self.make_visible(size, move |store| async move {
            let options = |mode| PutOptions { mode, ..PutOptions::default() };
            match store.objects.put_opts(&store.path, payload.clone(), options(mode)).await {
                // The user switched conditions off, because the server has none.
                Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                    store.objects.put_opts(&store.path, payload, options(PutMode::Overwrite)).await
                }
                put => put,
            }
        })
    }

    /// Joins the parts, unless another program wrote the object meanwhile.
    ///
    /// # Errors
    /// What the store refuses.
    pub(super) fn complete(&self, id: String, tags: Vec<String>, size: u64) -> io::Result<()> {
        if self.store.address.store == StoreKind::S3 {
            // The crate sends no condition; no signature covers this header.
            let shared = &self.store.service.shared;
            match self.existing.as_ref().map(|meta| meta.e_tag.as_deref().map(HeaderValue::try_from)) {
                None => shared.complete_if(IF_NONE_MATCH, HeaderValue::from_static("*")),
                Some(Some(Ok(etag))) => shared.complete_if(IF_MATCH, etag),
                Some(_) => {}
            }
        }
        let parts = tags.into_iter().map(|content_id| PartId { content_id }).collect();
        self.make_visible(
            size,
            move |store| async move { store.uploads.complete_multipart(&store.path, &id, parts).await },
        )
    }

    /// Does `work`, after which the store has the object, and checks that it has.
    fn make_visible<F>(&self, size: u64, work: impl FnOnce(Arc<Store>) -> F + Send + 'static) -> io::Result<()>
    where
        F: Future<Output = Result<PutResult, Error>> + Send,
    {
        let (store, existing) = (self.store.clone(), self.existing.clone());
        let done = runtime::wait(async move {
            let etag = |meta: Option<&ObjectMeta>| meta.map(|meta| meta.e_tag.clone());
            if etag(store.head().await?.as_ref()) != etag(existing.as_ref()) {
                return Err(Failure::last("another program wrote or removed the object during the copy", CONTENDED));
            }
            let made = work(store.clone()).await.map_err(|error| not_visible(&error))?;
            match store.head().await? {
                Some(meta) if meta.size == size && meta.e_tag == made.e_tag => Ok(()),
                Some(meta) => Err(Failure::last(
                    format!(
                        "the store has {} with ETag {} where {} with ETag {} were written",
                        byte_count(meta.size),
                        meta.e_tag.as_deref().unwrap_or("none"),
                        byte_count(size),
                        made.e_tag.as_deref().unwrap_or("none")
                    ),
                    CONTENDED,
                )),
                None => Err(Failure::last("the object does not exist after it was completed", CONTENDED)),
            }
        })?;
        done.map_err(|failure| failure.at(size))?;
        self.state().is_complete = true;
        Ok(())
    }
}

fn not_visible(error: &Error) -> Failure {
    match error {
        Error::Precondition { .. } | Error::AlreadyExists { .. } => {
            Failure::last("another program wrote the object during the copy", CONTENDED)
        }
        error => failure::of(error),
    }
}

fn payload(bytes: PartBytes) -> PutPayload {
    let bytes = Bytes::from_owner(bytes);
    (0..bytes.len()).step_by(PIECE_BYTES).map(|at| bytes.slice(at..bytes.len().min(at + PIECE_BYTES))).collect()
}
