//! Threads that decode pieces of a file beside each other.
use crate::core::locked;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// One piece to decode, and where the result goes.
struct Job<T> {
    work: Box<dyn FnOnce() -> T + Send>,
    to: SyncSender<T>,
}

type Jobs<T> = Receiver<Job<T>>;

/// Threads whose work has the result `T`. They are started when they are needed, and end with this.
pub(super) struct Threads<T> {
    most: usize,
    count: usize,
    to_threads: Sender<Job<T>>,
    jobs: Arc<Mutex<Jobs<T>>>,
}

impl<T: Send + 'static> Threads<T> {
    /// As many pieces at a time as there are processors, one more that waits, and `most` at most.
    pub(super) fn new(most: usize) -> Threads<T> {
        let most = thread::available_parallelism().map_or(2, |count| count.get() + 1).min(most);
        let (to_threads, jobs) = channel();
        Threads { most, count: 0, to_threads, jobs: Arc::new(Mutex::new(jobs)) }
    }

    /// Pieces at a time.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Gives work to a thread, beside that of `under_way` other pieces; without any thread, does it now.
    pub(super) fn start(&mut self, under_way: usize, work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
        let (to, result) = sync_channel(1);
        let job = Job { work: Box::new(work), to };
        if self.count <= under_way {
            let jobs = self.jobs.clone();
            let started = thread::Builder::new().name("haul-decode".to_owned()).spawn(move || run_all(&jobs));
            self.count += usize::from(started.is_ok());
        }
        if self.count == 0 {
            job.run();
        } else if let Err(unsent) = self.to_threads.send(job) {
            unsent.0.run();
        }
        result
    }
}

impl<T> Job<T> {
    fn run(self) {
        // The reader may have ended.
        let _ = self.to.send((self.work)());
    }
}

/// What a thread does until no more work comes.
fn run_all<T>(jobs: &Mutex<Jobs<T>>) {
    loop {
        let job = locked(jobs).recv();
        match job {
            Ok(job) => job.run(),
            Err(_) => return,
        }
    }
}
