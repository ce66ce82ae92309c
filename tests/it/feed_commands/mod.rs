//! `forecourt feed` and `forecourt vehicle`, as operators type them.

mod imports;
mod page;
mod sources;
mod vehicles;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use testkit::{Platform, Process, cluster, scratch};

/// A dealer whose cars come from feeds.
pub(crate) async fn dealer(slug: &str) -> Platform {
    let document = json!({
        "name": "Harbor Cars",
        "rooftops": [{"name": "Harbor Main", "timezone": "America/Los_Angeles"}],
    });
    Platform::with_dealer(slug, document).await
}

/// What a command came to.
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    fn of(output: Output) -> Said {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        Said {
            status: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.out.trim())
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }

    /// It must have ended so.
    pub(crate) fn ended(self, status: i32) -> Said {
        assert_eq!(self.status, status, "{}\n{}", self.out, self.err);
        self
    }
}

/// Runs a command on a platform's database, with nothing to read.
pub(crate) async fn run(platform: &Platform, arguments: &[&str]) -> Said {
    typed(platform, arguments, "").await
}

/// The same with a standard input.
pub(crate) async fn typed(platform: &Platform, arguments: &[&str], input: &str) -> Said {
    let url = cluster().url(&platform.database);
    let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
    let input = input.to_owned();
    let work = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let folder = scratch("feed-data");
        let mut child = Process::command(&arguments)
            .env("DATABASE_URL", url)
            .env("FORECOURT_DATA_DIR", &folder)
            .env("FORECOURT_MASTER_KEY", "0123456789abcdef".repeat(4))
            .env("USER", "ann")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        child.stdin.take().expect("its input").write_all(input.as_bytes()).ok();
        Said::of(child.wait_with_output().expect("it ended"))
    };
    tokio::task::spawn_blocking(work).await.expect("it ran")
}

/// A file of that text.
pub(crate) fn file(name: &str, text: &str) -> PathBuf {
    let path = scratch("feed-files").join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// `count` cars, priced from `price` on. Their VINs are sound.
pub(crate) fn cars(count: usize, price: usize) -> String {
    let mut text = "VIN,Stock #,Year,Make,Model,Condition,Mileage,Price\n".to_owned();
    for no in 0..count {
        let row = format!("{},S{no},2023,Honda,Accord,Used,{},{}\n", vin(no), 10_000 + no, price + no * 10);
        text.push_str(&row);
    }
    text
}

/// A VIN whose check digit is right.
pub(crate) fn vin(no: usize) -> String {
    let bare = format!("1HGCV1F30PA{no:06}");
    let value = |c: char| match c {
        'A'..='H' => u32::from(c) - u32::from('A') + 1,
        'J'..='N' => u32::from(c) - u32::from('J') + 1,
        'P' => 7,
        'R' => 9,
        'S'..='Z' => u32::from(c) - u32::from('S') + 2,
        digit => digit.to_digit(10).unwrap_or(0),
    };
    let weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let sum: u32 = bare.chars().zip(weights).map(|(c, weight)| value(c) * weight).sum();
    let digit = if sum % 11 == 10 { "X".to_owned() } else { (sum % 11).to_string() };
    format!("{}{digit}{}", &bare[..8], &bare[9..])
}
