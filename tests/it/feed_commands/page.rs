//! What `docs/FEEDS.md` tells its readers to type is typed here, in its order.

use std::process::Command;

use testkit::{binary, cluster, scratch};

use super::dealer;

/// The blocks that a shell runs, one script each.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some(begin) = rest.find("\n```sh\n") {
        let block = &rest[begin + 7..];
        let end = block.find("\n```").expect("the end of a block");
        blocks.push(block[..end].to_owned());
        rest = &block[end..];
    }
    blocks
}

#[tokio::test]
async fn every_command_of_the_page_does_what_it_says() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/FEEDS.md")).expect("the page");
    let blocks = blocks(&page);
    assert!(blocks.len() >= 10, "the page has {} blocks", blocks.len());
    let platform = dealer("harbor").await;
    let (url, origin) = (cluster().url(&platform.database), platform.origin.clone());
    let folder = scratch("feeds-page");
    // One shell, for what one block finds out the next one uses; each block ends with the status of its last command.
    let mut script = String::from("fail() { echo \"failed: $1\" >&2; exit 1; }\n");
    for (no, block) in blocks.iter().enumerate() {
        let block =
            block.replace("http://127.0.0.1:8080", &origin).replace("curl -s ", "curl -sS --fail-with-body ");
        script.push_str(&format!("{block}\n[ $? -eq 0 ] || fail 'block {no}'\n"));
    }
    let work = move || {
        let program = binary();
        let mut path = std::ffi::OsString::from(program.parent().expect("a folder"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Command::new("bash")
            .args(["-c", &script])
            .current_dir(&folder)
            .env("PATH", path)
            .env("DATABASE_URL", url)
            .env("FORECOURT_DATA_DIR", &folder)
            .output()
            .expect("bash runs")
    };
    let done = tokio::task::spawn_blocking(work).await.expect("it ran");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    assert!(out.contains("\"repeated\":true") || out.contains("run_id"), "{out}");
    platform.stop().await;
}
