//! Scratch.
use haul_bench::zoo::*;
fn main() {
    let arg: Vec<String> = std::env::args().collect();
    let (from, to): (u64, u64) = (arg[1].parse().unwrap(), arg[2].parse().unwrap());
    let mib: u64 = arg[3].parse().unwrap();
    let v = |n: &str| std::env::var(n).ok();
    let draw =
        Draw { wider: v("WIDER").map_or(1.0, |x| x.parse().unwrap()), sloppy: v("SLOPPY").map(|x| x.parse().unwrap()) };
    let only = v("ONLY").unwrap_or_default();
    let fams: Vec<&str> = only.split(',').filter(|x| !x.is_empty()).collect();
    let all = regrets(&fams, from..to, mib << 20, &draw, &|| false);
    for f in FAMILIES {
        if let Some(s) = summary(all.iter().filter(|r| r.family == *f)) {
            println!("{f:16} {:.3} {:.3}", s.mean, s.worst);
        }
    }
    let mut w: Vec<_> = all.iter().collect();
    w.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    for r in w.iter().take(v("WORST").map_or(6, |x| x.parse().unwrap())) {
        println!(
            "{} {} {:.3} of {:.2}s best {}K {:?} {} found {}K {:?} {}: {} lost {:.3}",
            r.family,
            r.seed,
            r.ratio,
            r.best_s,
            r.best.block_bytes >> 10,
            r.best.in_flight,
            r.best.bursts,
            r.found.block_bytes >> 10,
            r.found.in_flight,
            r.found.bursts,
            r.because,
            r.lost_s
        );
        if v("LOG").is_some() {
            for t in &r.trials {
                println!(
                    "   {:.3} {:?} {:?} {}K{:?}->{}K{:?} {:+}% x{}",
                    t.at.as_secs_f64(),
                    t.verdict,
                    t.side,
                    t.from.block_bytes >> 10,
                    t.from.in_flight,
                    t.to.block_bytes >> 10,
                    t.to.in_flight,
                    t.gain_percent,
                    t.pairs
                );
            }
        }
    }
    if let Some(s) = summary(all.iter().take_while(|r| !r.family.starts_with("one-lies"))) {
        println!("33 families: {:.4} {:.3}", s.mean, s.worst);
    }
    if let Some(s) = summary(&all) {
        println!("all: {:.4} {:.3}", s.mean, s.worst);
    }
}
