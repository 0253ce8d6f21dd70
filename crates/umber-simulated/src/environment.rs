//! Environment: devices that a variable asks for, so that programs and tests run on them without knowing.

use std::time::Duration;

use umber_types::{Result, error};

use crate::{Config, open};

const VARIABLE: &str = "UMBER_SIMULATED_GPU";
const OPTIONS: &str =
    "devices (1 to 16), seed, delay_us, memory_mb (from 1), decompose (0 or 1) and unsupported (0 or 1)";

/// Register the devices that `UMBER_SIMULATED_GPU` asks for: none if it is unset, empty or `0`, one if it is `1`, otherwise as
/// its options say: `devices=2,seed=7,delay_us=500,memory_mb=64,decompose=1,unsupported=1`.
///
/// # Errors
/// An option has a value that it cannot have, or there are accelerators already.
pub fn register_from_environment() -> Result<()> {
    let value = std::env::var(VARIABLE).unwrap_or_default();
    let (devices, config) = parse(&value)?;
    for index in 0..devices {
        let seed = config.seed.wrapping_add(u64::from(index));
        open(index, Config { seed, ..config }).register()?;
    }
    Ok(())
}

/// How many devices, and their options.
fn parse(value: &str) -> Result<(u32, Config)> {
    let mut config = Config::default();
    let mut devices = 1;
    match value.trim() {
        "" | "0" => return Ok((0, config)),
        "1" => return Ok((1, config)),
        _ => {}
    }
    for option in value.split(',') {
        let fault =
            || error!(Value(VARIABLE), "invalid option {option:?}, expected 0, 1 or options of {OPTIONS}");
        let (key, text) = option.split_once('=').ok_or_else(fault)?;
        let number: u64 = text.trim().parse().map_err(|_| fault())?;
        let flag = || if number <= 1 { Ok(number == 1) } else { Err(fault()) };
        match key.trim() {
            "devices" if (1..=16).contains(&number) => devices = number as u32,
            "seed" => config.seed = number,
            "delay_us" => config.delay = Duration::from_micros(number),
            "memory_mb" => {
                let bytes = usize::try_from(number).ok().and_then(|number| number.checked_mul(1 << 20));
                config.memory = bytes.filter(|&bytes| bytes > 0).ok_or_else(fault)?;
            }
            "decompose" => config.decompose = flag()?,
            "unsupported" => config.unsupported = flag()?,
            _ => return Err(fault()),
        }
    }
    Ok((devices, config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() -> Result<()> {
        assert_eq!(parse("")?.0, 0);
        assert_eq!(parse("0")?.0, 0);
        assert_eq!(parse("1")?, (1, Config::default()));
        let (devices, config) =
            parse("devices=2, seed=7,delay_us=500,memory_mb=64,decompose=1,unsupported=1")?;
        let expected = Config {
            seed: 7,
            delay: Duration::from_micros(500),
            memory: 64 << 20,
            decompose: true,
            unsupported: true,
            ..Config::default()
        };
        assert_eq!((devices, config), (2, expected));
        Ok(())
    }

    #[test]
    fn other_options_are_errors() {
        for value in [
            "2",
            "yes",
            "devices=0",
            "devices=17",
            "memory_mb=0",
            "decompose=2",
            "seed=-1",
            "colour=1",
            "seed",
        ] {
            let error = parse(value).expect_err("not an option");
            assert!(error.to_string().starts_with("[UMBER_SIMULATED_GPU] invalid option "), "{error}");
            assert!(error.to_string().contains(value) && error.to_string().contains("delay_us"), "{error}");
        }
    }
}
