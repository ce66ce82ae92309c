//! `docs/contracts.md`: the three contract versions side by side, written from real calls.
//!
//! `UPDATE_DOCS=1 cargo test -p platform-tests --test it page` writes the page anew.

mod calls;
mod errors;
mod fixture;
mod page;
mod pretty;
mod words;

use std::path::Path;

use testkit::Platform;

#[tokio::test]
async fn the_page_about_the_contracts_is_what_the_platform_answers() {
    let platform = Platform::start().await;
    platform.provision(&fixture::dealers()).await;
    let page = page::page(&platform).await;
    platform.stop().await;

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/contracts.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = written.lines().zip(page.lines()).find(|(written, answered)| written != answered);
    assert!(
        written == page,
        "docs/contracts.md is not what the platform answers; UPDATE_DOCS=1 writes it. First difference: {differs:#?}"
    );
}
