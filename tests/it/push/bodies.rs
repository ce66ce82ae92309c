//! Bodies: large, slow, packed, broken off, the same ones again.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::{answered, cars, dealer, sender};

#[tokio::test]
async fn the_same_key_is_the_same_run_also_at_once() {
    let platform = dealer("body-one").await;
    let sender = sender(&platform, "body-one", json!({})).await;
    let push = || sender.push("", cars(50, 20_000)).header("idempotency-key", "night").send();
    let answers = futures_util::future::join_all((0..6).map(|_| push())).await;
    let mut taken = 0;
    let mut runs = Vec::new();
    for response in answers {
        let response = response.unwrap();
        taken += usize::from(response.status() == 202);
        let status = response.status().as_u16();
        let document = answered(response, status).await;
        assert_eq!(document["repeated"], status == 200, "{document}");
        runs.push(document["run_id"].clone());
    }
    assert_eq!(taken, 1);
    assert!(runs.iter().all(|run| *run == runs[0] && run.is_string()), "{runs:?}");
    assert_eq!(sender.runs().await.len(), 1);
    let other = sender.push("", cars(51, 20_000)).header("idempotency-key", "night");
    let refused = answered(other.send().await.unwrap(), 409).await;
    assert!(refused["detail"].as_str().unwrap().contains(runs[0].as_str().unwrap()), "{refused}");
    platform.stop().await;
}

#[tokio::test]
async fn packed_bodies_are_unpacked_and_large_ones_stored() {
    let platform = dealer("body-two").await;
    let sender = sender(&platform, "body-two", json!({})).await;
    let text = cars(60_000, 20_000);
    assert!(text.len() > 3 << 20, "larger than other doors take");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let packed = sender.push("", gzip.finish().unwrap()).header("content-encoding", "gzip");
    let taken = answered(packed.send().await.unwrap(), 202).await;
    assert_eq!(taken["bytes"], text.len());
    let runs = sender.runs().await;
    assert_eq!(sender.file(&runs[0]).await, text.as_bytes());
    // The same, at a pace: 1 MiB a second.
    let pieces: Vec<Bytes> = text.as_bytes().chunks(1 << 20).map(Bytes::copy_from_slice).collect();
    let slow = stream::iter(pieces).then(|piece| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok::<_, std::io::Error>(piece)
    });
    let taken = sender.taken("", reqwest::Body::wrap_stream(slow)).await;
    assert_eq!(taken["bytes"], text.len());
    assert_eq!(sender.runs().await.len(), 2);
    platform.stop().await;
}

#[tokio::test]
async fn a_gzip_that_grows_without_end_is_refused() {
    let platform = dealer("body-bomb").await;
    let sender = sender(&platform, "body-bomb", json!({"limits": {"file_bytes": 10_000_000}})).await;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..400 {
        gzip.write_all(&[b'x'; 1 << 20]).unwrap();
    }
    let bomb = sender.push("", gzip.finish().unwrap()).header("content-encoding", "gzip");
    answered(bomb.send().await.unwrap(), 413).await;
    assert_eq!(sender.runs().await.len(), 0);
    platform.stop().await;
}

#[tokio::test]
async fn a_body_that_breaks_off_is_no_run() {
    let platform = dealer("body-three").await;
    let sender = sender(&platform, "body-three", json!({})).await;
    let host = platform.origin.trim_start_matches("http://");
    for chunked in [false, true] {
        let mut socket = tokio::net::TcpStream::connect(host).await.unwrap();
        let length = if chunked { "Transfer-Encoding: chunked" } else { "Content-Length: 100000" };
        let head = format!(
            "POST /push/feeds/{} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n{length}\r\n\r\n",
            sender.source, sender.token
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let row = "VIN,Stock #,Price\n".repeat(500);
        let body = if chunked { format!("{:x}\r\n{row}\r\n", row.len()) } else { row };
        socket.write_all(body.as_bytes()).await.unwrap();
        socket.flush().await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        drop(socket);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(sender.runs().await.len(), 0);
    platform.stop().await;
}

#[tokio::test]
async fn batches_of_changes_have_one_to_five_hundred_vehicles() {
    let platform = dealer("body-four").await;
    let sender = sender(&platform, "body-four", json!({})).await;
    let batch = |count: usize| {
        let vehicles: Vec<_> =
            (0..count).map(|no| json!({"vin": format!("V{no}"), "action": "delete"})).collect();
        sender.push("?mode=delta", json!(vehicles).to_string()).header("content-type", "application/json")
    };
    for (count, status) in [(0, 422), (1, 202), (500, 202), (501, 422)] {
        answered(batch(count).send().await.unwrap(), status).await;
    }
    let broken = sender.push("?mode=delta", "[{").header("content-type", "application/json");
    answered(broken.send().await.unwrap(), 400).await;
    let runs = sender.runs().await;
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.mode == "delta"));
    platform.stop().await;
}
