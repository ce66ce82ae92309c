//! The validity dates of an X.509 certificate, read from its DER bytes. A certificate library would be a large
//! dependency for two dates that only `doctor` shows; whether a peer may trust a certificate is never decided here.

use chrono::{NaiveDate, NaiveDateTime};

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// First and last second of validity as unix time (RFC 5280, 4.1.2.5).
pub(super) fn validity(certificate: &[u8]) -> Option<(i64, i64)> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut rest, _) = element(certificate)?;
    // version (tagged, absent in version 1), serial number, signature algorithm, issuer: all skipped.
    if rest.first() == Some(&0xA0) {
        rest = element(rest)?.2;
    }
    for _ in 0..3 {
        rest = element(rest)?.2;
    }
    let (tag, dates, _) = element(rest)?;
    if tag != SEQUENCE {
        return None;
    }
    let (tag, not_before, rest) = element(dates)?;
    let not_before = time(tag, not_before)?;
    let (tag, not_after, _) = element(rest)?;
    Some((not_before, time(tag, not_after)?))
}

/// Tag, contents and what follows, of the first element.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let length = if first < 0x80 {
        usize::from(first)
    } else {
        let (digits, after) = rest.split_at_checked(usize::from(first & 0x7F))?;
        rest = after;
        digits
            .iter()
            .try_fold(0_usize, |sum, &digit| sum.checked_mul(256)?.checked_add(usize::from(digit)))?
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`; two digits below 50 mean this century.
fn time(tag: u8, bytes: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let year = text.get(..2)?.parse::<i32>().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        GENERALIZED_TIME => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let part = |index: usize| rest.get(index * 2..index * 2 + 2)?.parse::<u32>().ok();
    let date = NaiveDate::from_ymd_opt(year, part(0)?, part(1)?)?;
    let moment: NaiveDateTime = date.and_hms_opt(part(2)?, part(3)?, part(4)?)?;
    Some(moment.and_utc().timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_time_are_read() {
        assert_eq!(time(UTC_TIME, b"700101000000Z"), Some(0));
        assert_eq!(time(UTC_TIME, b"491231235959Z"), time(GENERALIZED_TIME, b"20491231235959Z"));
        for bad in [&b"70010100000Z"[..], b"701301000000Z", b"", b"Z", b"700101000000"] {
            assert_eq!(time(UTC_TIME, bad), None);
        }
    }

    #[test]
    fn broken_bytes_have_no_dates() {
        let made = rcgen::generate_simple_self_signed(["a.example".to_owned()]).unwrap();
        let der = made.cert.der();
        assert!(validity(der).is_some());
        for length in 0..60 {
            assert_eq!(validity(&der[..length]), None);
        }
        assert_eq!(validity(&[0x30, 0x89, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    }
}
