//! Files that are weapons: told of, quickly and with little memory, by the check, the import and the push door alike.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::{DeflateEncoder, GzEncoder};
use serde_json::{Value, json};
use testkit::{Process, scratch};

use crate::feed_commands::{cars, dealer, file, run};
use crate::ground::search;

const MIB: usize = 1 << 20;
const HEADER: &str = "VIN,Stock,Year,Make,Model,Type,Miles,Price,Description\n";
const ROW: &str = "1HGCM82614A004352,S1,2004,Honda,Accord,Used,41000,8995,fine\n";

/// What a check came to: its report, processor time, and the most memory it had.
struct Checked {
    report: Value,
    took: Duration,
    peak_kib: u64,
}

/// Runs `forecourt feed check` and looks at it meanwhile. Its own processor time is what counts: other tests run too.
fn check(path: &Path) -> Checked {
    let mut child = Process::command(&["feed", "check", path.to_str().unwrap(), "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let (mut peak_kib, mut ticks) = (0, 0);
    let until = Instant::now() + Duration::from_secs(600);
    while child.try_wait().unwrap().is_none() {
        let about =
            |what: &str| std::fs::read_to_string(format!("/proc/{}/{what}", child.id())).unwrap_or_default();
        let high = about("status").lines().find_map(|line| line.strip_prefix("VmHWM:").map(str::to_owned));
        let high = high.and_then(|text| text.split_whitespace().next().and_then(|kib| kib.parse().ok()));
        peak_kib = peak_kib.max(high.unwrap_or(0));
        // User and system time are the 14th and 15th word; the name in brackets has no blank.
        let used = about("stat")
            .split_whitespace()
            .skip(13)
            .take(2)
            .filter_map(|word| word.parse::<u64>().ok())
            .sum();
        ticks = ticks.max(used);
        assert!(Instant::now() < until, "{} has no end", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = reading.join().unwrap().unwrap();
    let report =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}: {text}", path.display()));
    // A hundred ticks are a second on Linux.
    Checked { report, took: Duration::from_millis(ticks * 10), peak_kib }
}

fn gzip(source: impl Read) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(source, Compression::best()).read_to_end(&mut packed).unwrap();
    packed
}

/// A zip of members: name, content, and the size that is claimed of it.
fn zip(members: &[(&str, &[u8], Option<u32>)]) -> Vec<u8> {
    let (mut file, mut list) = (Vec::new(), Vec::new());
    for (name, content, claim) in members {
        let mut packed = Vec::new();
        DeflateEncoder::new(*content, Compression::fast()).read_to_end(&mut packed).unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let number = |n: usize| u32::try_from(n).unwrap();
        let mut common = Vec::new();
        for half in [20u16, 0, 8, 0, 0] {
            common.extend(half.to_le_bytes());
        }
        for whole in [crc.sum(), number(packed.len()), claim.unwrap_or(number(content.len()))] {
            common.extend(whole.to_le_bytes());
        }
        common.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        common.extend([0, 0]);
        let at = number(file.len());
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(packed);
        list.extend(b"PK\x01\x02\x14\0");
        list.extend(&common);
        list.extend([0; 10]);
        list.extend(at.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let (start, length) = (file.len() as u32, list.len() as u32);
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    file.extend(list);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count, count].concat());
    file.extend(length.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// XML whose entities unfold to a billion words.
fn entities() -> String {
    let mut text = "<!DOCTYPE l [<!ENTITY a0 \"word\">".to_owned();
    for level in 1..10 {
        let inner = format!("&a{};", level - 1).repeat(10);
        text.push_str(&format!("<!ENTITY a{level} \"{inner}\">"));
    }
    text + "]><listings><listing><vin>&a9;</vin></listing></listings>"
}

/// Name, content, and the reason that must be given.
fn small() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let table = format!("{HEADER}{ROW}");
    let bomb = || std::io::Read::chain(HEADER.as_bytes(), std::io::repeat(b'x').take(1 << 30));
    let wide = |n: usize| (0..n).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",");
    let nested = gzip(gzip(table.as_bytes()).as_slice());
    let content = [table.as_bytes(), &vec![b'x'; 40 * MIB]].concat();
    let many: Vec<(String, &[u8], Option<u32>)> =
        (0..5000).map(|i| (format!("{i}.csv"), table.as_bytes(), None)).collect();
    let many: Vec<_> = many.iter().map(|(name, content, claim)| (name.as_str(), *content, *claim)).collect();
    let inside = zip(&[("lot.csv", table.as_bytes(), None)]);
    let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[7; 5000]].concat();
    let keys: Vec<String> = (0..500_001).map(|i| format!("\"k{i}\":1")).collect();
    vec![
        ("bomb.gz", gzip(bomb()), "FEED_ARCHIVE_REFUSED"),
        ("bomb.zip", zip(&[("lot.csv", &vec![b' '; 200 * MIB], None)]), "FEED_ARCHIVE_REFUSED"),
        ("nested.gz", nested, "FEED_ARCHIVE_REFUSED"),
        ("nested.zip", zip(&[("lot.csv", &inside, None)]), "FEED_ARCHIVE_REFUSED"),
        ("lying.zip", zip(&[("lot.csv", &content, Some(100))]), "FEED_ARCHIVE_REFUSED"),
        ("many.zip", zip(&many), "FEED_ARCHIVE_REFUSED"),
        (
            "two.zip",
            zip(&[("a.csv", table.as_bytes(), None), ("b.csv", table.as_bytes(), None)]),
            "FEED_ARCHIVE_REFUSED",
        ),
        ("entities.xml", entities().into_bytes(), "FEED_NOT_WELLFORMED"),
        (
            "outside.xml",
            b"<!DOCTYPE l [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><l><v><vin>&x;</vin></v></l>".to_vec(),
            "FEED_NOT_WELLFORMED",
        ),
        ("deep.xml", b"<a>".repeat(500_000), "FEED_NOT_WELLFORMED"),
        ("deep.json", vec![b'['; MIB], "FEED_NOT_WELLFORMED"),
        ("deeper.json", b"[{\"vin\":".repeat(200_000), "FEED_NOT_WELLFORMED"),
        ("wide.csv", format!("{}\n", wide(500_001)).into_bytes(), "FEED_TOO_MANY_COLUMNS"),
        ("wide-row.csv", format!("{HEADER}{}\n", ",".repeat(500_000)).into_bytes(), "FEED_TOO_MANY_COLUMNS"),
        ("wide.json", format!("[{{{}}}]", keys.join(",")).into_bytes(), "FEED_TOO_MANY_COLUMNS"),
        ("picture.csv", png, "FEED_NOT_A_FEED"),
        ("login.csv", b"<!DOCTYPE html><html><body><form></form></body></html>".to_vec(), "FEED_NOT_A_FEED"),
        ("quotes.csv", format!("{HEADER}{}", "\"".repeat(20 * MIB)).into_bytes(), "FEED_TOO_LARGE"),
        ("half.csv", [b"\xff\xfe".as_slice(), &utf16(&table), b"a"].concat(), "FEED_TRUNCATED"),
        ("zeros.csv", vec![0; 30 * MIB], "FEED_EMPTY"),
        ("name.xml", [b"<".as_slice(), &vec![b'a'; 20 * MIB]].concat(), "FEED_TOO_LARGE"),
    ]
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Files that are too large to be made in memory.
fn large(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let line = folder.join("line.csv");
    let mut file = File::create(&line).unwrap();
    file.write_all(HEADER.as_bytes()).unwrap();
    file.write_all(&vec![b'x'; 64 * MIB]).unwrap();
    file.set_len((1 << 30) - 1).unwrap();
    let whole = folder.join("whole.csv");
    File::create(&whole).unwrap().set_len((1 << 30) + 1).unwrap();
    vec![(line, "FEED_TOO_LARGE"), (whole, "FEED_TOO_LARGE")]
}

fn judge(path: &Path, reason: &str) -> Checked {
    let checked = check(path);
    let report = &checked.report;
    assert_ne!(report["verdict"], "apply", "{}: {report}", path.display());
    assert_eq!(report["verdict_reasons"], json!([reason]), "{}: {report}", path.display());
    let sentence = report["verdict_sentences"][0].as_str().unwrap();
    assert!(sentence.len() > 20, "{}: {sentence}", path.display());
    assert!(checked.took < Duration::from_secs(2), "{} took {:?}", path.display(), checked.took);
    assert!(checked.peak_kib < 200 * 1024, "{} took {} KiB", path.display(), checked.peak_kib);
    checked
}

#[test]
fn weapons_are_told_of_quickly_and_with_little_memory() {
    let folder = scratch("bombs");
    let mut worst = (Duration::ZERO, 0);
    let mut paths = large(&folder);
    for (name, content, reason) in small() {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        paths.push((path, reason));
    }
    for (path, reason) in &paths {
        let checked = judge(path, reason);
        worst = (worst.0.max(checked.took), worst.1.max(checked.peak_kib));
    }
    println!("{} files: at most {:?} and {} MiB", paths.len(), worst.0, worst.1 / 1024);
    // A name that leads elsewhere names nothing: nothing is unpacked into files.
    let slips = zip(&[("../../../tmp/lot.csv", format!("{HEADER}{ROW}").as_bytes(), None)]);
    let path = folder.join("slips.zip");
    std::fs::write(&path, slips).unwrap();
    assert_eq!(check(&path).report["counts"]["published"], 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn one_row_too_many_is_one_too_many() {
    use std::fmt::Write as _;
    let mut text = HEADER.to_owned();
    for row in 0..200_001 {
        writeln!(text, ",S{row},2004,Honda,Accord,Used,41000,8995,f").unwrap();
    }
    let folder = scratch("rows");
    let path = folder.join("rows.csv");
    std::fs::write(&path, text).unwrap();
    let checked = check(&path);
    assert_eq!(checked.report["verdict_reasons"], json!(["FEED_TOO_MANY_RECORDS"]), "{}", checked.report);
    assert!(checked.peak_kib < 200 * 1024, "{} KiB", checked.peak_kib);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn weapons_change_no_lot_by_whatever_door_they_come() {
    let platform = dealer("quay").await;
    let path = file("first.csv", &cars(12, 20_000));
    run(&platform, &["feed", "import", "quay", path.to_str().unwrap()]).await.ended(0);
    let store = platform.application().store();
    let tenant = super::tenant(store, "quay").await;
    let settings = dealer::feeds::SourceSettings::read(&json!({"role": "complementary"})).unwrap();
    let kind = store::SourceKind::Push;
    let source = dealer::feeds::add_source(store, tenant, "push", kind, settings, "test").await.unwrap();
    let token = dealer::feeds::renew_token(store, tenant, source.source_id, "test").await.unwrap();
    let address = format!("{}/push/feeds/{}", platform.origin, source.source_id);
    let folder = scratch("weapons");
    for (name, content, reason) in small().into_iter().filter(|(_, content, _)| content.len() < 8 * MIB) {
        let path = folder.join(name);
        std::fs::write(&path, &content).unwrap();
        let said = run(
            &platform,
            &["feed", "import", "quay", path.to_str().unwrap(), "--source", "import", "--json"],
        )
        .await;
        assert!([1, 3].contains(&said.status), "{name}: {}{}", said.out, said.err);
        let shown = said.json();
        assert!(shown.to_string().contains(reason), "{name}: {shown}");
        let answer = platform.http.post(&address).bearer_auth(&token).body(content).send().await.unwrap();
        // It is taken in and told of by the run, or refused at once; never an error of ours.
        let status = answer.status().as_u16();
        assert!(status == 202 || (400..500).contains(&status), "{name}: {status}");
        platform.catch_up().await;
        assert_eq!(platform.call("quay", search()).await["total"], 12, "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    platform.stop().await;
}
