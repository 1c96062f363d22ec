//! How long a server is waited for, and how often a request is repeated.
use std::env;
use std::time::Duration;

/// Seconds without a byte after which a request is repeated, and the variable that names another number.
const SILENT_S: (&str, u64) = ("HAUL_HTTP_TIMEOUT", 30);

/// How often a request is repeated without a byte in between, and the variable that names another number.
const REPEATED: (&str, u64) = ("HAUL_HTTP_RETRIES", 8);

/// The first pause between two requests for the same bytes; it doubles up to the last.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];

/// A server that asks for a longer pause is not waited for.
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// How long a server is waited for, and how often a request is repeated.
#[derive(Clone, Copy, Debug)]
pub(in crate::disks) struct RetryPolicy {
    /// Without a byte.
    pub(in crate::disks) silent: Duration,
    /// Requests that fail, one after the other, for the same byte.
    pub(in crate::disks) repeated: u32,
}

impl RetryPolicy {
    /// That of the environment.
    pub(in crate::disks) fn usual() -> RetryPolicy {
        let number = |(name, usual): (&str, u64)| {
            env::var(name).ok().and_then(|text| text.parse().ok()).filter(|&number| number > 0).unwrap_or(usual)
        };
        let repeated = u32::try_from(number(REPEATED)).unwrap_or(u32::MAX);
        RetryPolicy { silent: Duration::from_secs(number(SILENT_S)), repeated }
    }

    /// How long to wait before attempt `number`, from 1, is repeated; `None`: it is not. `requested`: the pause that
    /// the server asks for.
    pub(in crate::disks) fn pause(&self, number: u32, requested: Option<Duration>) -> Option<Duration> {
        if number > self.repeated {
            return None;
        }
        if let Some(requested) = requested {
            return (requested <= PAUSE_MAX).then_some(requested);
        }
        let doubled = PAUSES[0].saturating_mul(1 << (number - 1).min(20)).min(PAUSES[1]);
        // Clients that failed together must not come back together.
        Some(doubled.mul_f64(0.5 + fastrand::f64() / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end() {
        let retries = RetryPolicy { silent: Duration::from_secs(1), repeated: 9 };
        let pauses: Vec<Duration> = (1..=9).map(|number| retries.pause(number, None).unwrap()).collect();
        for (number, pause) in pauses.iter().enumerate() {
            let most = (PAUSES[0] * (1 << number)).min(PAUSES[1]);
            assert!(*pause <= most && *pause >= most / 2, "{pauses:?}");
        }
        assert_eq!(retries.pause(10, None), None);
        assert_eq!(retries.pause(1, Some(Duration::from_secs(7))), Some(Duration::from_secs(7)));
        assert_eq!(retries.pause(1, Some(PAUSE_MAX * 2)), None);
    }
}
