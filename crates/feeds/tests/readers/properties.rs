//! What holds for any bytes.

use feeds::{Code, Config, Limits};
use proptest::prelude::*;

use crate::containers::{gzip, zip};
use crate::{Row, read, try_with};

/// Bytes that look like pieces of feeds, so that readers get further than the first line.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"Stock,VIN,Year,Make\n"[..],
        b"Stock|VIN|Year|Make\r\n",
        b"\"",
        b",",
        b"\n",
        b"\r",
        b"|",
        b"\\",
        b"A1,V,2020,Ford\n",
        b"\"A1\",\"V\",\"2020\",\"Ford\"\n",
        b"[",
        b"]",
        b"{",
        b"}",
        b"{\"vin\":\"1\",",
        b"\"make\":",
        b"<listings><listing>",
        b"<vin>1</vin>",
        b"</listing>",
        b"<![CDATA[",
        b"]]>",
        b"&amp;",
        b"&x;",
        b"\xe9",
        b"\xc3\xa9",
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"Total",
        b" ",
    ]);
    prop::collection::vec(
        prop_oneof![8 => piece.prop_map(<[u8]>::to_vec), 1 => any::<[u8; 2]>().prop_map(Vec::from)],
        0..60,
    )
    .prop_map(|pieces| pieces.concat())
}

fn quoted_table() -> impl Strategy<Value = String> {
    // Without commas: a line within a cell that is itself a whole row cannot be told from one.
    let cell = "[a-z ;\\n]{0,8}";
    let row = prop::collection::vec(cell, 5).prop_map(|cells| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("\"{cell}\"")).collect();
        // The last cell says where a row ends, so that a shortened one is seen.
        format!("{},\"end.\"", cells.join(","))
    });
    prop::collection::vec(row, 1..8).prop_map(|rows| {
        format!("\"Stock\",\"VIN\",\"Year\",\"Make\",\"Model\",\"Memo\"\n{}\n", rows.join("\n"))
    })
}

proptest! {
    #[test]
    fn no_bytes_are_too_much(bytes in pieces(), packed in 0..3) {
        let bytes = match packed {
            0 => bytes,
            1 => gzip(&bytes),
            _ => zip(&[("feed", &bytes)], 0),
        };
        let limits = Limits { field_bytes: 64, columns: 20, ..Limits::default() };
        let _ = try_with(&bytes, &Config::default(), &limits);
        let _ = try_with(&bytes, &Config::default(), &Limits::default());
    }

    #[test]
    fn archives_may_be_damaged_anywhere(bytes in pieces(), at in any::<prop::sample::Index>(), flip in 1..=255u8) {
        for mut archive in [gzip(&bytes), zip(&[("feed", &bytes)], 0)] {
            let at = at.index(archive.len());
            archive[at] ^= flip;
            let _ = try_with(&archive, &Config::default(), &Limits::default());
        }
    }

    /// A quoted table that is cut between two rows cannot be told from a whole one. Cut anywhere else it is held,
    /// and no row is published that was not in the whole file.
    #[test]
    fn a_quoted_table_that_is_cut_is_held(table in quoted_table(), at in any::<prop::sample::Index>()) {
        let whole = read(&table);
        prop_assert!(whole.codes.is_empty() || whole.codes == [Code::FeedEmpty], "{:?}", whole.codes);
        let at = at.index(table.len());
        let cut = read(&table[..at]);
        let good: Vec<&Row> = cut.rows.iter().filter(|row| matches!(row, Row::Read(..))).collect();
        let before: Vec<&Row> = whole.rows.iter().take(good.len()).collect();
        prop_assert_eq!(&good, &before);
        let between = table[..at].ends_with("\"end.\"") || table[..at].ends_with("\"end.\"\n");
        prop_assert!(between || cut.codes.iter().any(|code| code.level() == feeds::Level::Verdict), "{:?}", &table[..at]);
    }
}
