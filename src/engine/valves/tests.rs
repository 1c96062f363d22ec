use super::{Bursts, Governor, Limits, Start};

fn start() -> Start {
    Start {
        limits: Limits { block_bytes: 1 << 20, in_flight: [2, 2], bursts: false },
        len: Some(1 << 30),
        pool_bytes: 32 << 20,
        block_bytes_min: 128 << 10,
        block_bytes_max: 4 << 20,
        in_flight_max: 128,
        adaptive: true,
        tuned: false,
        rotational: [false; 2],
        bursts: Bursts::Never,
    }
}

#[test]
fn it_begins_with_the_limits_that_it_is_given() {
    assert_eq!(Governor::new(start()).limits(), start().limits);
}
