//! The async runtime: one thread, started by the first use.
use std::future::{Future, pending};
use std::io;
use std::sync::{Mutex, mpsc};
use std::thread;
use tokio::runtime::{Builder, Handle};

static STARTED: Mutex<Option<Handle>> = Mutex::new(None);

/// Where connections run.
///
/// # Errors
/// No thread or no descriptor is left.
pub(in crate::disks) fn handle() -> io::Result<Handle> {
    let mut started = crate::core::locked(&STARTED);
    if let Some(handle) = &*started {
        return Ok(handle.clone());
    }
    let runtime = Builder::new_current_thread().enable_io().enable_time().max_blocking_threads(4).build()?;
    let handle = runtime.handle().clone();
    // It lasts as long as the process: kept connections outlive the side that made them.
    let work = move || runtime.block_on(pending::<()>());
    thread::Builder::new().name("haul-http".to_owned()).spawn(work)?;
    Ok(started.insert(handle).clone())
}

/// Has the runtime do `work`, and waits for it.
///
/// # Errors
/// As for [`handle`].
pub(in crate::disks) fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    handle()?.spawn(async move { sender.send(work.await) });
    receiver.recv().map_err(|_| io::Error::other("the thread of HTTP connections ended"))
}
