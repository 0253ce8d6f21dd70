//! Devices that an environment variable requests, so that programs and tests run on them unchanged.

use std::time::Duration;

use umber_types::{Result, error};

use crate::{Config, open};

const VARIABLE: &str = "UMBER_SIMULATED_GPU";
const OPTIONS: &str =
    "devices (1 to 16), seed, delay_us, memory_mb (from 1), decompose (0 or 1) and unsupported (0 or 1)";

/// Register the devices that `UMBER_SIMULATED_GPU` requests: none if it is unset, empty or `0`, one if it is `1`, otherwise
/// according to its options: `devices=2,seed=7,delay_us=500,memory_mb=64,decompose=1,unsupported=1`.
///
/// # Errors
/// An option is unknown or has an invalid value, or an accelerator is registered already.
pub fn register_from_environment() -> Result<()> {
    let value = std::env::var(VARIABLE).unwrap_or_default();
    let (devices, config) = parse(&value)?;
    for index in 0..devices {
        let seed = config.seed.wrapping_add(u64::from(index));
        open(index, Config { seed, ..config }).register()?;
    }
    Ok(())
}

/// The number of devices, and their options.
fn parse(value: &str) -> Result<(u32, Config)> {
    let mut config = Config::default();
    let mut devices = 1;
    match value.trim() {
        "" | "0" => return Ok((0, config)),
        "1" => return Ok((1, config)),
        _ => {}
    }
    for option in value.split(',') {
        let invalid =
            || error!(Value(VARIABLE), "invalid option {option:?}, expected 0, 1 or options of {OPTIONS}");
        let (key, text) = option.split_once('=').ok_or_else(invalid)?;
        let number: u64 = text.trim().parse().map_err(|_| invalid())?;
        let flag = || if number <= 1 { Ok(number == 1) } else { Err(invalid()) };
        match key.trim() {
            "devices" if (1..=16).contains(&number) => devices = number as u32,
            "seed" => config.seed = number,
            "delay_us" => config.delay = Duration::from_micros(number),
            "memory_mb" => {
                let bytes = usize::try_from(number).ok().and_then(|number| number.checked_mul(1 << 20));
                config.memory = bytes.filter(|&bytes| bytes > 0).ok_or_else(invalid)?;
            }
            "decompose" => config.decompose = flag()?,
            "unsupported" => config.unsupported = flag()?,
            _ => return Err(invalid()),
        }
    }
    Ok((devices, config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_options_parse() -> Result<()> {
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
    fn invalid_options_are_errors() {
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
            let error = parse(value).expect_err("an invalid option");
            assert!(error.to_string().starts_with("[UMBER_SIMULATED_GPU] invalid option "), "{error}");
            assert!(error.to_string().contains(value) && error.to_string().contains("delay_us"), "{error}");
        }
    }
}
