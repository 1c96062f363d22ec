//! A disk in simulated time. Parts of requests, as the block layer splits them, come in, and their completion times
//! come out. Times are in seconds; `docs/developer/measuring.md` lists what is modelled and what is not.
use super::random::{self, Random};
use super::spec::{READ, Spec, WRITE};

#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) req: u32,
    pub(super) dir: usize,
    pub(super) at: u64,
    pub(super) len: u64,
}

/// An event that the disk schedules.
pub(super) enum Then {
    Arrive(Part),
    Served(Part),
}

pub(super) struct Disk {
    pub(super) spec: Spec,
    seed: u64,
    random: Random,
    len: f64,
    /// Waiting in the host for a tag.
    host: std::collections::VecDeque<Part>,
    at_disk: usize,
    // channels
    channel_free: Vec<f64>,
    link_free: f64,
    // head
    waiting: Vec<Part>,
    busy: bool,
    head_at: u64,
    /// Data read ahead: from `low` up to `high`.
    high: [f64; 2],
    low: f64,
    free_at: f64,
    level: (f64, f64),
    // wear
    written: f64,
    tokens: (f64, f64),
}

impl Disk {
    /// `len`: bytes of the copied part; offsets count from its start.
    pub(super) fn new(spec: &Spec, seed: u64, len: u64) -> Self {
        Disk {
            seed,
            random: Random::new(seed ^ 0xABCD),
            len: len as f64,
            host: Default::default(),
            at_disk: 0,
            channel_free: vec![0.0; spec.channels],
            link_free: 0.0,
            waiting: Vec::new(),
            busy: false,
            head_at: 0,
            high: [0.0; 2],
            low: 0.0,
            free_at: 0.0,
            level: (0.0, 0.0),
            written: 0.0,
            tokens: (spec.bucket.1, 0.0),
            spec: spec.clone(),
        }
    }

    /// Share of the nominal rate, at this time and position.
    fn factor(&self, dir: usize, now: f64, at: u64) -> f64 {
        let s = &self.spec;
        let place = s.zone.0 + (s.zone.1 - s.zone.0) * ((at as f64 / self.len) % 1.0);
        let mut f = 1.0 + (s.inner - 1.0) * place * place;
        if s.noise.0 > 0.0 {
            let n = random::gauss(self.seed, (now / s.noise.1) as u64);
            f *= (s.noise.0 * n.clamp(-3.0, 3.0) - s.noise.0 * s.noise.0 / 2.0).exp();
        }
        if s.neighbour.0 > 0.0 && random::unit(self.seed ^ 5, (now / s.neighbour.1) as u64) < s.neighbour.0 {
            f *= s.neighbour.2;
        }
        if dir == WRITE && self.written > s.cliff.0 {
            f *= s.cliff.1;
        }
        f
    }

    fn extra(&mut self, dir: usize, n: f64) -> f64 {
        let mut extra = 0.0;
        if dir == WRITE {
            let (every, mean) = self.spec.stall;
            let was = self.written;
            self.written += n;
            if every > 0.0 && (was / every).floor() < (self.written / every).floor() {
                extra += -mean * (1.0 - random::unit(self.seed ^ 9, (self.written / every) as u64)).ln();
            }
        }
        let waiting = if self.spec.head.is_some() { self.waiting.len() } else { self.at_disk };
        if waiting > self.spec.choke.0 {
            extra += self.spec.choke.1;
        }
        extra
    }

    /// Submits a request; `out` receives (time, event).
    pub(super) fn submit(
        &mut self,
        now: f64,
        req: u32,
        dir: usize,
        at: u64,
        len: u64,
        out: &mut Vec<(f64, Then)>,
    ) -> u32 {
        let mut parts = 0;
        let mut done = 0;
        while done < len {
            let n = (len - done).min(self.spec.part_bytes_max);
            self.host.push_back(Part { req, dir, at: at + done, len: n });
            done += n;
            parts += 1;
        }
        self.dispatch(now, out);
        parts
    }

    fn dispatch(&mut self, now: f64, out: &mut Vec<(f64, Then)>) {
        while self.at_disk < self.spec.tags {
            let Some(part) = self.host.pop_front() else { return };
            self.at_disk += 1;
            let when = now + self.spec.path_s + self.random.exponential(self.spec.jitter_s);
            out.push((when, Then::Arrive(part)));
        }
    }

    pub(super) fn arrive(&mut self, now: f64, part: Part, out: &mut Vec<(f64, Then)>) {
        if self.spec.head.is_some() {
            self.waiting.push(part);
            if !self.busy {
                self.choose(now, out);
            }
            return;
        }
        let (dir, n) = (part.dir, part.len as f64);
        let index = (0..self.channel_free.len())
            .min_by(|&a, &b| self.channel_free[a].total_cmp(&self.channel_free[b]))
            .unwrap();
        let start = now.max(self.channel_free[index]);
        let f = self.factor(dir, start, part.at);
        let s = &self.spec;
        let end = start + s.command_s[dir] + n / (s.channel_rate[dir] * f);
        let (link, link_command_s, bucket) = (n / (s.rate[dir] * f), s.link_command_s[dir], s.bucket);
        let extra = self.extra(dir, n);
        self.link_free = self.link_free.max(end - link) + link + link_command_s + extra;
        if bucket.0 > 0.0 {
            // Tokens are added at a rate, and kept up to the burst.
            self.tokens.0 = (self.tokens.0 + (self.link_free - self.tokens.1).max(0.0) * bucket.0).min(bucket.1) - n;
            self.tokens.1 = self.tokens.1.max(self.link_free);
            if self.tokens.0 < 0.0 {
                self.link_free += -self.tokens.0 / bucket.0;
            }
        }
        let end = end.max(self.link_free);
        self.channel_free[index] = end;
        out.push((end, Then::Served(part)));
    }

    fn choose(&mut self, now: f64, out: &mut Vec<(f64, Then)>) {
        let ahead = self.waiting.iter().enumerate().filter(|(_, p)| p.at >= self.head_at).min_by_key(|(_, p)| p.at);
        let any = ahead.or_else(|| self.waiting.iter().enumerate().min_by_key(|(_, p)| p.at)).map(|(i, _)| i);
        let Some(mut index) = any else { return };
        let waiting = self.waiting.len();
        if waiting > 1 && self.random.unit() < self.spec.head.unwrap().sloppy {
            index = (self.random.unit() * waiting as f64) as usize;
        }
        let part = self.waiting.swap_remove(index);
        self.busy = true;
        let head = self.spec.head.unwrap();
        let (dir, n) = (part.dir, part.len as f64);
        let start = now.max(self.free_at);
        let rate = self.spec.rate[dir] * self.factor(dir, start, part.at);
        let host = 450e6;
        let gap = start - self.free_at;
        let mut service = self.spec.link_command_s[dir];
        let continues_here = part.at == self.head_at;
        if dir == READ && head.ahead_bytes > 0.0 {
            let end = part.at as f64 + n;
            let high = self.high[READ];
            if (part.at as f64) < self.low.max(high - head.ahead_bytes - 8e6)
                || part.at as f64 > high + head.ahead_bytes
            {
                service += head.seek_s + head.turn_s / 2.0 + n / rate;
                (self.low, self.high[READ]) = (part.at as f64, end);
            } else {
                // Data that the medium read ahead without a command.
                let reached = high.max((high + gap * rate).min(self.head_at as f64 + head.ahead_bytes));
                service += (n / host).max((end - reached) / rate);
                self.high[READ] = reached.max(end);
            }
        } else if dir == WRITE && head.cache_bytes > 0.0 {
            self.level.0 = (self.level.0 - (start - self.level.1).max(0.0) * rate).max(0.0);
            let over = (self.level.0 + n - head.cache_bytes).max(0.0);
            service += (n / host).max(over / rate);
            self.level = (self.level.0 + n - (service * rate).min(self.level.0 + n), start + service);
        } else {
            service += n / rate;
            if !continues_here {
                service += head.seek_s + head.turn_s / 2.0;
            } else if head.turn_s > 0.0 && gap > head.grace_s {
                service += head.turn_s - gap % head.turn_s;
            }
        }
        service += self.extra(dir, n);
        self.free_at = start + service;
        out.push((self.free_at, Then::Served(part)));
    }

    /// The part has been served; its command completes `spec.back` later.
    pub(super) fn served(&mut self, now: f64, part: Part, out: &mut Vec<(f64, Then)>) {
        self.at_disk -= 1;
        if self.spec.head.is_some() {
            self.head_at = part.at + part.len;
            self.busy = false;
            self.choose(now, out);
        }
        self.dispatch(now, out);
    }
}
