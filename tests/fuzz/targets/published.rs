//! `cargo fuzz` target; the body is in [`fuzz_targets`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::published(data));
