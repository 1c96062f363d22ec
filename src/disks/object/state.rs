//! State that many workers share: small texts in a bucket or a directory, by the interface of the crate.
use super::failure;
use super::store::Store;
use crate::core::{Error, Kind, ObjectAddress, Result};
use crate::disks::http::failure::Failure;
use crate::disks::http::runtime;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// How long an answer is waited for.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);

/// Requests at a time.
const AT_A_TIME: usize = 64;

/// What to do if the state cannot be reached.
const UNREACHED: &str = "Check that it exists, has free space, and that this user may read and write it; then run the \
    command again.";

/// Texts by name below an address.
pub struct SharedState {
    /// As the user gave it.
    address: String,
    objects: Arc<dyn ObjectStore>,
    base: String,
    /// Nothing of it ever waits.
    is_memory: bool,
    is_directory: bool,
    answered_within: Duration,
    requests: AtomicU64,
}

impl SharedState {
    /// The state at `address`: a directory, which exists, or the beginning of the keys of a bucket. Sends nothing.
    ///
    /// # Errors
    /// Open if the directory does not exist, or the environment does not name the store.
    pub fn open(address: &str) -> Result<SharedState> {
        let is_directory = !address.contains("://");
        let (objects, base): (Arc<dyn ObjectStore>, _) = if !is_directory {
            let parsed = ObjectAddress::parse(address)
                .map_err(|why| Error::new(Kind::Usage, format!("--state {address} cannot be used: {why}")))?;
            let store = Store::new(&parsed).map_err(|failure| failed("use", address, failure))?;
            (store.objects, parsed.key)
        } else {
            let local = LocalFileSystem::new_with_prefix(address);
            let local = local.map_err(|error| failed("use", address, failure::of(&error)))?;
            (Arc::new(local.with_fsync(true)), String::new())
        };
        Ok(SharedState { objects, base, is_directory, ..SharedState::in_memory() }.at(address))
    }

    /// State that lasts as long as this value.
    pub fn in_memory() -> SharedState {
        SharedState {
            address: "memory".to_owned(),
            objects: Arc::new(object_store::memory::InMemory::new()),
            base: String::new(),
            is_memory: true,
            is_directory: false,
            answered_within: ANSWERED_WITHIN,
            requests: AtomicU64::new(0),
        }
    }

    fn at(self, address: &str) -> SharedState {
        SharedState { address: address.to_owned(), is_memory: false, ..self }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The same, with another time for an answer.
    pub fn answered_within(self, time: Duration) -> SharedState {
        SharedState { answered_within: time, ..self }
    }

    /// How many requests were made.
    #[cfg(test)]
    pub fn requests(&self) -> u64 {
        self.requests.load(Relaxed)
    }

    /// Creates a text, unless there is another of this name: then the answer is false.
    ///
    /// # Errors
    /// Io if the store refuses or does not answer. It may have the text then.
    pub fn create(&self, name: &str, text: &str) -> Result<bool> {
        // A request whose answer was lost is repeated, and then finds its own text.
        Ok(self.put_new(name, text)? || self.get(name)?.as_deref() == Some(text))
    }

    fn put_new(&self, name: &str, text: &str) -> Result<bool> {
        let (objects, path, text) = (self.objects.clone(), self.path(name)?, text.to_owned());
        self.done("write", name, async move {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            match objects.put_opts(&path, text.into(), options).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => Ok(false),
                Err(error) => Err(failure::of(&error)),
            }
        })
    }

    /// Writes a text, whether there is one of this name or not.
    ///
    /// # Errors
    /// As for [`SharedState::create`].
    pub fn replace(&self, name: &str, text: &str) -> Result<()> {
        let (objects, path, text) = (self.objects.clone(), self.path(name)?, text.to_owned());
        self.done("write", name, async move {
            objects.put(&path, text.into()).await.map(drop).map_err(|error| failure::of(&error))
        })
    }

    /// Whether a text that was written is still there. Only a directory is asked: a write would create it again, empty,
    /// where a file system was unmounted.
    ///
    /// # Errors
    /// As for [`SharedState::get`].
    pub fn still_has(&self, name: &str) -> Result<bool> {
        if !self.is_directory {
            return Ok(true);
        }
        let (objects, path) = (self.objects.clone(), self.path(name)?);
        self.done("read", name, async move {
            match objects.head(&path).await {
                Ok(_) => Ok(true),
                Err(error) if failure::is_missing(&error) => Ok(false),
                Err(error) => Err(failure::of(&error)),
            }
        })
    }

    /// The text of this name; `None`: there is none.
    ///
    /// # Errors
    /// Io if the store refuses or does not answer, or it is no text.
    pub fn get(&self, name: &str) -> Result<Option<String>> {
        let (objects, path) = (self.objects.clone(), self.path(name)?);
        let bytes = self.done("read", name, async move {
            match objects.get(&path).await {
                Ok(found) => found.bytes().await.map(Some).map_err(|error| failure::of(&error)),
                Err(error) if failure::is_missing(&error) => Ok(None),
                Err(error) => Err(failure::of(&error)),
            }
        })?;
        let text = bytes.map(|bytes| String::from_utf8(bytes.into()));
        text.transpose().map_err(|_| failed("read", &self.full_name(name), Failure::last("it is no text", "")))
    }

    /// The texts of these names, in their order, of which many are requested at a time.
    ///
    /// # Errors
    /// As for [`SharedState::get`].
    pub fn get_all(&self, names: &[String]) -> Result<Vec<Option<String>>> {
        let mut texts = Vec::with_capacity(names.len());
        if self.is_memory {
            names.iter().try_for_each(|name| self.get(name).map(|text| texts.push(text)))?;
            return Ok(texts);
        }
        for some in names.chunks(AT_A_TIME) {
            let paths: Vec<Path> = some.iter().map(|name| self.path(name)).collect::<Result<_>>()?;
            let objects = self.objects.clone();
            self.requests.fetch_add(some.len() as u64 - 1, Relaxed);
            let read = self.done("read", &some[0], async move {
                let one = |path: Path| {
                    let objects = objects.clone();
                    tokio::spawn(async move {
                        match objects.get(&path).await {
                            Ok(found) => found.bytes().await.map(Some).map_err(|error| failure::of(&error)),
                            Err(error) if failure::is_missing(&error) => Ok(None),
                            Err(error) => Err(failure::of(&error)),
                        }
                    })
                };
                let begun: Vec<_> = paths.into_iter().map(one).collect();
                let mut all = Vec::with_capacity(begun.len());
                for one in begun {
                    let ended = one.await.map_err(|error| Failure::last(error.to_string(), ""))?;
                    all.push(ended?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
                }
                Ok(all)
            })?;
            texts.extend(read);
        }
        Ok(texts)
    }

    /// The names that begin with `folder` and a slash, in order; all names if it is empty.
    ///
    /// # Errors
    /// Io if the store refuses or does not answer.
    pub fn list(&self, folder: &str) -> Result<Vec<String>> {
        let (objects, path) = (self.objects.clone(), self.path(folder)?);
        let listed = self.done("list", folder, async move {
            let (mut listed, mut names) = (objects.list(Some(&path)), Vec::new());
            while let Some(found) = poll_fn(|context| listed.as_mut().poll_next(context)).await {
                names.push(found.map_err(|error| failure::of(&error))?.location.to_string());
            }
            Ok(names)
        })?;
        let start = if self.base.is_empty() { String::new() } else { format!("{}/", self.base) };
        let mut names: Vec<String> =
            listed.iter().filter_map(|name| name.strip_prefix(&start)).map(str::to_owned).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Removes a text, if there is one.
    ///
    /// # Errors
    /// As for [`SharedState::create`].
    pub fn remove(&self, name: &str) -> Result<()> {
        let (objects, path) = (self.objects.clone(), self.path(name)?);
        self.done("remove", name, async move {
            match objects.delete(&path).await {
                Err(error) if !failure::is_missing(&error) => Err(failure::of(&error)),
                _ => Ok(()),
            }
        })
    }

    fn path(&self, name: &str) -> Result<Path> {
        let text =
            [self.base.as_str(), name].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
        Path::parse(&text).map_err(|_| {
            let words = "its name has a part that haul does not support";
            failed("use", &self.full_name(name), Failure::last(words, "Name another place for the state."))
        })
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}/{name}", self.address.trim_end_matches('/'))
    }

    fn done<T: Send + 'static>(
        &self,
        doing: &str,
        name: &str,
        work: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
    ) -> Result<T> {
        self.requests.fetch_add(1, Relaxed);
        let done = if self.is_memory {
            at_once(work)
        } else {
            let most = self.answered_within;
            let late = move |_| Err(Failure::last(format!("no answer within {} s", most.as_secs()), ""));
            let within = async move { tokio::time::timeout(most, work).await.unwrap_or_else(late) };
            runtime::wait(within).unwrap_or_else(|error| Err(Failure::last(error.to_string(), "")))
        };
        done.map_err(|failure| failed(doing, &self.full_name(name), failure))
    }
}

/// The result of work that never waits.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
    }
}

fn failed(doing: &str, name: &str, failure: Failure) -> Error {
    let advice = if failure.advice.is_empty() { UNREACHED } else { failure.advice };
    let what = format!("cannot {doing} the shared state {name}");
    Error::new(Kind::Io, what).because(std::io::Error::other(failure.words)).advise(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps_its_promises(state: &SharedState) {
        assert!(state.create("shard/0001/attempt-1", "a").unwrap());
        assert!(!state.create("shard/0001/attempt-1", "b").unwrap(), "the first keeps the name");
        assert!(state.create("shard/0001/attempt-1", "a").unwrap(), "the answer to the first request may be lost");
        assert_eq!(state.get("shard/0001/attempt-1").unwrap().as_deref(), Some("a"));
        state.replace("shard/0001/attempt-1", "c").unwrap();
        state.replace("shard/0002/done", "d").unwrap();
        assert_eq!(state.get("shard/0001/attempt-1").unwrap().as_deref(), Some("c"));
        assert_eq!((state.get("plan.json").unwrap(), state.list("nothing").unwrap().len()), (None, 0));
        assert_eq!(state.list("shard").unwrap(), ["shard/0001/attempt-1", "shard/0002/done"]);
        assert_eq!(state.list("shard/0002").unwrap(), ["shard/0002/done"]);
        assert_eq!(state.list("").unwrap().len(), 2);
        state.remove("shard/0002/done").unwrap();
        state.remove("shard/0002/done").unwrap();
        assert_eq!(state.list("").unwrap(), ["shard/0001/attempt-1"]);
    }

    #[test]
    fn state_is_the_same_in_memory_and_in_a_directory() {
        keeps_its_promises(&SharedState::in_memory());
        let dir = tempfile::tempdir().unwrap();
        let state = SharedState::open(dir.path().to_str().unwrap()).unwrap();
        keeps_its_promises(&state);
        assert_eq!(state.requests(), 17);
        assert!(state.still_has("shard/0001/attempt-1").unwrap());
        dir.close().unwrap();
        assert!(!state.still_has("shard/0001/attempt-1").unwrap());
    }

    #[test]
    fn a_directory_that_does_not_exist_is_an_error_that_names_it() {
        let error = SharedState::open("/nonexistent/state").err().unwrap();
        assert!(error.what.contains("/nonexistent/state"), "{error}");
    }
}
