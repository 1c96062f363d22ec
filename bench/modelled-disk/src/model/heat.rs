//! Temperature: writing warms a disk, time cools it, and a disk that is too warm throttles until it has cooled down.
use crate::parameters::Parameters;

/// The temperature of a disk. It is one mass: every byte warms it equally, and it loses heat in proportion to its
/// temperature above rest. It therefore approaches the equilibrium of both asymptotically.
pub struct Heat {
    bytes_per_c: f64,
    leak_ns: f64,
    rest_c: f64,
    limit_c: f64,
    back_c: f64,
    slow_bytes_per_ns: f64,
    /// The temperature at `last_ns`.
    now_c: f64,
    warmest_c: f64,
    /// It became too warm and has not cooled down since.
    throttled: bool,
    last_ns: u64,
}

/// The time of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warmed {
    /// In total.
    pub ns: u64,
    /// The throttled part of it.
    pub throttled_ns: u64,
    /// Number of times it began to throttle.
    pub throttles: u64,
}

impl Heat {
    /// A disk at rest.
    pub fn new(disk: &Parameters) -> Heat {
        Heat {
            bytes_per_c: disk.heat_bytes_per_c as f64,
            leak_ns: disk.heat_leak_ns as f64,
            rest_c: disk.heat_rest_c as f64,
            limit_c: disk.heat_limit_c as f64,
            back_c: disk.heat_back_c as f64,
            slow_bytes_per_ns: disk.heat_bytes_per_s as f64 / 1e9,
            now_c: disk.heat_rest_c as f64,
            warmest_c: disk.heat_rest_c as f64,
            throttled: false,
            last_ns: 0,
        }
    }

    /// Writes `len` bytes at `now_ns`, which take `cool_ns` without throttling.
    pub fn write(&mut self, len: u64, cool_ns: u64, now_ns: u64) -> Warmed {
        if self.bytes_per_c == 0.0 || len == 0 {
            return Warmed { ns: cool_ns, ..Warmed::default() };
        }
        self.rest_until(now_ns);
        let cool_bytes_per_ns = len as f64 / cool_ns.max(1) as f64;
        let (mut left, mut ns, mut throttled_ns, mut throttles) = (len as f64, 0.0, 0.0, 0);
        loop {
            let (rate, edge_c) = match self.throttled {
                true => (cool_bytes_per_ns.min(self.slow_bytes_per_ns), self.back_c),
                false => (cool_bytes_per_ns, self.limit_c),
            };
            let at_last_c = self.rest_c + rate * self.leak_ns / self.bytes_per_c;
            let (all_ns, edge_ns) = (left / rate, self.ns_until(edge_c, at_last_c));
            let passed_ns = all_ns.min(edge_ns);
            ns += passed_ns;
            throttled_ns += if self.throttled { passed_ns } else { 0.0 };
            if all_ns <= edge_ns {
                self.now_c = at_last_c + (self.now_c - at_last_c) * (-passed_ns / self.leak_ns).exp();
                self.warmest_c = self.warmest_c.max(self.now_c);
                break;
            }
            left -= passed_ns * rate;
            self.now_c = edge_c;
            self.warmest_c = self.warmest_c.max(edge_c);
            self.throttled = !self.throttled;
            throttles += u64::from(self.throttled);
        }
        let (ns, throttled_ns) = (ns.round() as u64, throttled_ns.round() as u64);
        self.last_ns = now_ns + ns;
        Warmed { ns, throttled_ns, throttles }
    }

    /// The temperature at `now_ns`, in °C, without further writes.
    pub fn celsius(&self, now_ns: u64) -> f64 {
        if self.bytes_per_c == 0.0 {
            return self.rest_c;
        }
        let passed_ns = now_ns.saturating_sub(self.last_ns) as f64;
        self.rest_c + (self.now_c - self.rest_c) * (-passed_ns / self.leak_ns).exp()
    }

    /// The highest temperature so far, in °C.
    pub fn warmest_c(&self) -> f64 {
        self.warmest_c
    }

    /// Cools until `now_ns`.
    fn rest_until(&mut self, now_ns: u64) {
        self.now_c = self.celsius(now_ns);
        self.throttled &= self.now_c > self.back_c;
        self.last_ns = self.last_ns.max(now_ns);
    }

    /// Time until it reaches `edge_c` while approaching `at_last_c`; infinite if it does not.
    fn ns_until(&self, edge_c: f64, at_last_c: f64) -> f64 {
        let share = (at_last_c - self.now_c) / (at_last_c - edge_c);
        if share >= 1.0 { self.leak_ns * share.ln() } else { f64::INFINITY }
    }
}
