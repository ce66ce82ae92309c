//! Cursors: only those that we wrote for a request are read, as they were written.

use inventory::cursor::{Cursor, CursorError, CursorKey, Scope, decode, encode};

use crate::Source;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The input as a cursor is never one of ours; one that we write comes back for its own request and time, and is
/// refused for any other, with any change of one character, cut or prolonged.
pub fn cursor(data: &[u8]) {
    let key = CursorKey::new([42; 32]);
    let mut source = Source::new(data);
    let (mut tenant, mut fingerprint) = ([0; 16], [0; 16]);
    tenant.fill_with(|| source.byte());
    fingerprint.fill_with(|| source.byte());
    let contract = *source.pick(&["v3.0", "v1.3", "latest", ""]);
    let scope = Scope { tenant: &tenant, contract, fingerprint };
    let expires_at = source.number();
    let now = if source.chance(128) { expires_at.saturating_sub(900) } else { source.number() };

    // Nobody can write one without the key: neither these bytes as they are, nor as what a cursor spells.
    let raw = String::from_utf8_lossy(data);
    assert_eq!(decode(&key, &scope, &raw, now), Err(CursorError::Malformed), "{raw:?}");
    let spelled: String = data.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 64)])).collect();
    assert_eq!(decode(&key, &scope, &spelled, now), Err(CursorError::Malformed), "{spelled}");

    let version = source.number();
    let (kind, at, by) = (source.below(8), source.number(), source.byte());
    let other_tenant = tenant.map(|byte| byte ^ source.byte());
    let after = id_of(source.rest());
    let ours = Cursor { version, after, expires_at };
    let text = encode(&key, &scope, &ours);
    let read = |scope: &Scope<'_>, text: &str| decode(&key, scope, text, now);
    let on_time = if now < expires_at { Ok(ours.clone()) } else { Err(CursorError::Expired) };
    assert_eq!(read(&scope, &text), on_time);

    let elsewhere = [
        Scope { tenant: &other_tenant, ..scope },
        Scope { contract: if contract == "v3.0" { "latest" } else { "v3.0" }, ..scope },
        Scope { fingerprint: other_tenant, ..scope },
    ];
    for other in elsewhere.iter().filter(|other| **other != scope) {
        assert_eq!(read(other, &text), Err(CursorError::Mismatch));
    }
    let other_key = CursorKey::new([43; 32]);
    assert_eq!(decode(&other_key, &scope, &text, now), Err(CursorError::Malformed));

    let at = usize::try_from(at % u64::try_from(text.len()).unwrap()).unwrap();
    let (before, tail) = text.split_at(at);
    let by = char::from(by & 0x7f);
    let changed = match kind {
        0 => before.to_owned(),
        1 => tail.to_owned(),
        2 => format!("{before}{by}{tail}"),
        3 => format!("{text}{by}"),
        4 => format!("{before}{}", &tail[1..]),
        _ => format!("{before}{by}{}", &tail[1..]),
    };
    if changed != text {
        assert_eq!(read(&scope, &changed), Err(CursorError::Malformed), "{text} became {changed}");
    }
}

/// Ids of units have at most 512 bytes.
fn id_of(bytes: &[u8]) -> String {
    let mut id = String::from_utf8_lossy(bytes).into_owned();
    while id.len() > 512 {
        id.pop();
    }
    id
}
