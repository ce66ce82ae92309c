//! `forecourt provision FILE`, as an operator runs it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use testkit::{Platform, Process, cluster, dealer_document, scratch};

fn command(platform: &Platform, file: &str) -> Command {
    let mut command = Process::command(&["provision", file, "--log", "warn"]);
    command.env("DATABASE_URL", cluster().url(&platform.database));
    command
}

fn said(output: &Output) -> (Option<i32>, Vec<String>, String) {
    let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    (output.status.code(), lines, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_says_what_became_of_every_dealer_and_ends_accordingly() {
    let platform = Platform::start().await;
    let folder = scratch("provision");
    let write = |name: &str, text: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let good =
        json!({"tenants": {"a": dealer_document("A", json!([])), "b": dealer_document("B", json!([]))}});
    let file = write("good.json", good.to_string().as_bytes());
    let run = |file: &str| {
        let mut command = command(&platform, file);
        tokio::task::block_in_place(|| said(&Process::output(&mut command)))
    };

    let (code, mut lines, errors) = run(&file);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    lines[..2].sort();
    assert_eq!(lines, ["a: created", "b: created", "2 dealers: 2 created, 0 updated, 0 unchanged, 0 failed"]);
    // A platform that runs serves them, with its own address on their cards.
    platform.catch_up().await;
    assert_eq!(platform.card("a").await["documentationUrl"], platform.base("a"));

    let (code, mut lines, errors) = run(&file);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    lines[..2].sort();
    assert_eq!(
        lines,
        ["a: unchanged", "b: unchanged", "2 dealers: 0 created, 0 updated, 2 unchanged, 0 failed"]
    );

    let mixed =
        json!({"tenants": {"a": {"name": "A II"}, "c": {"name": 5, "state": "open", "rooftops": []}}});
    let (code, mut lines, errors) = run(&write("mixed.json", mixed.to_string().as_bytes()));
    assert_eq!(code, Some(1));
    assert!(errors.starts_with("forecourt: 1 dealer was left as before\n"), "{errors}");
    assert_eq!(lines.pop().as_deref(), Some("2 dealers: 0 created, 1 updated, 0 unchanged, 1 failed"));
    lines.retain(|line| line != "a: updated");
    assert_eq!(lines[0], "c: failed, 3 problems");
    for pointer in ["  /tenants/c/name: ", "  /tenants/c/state: ", "  /tenants/c/rooftops: "] {
        assert!(lines.iter().any(|line| line.starts_with(pointer)), "{pointer} in {lines:?}");
    }
    assert_eq!(lines.len(), 4);

    // From standard input, with the mark that some editors put in front.
    let mut from_input = command(&platform, "-");
    let mut child = from_input
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let text = format!("\u{feff}{}", json!({"tenants": {"b": {"name": "B II"}}}));
    child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("it reads");
    let (code, lines, errors) =
        said(&tokio::task::block_in_place(|| child.wait_with_output().expect("it ends")));
    assert_eq!((code, lines[0].as_str(), errors.as_str()), (Some(0), "b: updated", ""));

    // Files that cannot be used change nothing and say where.
    let twice = "{\"tenants\": {\"a\": {}, \"a\": {}}}";
    for (name, text, hint) in [
        ("no.json", &b"{\"tenants\":\n {\"a\": {\"name\": }}}"[..], "line 2"),
        ("form.json", b"[1]", "{\"tenants\": {\"slug\""),
        ("twice.json", twice.as_bytes(), "stands twice"),
        ("latin.json", b"{\"tenants\": {\"a\": {\"name\": \"Citro\xebn\"}}}", "not UTF-8, from byte"),
        ("empty.json", b"", "empty.json"),
    ] {
        let (code, lines, errors) = run(&write(name, text));
        assert_eq!((code, lines.len()), (Some(2), 0), "{name}: {errors}");
        assert!(errors.contains(hint), "{name}: {errors}");
    }
    let (code, _, errors) = run(&folder.join("missing.json").display().to_string());
    assert_eq!(code, Some(2));
    assert!(errors.contains("missing.json cannot be read"), "{errors}");
    platform.catch_up().await;
    assert_eq!(platform.card("a").await["name"], json!("A II") as Value);
    let _ = std::fs::remove_dir_all(folder);
    platform.stop().await;
}
