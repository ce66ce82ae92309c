//! Files that a sender drops into a folder.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use sha2::{Digest, Sha256};
use store::SourceKind;

use super::{PATIENCE, Scene, lot, states, stock_numbers};

/// The folder of a source, once the worker has made it.
async fn folder(scene: &Scene, slug: &str, source: &str) -> PathBuf {
    let folder = scene.folder.join("inbox").join(slug).join(source);
    let until = Instant::now() + PATIENCE;
    while !folder.join(".archive").is_dir() {
        assert!(Instant::now() < until, "{} is not made", folder.display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

async fn looks(number: u32) {
    tokio::time::sleep(Scene::pace().settle * number).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_growing_file_is_left_alone_and_becomes_one_run() {
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, _) = scene.source("harbor", SourceKind::Folder, json!({})).await;
    let working = scene.work(scene.told(""));
    let folder = folder(&scene, "harbor", "dms").await;
    let text = lot(0, 40);
    let (first, rest) = text.split_at(text.len() / 2);
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("lot.csv")).unwrap();
    // Slower than a look, faster than two: as a slow upload goes on.
    for part in first.as_bytes().chunks(first.len() / 6) {
        file.write_all(part).unwrap();
        tokio::time::sleep(Scene::pace().settle / 2).await;
    }
    assert!(scene.runs(tenant).await.is_empty(), "half a file was taken");
    file.write_all(rest.as_bytes()).unwrap();
    drop(file);
    let runs = scene.settled(tenant, 1).await;
    looks(3).await;
    assert_eq!(states(&scene.runs(tenant).await), ["applied"], "{runs:#?}");
    assert_eq!(runs[0].file_bytes, text.len() as u64);
    assert_eq!((runs[0].file_name.as_str(), runs[0].cause.as_str()), ("lot.csv", "folder"));
    assert_eq!(scene.stocks(tenant).await, stock_numbers(0, 40));
    let archived = names(&folder.join(".archive"));
    assert!(archived.len() == 1 && archived[0].ends_with("-lot.csv"), "{archived:?}");
    assert_eq!(fs::read_to_string(folder.join(".archive").join(&archived[0])).unwrap(), text);
    assert_eq!(names(&folder), [".archive", ".taking"]);

    // The same name again, and then the same content.
    for (count, number) in [(2, 41), (3, 41)] {
        fs::write(folder.join("lot.csv"), lot(0, number)).unwrap();
        scene.settled(tenant, count).await;
    }
    assert_eq!(states(&scene.runs(tenant).await), ["applied", "applied", "unchanged"]);
    assert_eq!(names(&folder.join(".archive")).len(), 3);
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_whole_file_of_the_sender_is_not_taken() {
    let scene = Scene::start(&["harbor", "bay"]).await;
    let (tenant, _) = scene.source("harbor", SourceKind::Folder, json!({ "folder": "drop" })).await;
    let (bay, _) = scene.source("bay", SourceKind::Folder, json!({})).await;
    let working = scene.work(scene.told(""));
    let folder = folder(&scene, "harbor", "drop").await;
    let secret = scene.folder.join("secret.csv");
    fs::write(&secret, lot(0, 12)).unwrap();
    symlink(&secret, folder.join("link.csv")).unwrap();
    symlink(scene.folder.join("inbox/bay/dms"), folder.join("elsewhere")).unwrap();
    fs::create_dir(folder.join("folder.csv")).unwrap();
    for name in ["lot.csv.part", "lot.csv.filepart", ".lot.csv", "lot.TMP", "lot.csv.done"] {
        fs::write(folder.join(name), lot(0, 12)).unwrap();
    }
    looks(4).await;
    assert!(scene.runs(tenant).await.is_empty() && scene.runs(bay).await.is_empty());
    assert_eq!(fs::read_to_string(&secret).unwrap(), lot(0, 12));
    // As uploading programs end.
    fs::rename(folder.join("lot.csv.part"), folder.join("lot.csv")).unwrap();
    assert_eq!(states(&scene.settled(tenant, 1).await), ["applied"]);
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agreed_marker_is_waited_for_and_its_sum_must_be_right() {
    let scene = Scene::start(&["harbor", "bay"]).await;
    let (harbor, _) = scene.source("harbor", SourceKind::Folder, json!({ "marker": "done" })).await;
    let (bay, _) = scene.source("bay", SourceKind::Folder, json!({ "marker": "sha256" })).await;
    let working = scene.work(scene.told(""));
    let (one, other) = (folder(&scene, "harbor", "dms").await, folder(&scene, "bay", "dms").await);
    let text = lot(0, 12);
    fs::write(one.join("lot.csv"), &text).unwrap();
    fs::write(other.join("lot.csv"), &text).unwrap();
    fs::write(other.join("lot.csv.sha256"), "0".repeat(64)).unwrap();
    looks(4).await;
    assert!(scene.runs(harbor).await.is_empty() && scene.runs(bay).await.is_empty());
    fs::write(one.join("lot.csv.done"), "").unwrap();
    let sum: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(other.join("lot.csv.sha256"), format!("{sum}  lot.csv\n")).unwrap();
    for (tenant, folder) in [(harbor, &one), (bay, &other)] {
        assert_eq!(states(&scene.settled(tenant, 1).await), ["applied"]);
        assert_eq!(names(folder), [".archive", ".taking"]);
    }
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_dead_worker_left_becomes_one_run_and_two_workers_take_each_file_once() {
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, _) = scene.source("harbor", SourceKind::Folder, json!({})).await;
    let folder = scene.folder.join("inbox/harbor/dms");
    fs::create_dir_all(folder.join(".taking")).unwrap();
    let key = uuid::Uuid::now_v7().simple();
    fs::write(folder.join(format!(".taking/{key}-left.csv")), lot(0, 20)).unwrap();
    let workers = [scene.work(scene.told("")), scene.work(scene.told(""))];
    scene.settled(tenant, 1).await;
    for number in 0..6 {
        fs::write(folder.join(format!("lot-{number}.csv")), lot(0, 21 + number)).unwrap();
    }
    scene.settled(tenant, 7).await;
    looks(3).await;
    let runs = scene.runs(tenant).await;
    let files: Vec<_> = runs.iter().map(|run| run.file_name.as_str()).collect();
    assert_eq!(files.len(), 7, "{files:?}");
    assert_eq!(files[0], "left.csv");
    assert_eq!(names(&folder), [".archive", ".taking"]);
    assert!(names(&folder.join(".taking")).is_empty());
    for worker in workers {
        worker.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_is_told_of() {
    // SAFETY: asks for a number. Nothing is unreadable to root.
    if unsafe { libc::geteuid() } == 0 {
        return;
    }
    let scene = Scene::start(&["harbor"]).await;
    let (tenant, _) = scene.source("harbor", SourceKind::Folder, json!({})).await;
    let working = scene.work(scene.told(""));
    let folder = folder(&scene, "harbor", "dms").await;
    fs::write(folder.join("lot.csv"), lot(0, 12)).unwrap();
    fs::set_permissions(folder.join("lot.csv"), fs::Permissions::from_mode(0o000)).unwrap();
    let until = Instant::now() + PATIENCE;
    while !scene.notices(tenant).await.iter().any(|notice| notice.kind == "file_unreadable") {
        assert!(Instant::now() < until, "nobody is told");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    fs::set_permissions(folder.join("lot.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(states(&scene.settled(tenant, 1).await), ["applied"]);
    working.stop().await;
}
