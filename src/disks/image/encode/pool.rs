//! Threads that compress frames, and write them in their order.
use super::append::Appender;
use super::format::{Encoder, Format, Frame, threads};
use super::frames::Frames;
use crate::core::{Endpoint, EndpointKind, locked};
use crate::disks::image::detect::HEAD_BYTES;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Content of a frame that is to be compressed.
struct Job {
    number: u32,
    content: Vec<u8>,
}

/// How far the file is.
struct State {
    waiting: VecDeque<Job>,
    /// Compressed, and to be written in their order: the frame, and bytes of its content.
    done: BTreeMap<u32, (Frame, u32)>,
    /// Those that were written.
    frames: Frames,
    /// Frames that were given to the threads, those of earlier runs included.
    submitted: u32,
    /// `None` while a thread writes.
    appender: Option<Appender>,
    /// The file is as it was before: not even shortened.
    is_untouched: bool,
    failed: Option<io::Error>,
    is_cancelled: bool,
    is_ended: bool,
    /// Memory of contents that were compressed.
    spare: Vec<Vec<u8>>,
}

struct Shared {
    format: Box<dyn Format>,
    stored: Arc<dyn Endpoint>,
    state: Mutex<State>,
    on_change: Condvar,
    /// A frame of zeros alone, which is compressed once.
    zeros: Mutex<Option<Frame>>,
    /// Time for which the copy waited until frames were compressed and written, and that of writing, in nanoseconds.
    waited_ns: AtomicU64,
    writing_ns: AtomicU64,
}

/// Compresses frames and writes them to an endpoint.
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    threads_max: usize,
}

impl Pool {
    /// Writes to `stored`, which has `frames` already.
    ///
    /// # Errors
    /// No memory is left.
    pub(super) fn new(format: Box<dyn Format>, stored: Arc<dyn Endpoint>, frames: Frames) -> io::Result<Pool> {
        let threads_max = threads(&*format);
        let appender = Some(Appender::new(stored.clone())?);
        let (submitted, waiting, done) = (frames.len(), VecDeque::new(), BTreeMap::new());
        let (is_untouched, is_cancelled, is_ended, failed, spare) = (true, false, false, None, Vec::new());
        let state = Mutex::new(State {
            waiting,
            done,
            frames,
            submitted,
            appender,
            is_untouched,
            failed,
            is_cancelled,
            is_ended,
            spare,
        });
        let (waited_ns, writing_ns) = Default::default();
        let shared =
            Shared { format, stored, state, on_change: Condvar::new(), zeros: Mutex::default(), waited_ns, writing_ns };
        Ok(Pool { shared: Arc::new(shared), threads: Mutex::default(), threads_max })
    }

    /// Gives the content of the next frame to a thread, and returns memory for the one after it. Waits while more
    /// frames are under way than there are threads.
    ///
    /// # Errors
    /// That of an earlier frame; ECANCELED.
    pub(super) fn submit(&self, content: Vec<u8>) -> io::Result<Vec<u8>> {
        let room = |state: &State| (state.submitted - state.frames.len()) as usize <= self.threads_max;
        let mut state = self.shared.wait_until(room)?;
        let number = state.submitted;
        state.submitted += 1;
        state.waiting.push_back(Job { number, content });
        let spare = state.spare.pop().unwrap_or_default();
        let under_way = (state.submitted - state.frames.len()) as usize;
        drop(state);
        self.shared.on_change.notify_all();
        self.start_thread(under_way)?;
        Ok(spare)
    }

    /// Starts another thread if more frames are under way than there are threads; without any, works here.
    fn start_thread(&self, under_way: usize) -> io::Result<()> {
        let mut threads = locked(&self.threads);
        if threads.len() >= self.threads_max.min(under_way) {
            return Ok(());
        }
        let shared = self.shared.clone();
        match thread::Builder::new().name("haul-compress".to_owned()).spawn(move || shared.work()) {
            Ok(thread) => threads.push(thread),
            Err(_) if !threads.is_empty() => {}
            Err(_) => {
                let mut encoder = self.shared.format.encoder()?;
                loop {
                    let job = self.shared.state().waiting.pop_front();
                    let Some(job) = job else { break };
                    self.shared.encode(&mut *encoder, job);
                }
            }
        }
        Ok(())
    }

    /// Waits until all frames that were submitted before are written; returns how many there are.
    ///
    /// # Errors
    /// As for [`Pool::submit`].
    pub(super) fn write_all(&self) -> io::Result<u32> {
        let submitted = self.shared.state().submitted;
        self.shared.wait_until(|state| state.frames.len() >= submitted).map(|_| submitted)
    }

    /// Writes what comes after the last frame, and ends the file there.
    ///
    /// # Errors
    /// As for [`Pool::submit`].
    pub(super) fn finish(&self) -> io::Result<u64> {
        let is_idle = |state: &State| state.frames.len() >= state.submitted && state.appender.is_some();
        let mut state = self.shared.wait_until(is_idle)?;
        let trailer = self.shared.format.trailer(&state.frames.each().collect::<Vec<_>>());
        let at = state.frames.end();
        let mut appender =
            state.appender.take().ok_or_else(|| io::Error::other("internal error in haul: no writer"))?;
        drop(state);
        let size = at + trailer.len() as u64;
        let written = appender.write(at, &trailer).and_then(|()| self.shared.stored.end_at(size));
        self.shared.state().appender = Some(appender);
        written.map(|()| size)
    }

    /// Whether compressing takes most of the time: one frame is written at a time, and if writing were the limit, the
    /// waiting would be that for writes.
    pub(super) fn is_limit(&self) -> bool {
        self.shared.writing_ns.load(Relaxed) < self.shared.waited_ns.load(Relaxed) / 2
    }

    /// The frames that were written.
    pub(super) fn frames<T>(&self, what: impl FnOnce(&Frames) -> T) -> T {
        what(&self.shared.state().frames)
    }

    /// Ends all work: nothing more is written.
    pub(super) fn cancel(&self) {
        self.shared.state().is_cancelled = true;
        self.shared.on_change.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.state().is_ended = true;
        self.shared.on_change.notify_all();
        for thread in locked(&self.threads).drain(..) {
            // A panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn wait_until(&self, done: impl Fn(&State) -> bool) -> io::Result<MutexGuard<'_, State>> {
        let waiting = |state: &mut State| !done(state) && state.failed.is_none() && !state.is_cancelled;
        let asked_at = Instant::now();
        let mut state = self.on_change.wait_while(self.state(), waiting).unwrap_or_else(PoisonError::into_inner);
        self.waited_ns.fetch_add(asked_at.elapsed().as_nanos() as u64, Relaxed);
        if state.is_cancelled {
            return Err(io::Error::from_raw_os_error(libc::ECANCELED));
        }
        match &state.failed {
            None => Ok(state),
            Some(error) => {
                let again = match error.raw_os_error() {
                    Some(number) => io::Error::from_raw_os_error(number),
                    None => io::Error::new(error.kind(), error.to_string()),
                };
                Err(state.failed.replace(again).unwrap_or_else(|| io::Error::other("a frame failed")))
            }
        }
    }

    fn fail(&self, error: io::Error) {
        self.state().failed.get_or_insert(error);
        self.on_change.notify_all();
    }

    /// What a thread does.
    fn work(&self) {
        let mut encoder = match self.format.encoder() {
            Ok(encoder) => encoder,
            Err(error) => return self.fail(error),
        };
        loop {
            let idle = |state: &mut State| state.waiting.is_empty() && !state.is_ended;
            let mut state = self.on_change.wait_while(self.state(), idle).unwrap_or_else(PoisonError::into_inner);
            match state.waiting.pop_front() {
                Some(job) if !state.is_ended && !state.is_cancelled => {
                    drop(state);
                    self.encode(&mut *encoder, job);
                }
                _ if state.is_ended => return,
                _ => {}
            }
        }
    }

    fn encode(&self, encoder: &mut dyn Encoder, job: Job) {
        let Job { number, content } = job;
        match self.frame(encoder, &content) {
            Ok(frame) => {
                let mut state = self.state();
                state.done.insert(number, (frame, content.len() as u32));
                state.spare.push(content);
                self.write(state);
            }
            Err(error) => self.fail(error),
        }
    }

    /// The frame with this content. One of zeros alone is made once.
    fn frame(&self, encoder: &mut dyn Encoder, content: &[u8]) -> io::Result<Frame> {
        let is_whole = content.len() == self.state().frames.content_bytes() as usize;
        if !is_whole || !is_zero(content) {
            return encoder.encode(content);
        }
        let mut zeros = locked(&self.zeros);
        if zeros.is_none() {
            *zeros = Some(encoder.encode(content)?);
        }
        Ok(zeros.clone().unwrap_or_default())
    }

    /// Writes the frames that are next, unless another thread does.
    fn write<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        let Some(mut appender) = state.appender.take() else { return };
        loop {
            let next = state.frames.len();
            let Some((frame, content_bytes)) = state.done.remove(&next).filter(|_| !state.is_cancelled) else {
                break;
            };
            let (at, is_untouched) = (state.frames.end(), mem::take(&mut state.is_untouched));
            drop(state);
            let began_at = Instant::now();
            let written = self.write_frame(&mut appender, at, &frame.bytes, is_untouched);
            self.writing_ns.fetch_add(began_at.elapsed().as_nanos() as u64, Relaxed);
            state = self.state();
            match written {
                Ok(()) => state.frames.add(&*self.format, frame.listed_bytes, content_bytes),
                Err(error) => {
                    state.failed.get_or_insert(error);
                    break;
                }
            }
            self.on_change.notify_all();
        }
        state.appender = Some(appender);
        drop(state);
        self.on_change.notify_all();
    }

    /// Writes a frame at `at`: first its header, by which the format of the file is recognized, then what shows that
    /// the file is incomplete, then the rest. A kill at any moment must not leave a file that ends with a whole frame.
    fn write_frame(&self, appender: &mut Appender, at: u64, frame: &[u8], is_untouched: bool) -> io::Result<()> {
        if is_untouched {
            self.begin(appender, at)?;
        }
        if self.stored.facts().kind != EndpointKind::File {
            return appender.write(at, frame);
        }
        let (head, rest) = frame.split_at(HEAD_BYTES.min(frame.len().saturating_sub(1)));
        appender.write(at, head)?;
        appender.write(at + frame.len() as u64, self.format.unfinished())?;
        appender.write(at + head.len() as u64, rest)
    }

    /// Removes what an earlier file has from `at` on, where the first frame of this run will be.
    fn begin(&self, appender: &mut Appender, at: u64) -> io::Result<()> {
        self.stored.end_at(at.min(self.stored.facts().size.unwrap_or(0)))?;
        let header = self.format.header();
        if at == header.len() as u64 { appender.write(0, header) } else { Ok(()) }
    }
}

fn is_zero(content: &[u8]) -> bool {
    static ZEROS: [u8; 4096] = [0; 4096];
    content.chunks(ZEROS.len()).all(|piece| piece == &ZEROS[..piece.len()])
}
