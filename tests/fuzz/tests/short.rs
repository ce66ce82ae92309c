//! The bodies of all fuzz targets on the same few thousand inputs each time. `make fuzz` goes on from there.

use fuzz_targets::TARGETS;

fn run(name: &str) {
    TARGETS.iter().filter(|target| target.name == name).for_each(fuzz_targets::Target::run_short);
}

#[test]
fn the_front_has_one_answer_for_any_body() {
    run("front");
}

#[test]
fn only_cursors_that_we_wrote_are_read() {
    run("cursor");
}

#[test]
fn what_a_schema_accepts_the_types_read() {
    run("requests");
}

#[test]
fn what_we_answer_the_schema_accepts() {
    run("answers");
}

#[test]
fn whatever_a_feed_brings_what_is_published_of_it_fits_every_contract() {
    run("published");
}

#[test]
fn any_bytes_are_a_feed_or_are_refused() {
    run("feeds");
}
