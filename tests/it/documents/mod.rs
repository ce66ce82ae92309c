//! `docs/contracts.md`, the three contract versions side by side, and `docs/walkthrough.md`, a shopper's way through
//! each interface, written from real calls.
//!
//! `UPDATE_DOCS=1 cargo test -p platform-tests --test it documents` writes both anew.

mod calls;
mod errors;
mod fixture;
mod page;
mod pretty;
mod walk;
mod words;

use std::path::Path;

use testkit::Platform;

#[tokio::test]
async fn the_page_about_the_contracts_is_what_the_platform_answers() {
    let platform = Platform::start().await;
    platform.provision(&fixture::dealers()).await;
    let page = page::page(&platform).await;
    platform.stop().await;

    is_written("contracts.md", &page);
}

/// The file below `docs` is this page; it is written anew where the environment says so.
#[track_caller]
fn is_written(name: &str, page: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = written.lines().zip(page.lines()).find(|(written, answered)| written != answered);
    assert!(
        written == page,
        "docs/{name} is not what the platform answers; UPDATE_DOCS=1 writes it. First difference: {differs:#?}"
    );
}
