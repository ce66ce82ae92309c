//! Where a page ended, in a form that only we can write.
//!
//! A cursor is bound to the dealer, the contract, the filters and the sort it was given for, and to a version of
//! the lot: a page sequence stays on the version it began with (PERFORMANCE.md 7.5). It names the last unit, not a
//! position, so every node that holds the version goes on at the same place.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::payload::{Filters, Sort};
use contract::text::fold;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::text;

/// The longest text that is looked at (the schema's limit for a cursor).
const LONGEST: usize = 2048;
/// The first byte; another one when the layout changes.
const LAYOUT: u8 = 1;
const SCOPE: usize = 16;
const SIGNATURE: usize = 16;
/// Layout, version, expiry, scope.
const HEAD: usize = 1 + 8 + 8 + SCOPE;

/// What cursors are signed with; every node of a platform has the same one.
#[derive(Clone)]
pub struct CursorKey(Hmac<Sha256>);

impl CursorKey {
    /// A key from 32 secret bytes.
    pub fn new(secret: [u8; 32]) -> CursorKey {
        // HMAC takes keys of any length, so this branch is never taken; a fixed key would be no secret.
        let mac = Hmac::new_from_slice(&secret);
        CursorKey(mac.unwrap_or_else(|_| Hmac::new(&Default::default())))
    }
}

impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorKey(secret)")
    }
}

/// What a cursor is good for. Used anywhere else it is a mismatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope<'a> {
    /// The dealer.
    pub tenant: &'a [u8; 16],
    /// The contract version, as in `v3.0`.
    pub contract: &'a str,
    /// Filters and sort, by [`fingerprint`].
    pub fingerprint: [u8; 16],
}

impl Scope<'_> {
    fn digest(&self) -> [u8; SCOPE] {
        let mut hash = Sha256::new();
        hash.update(self.tenant);
        hash.update(self.fingerprint);
        hash.update(self.contract.as_bytes());
        shortened(&hash.finalize().into())
    }
}

/// Where to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The version of the lot that the sequence of pages began with.
    pub version: u64,
    /// `vehicle_id` of the last unit that was given.
    pub after: String,
    /// When it ends, in seconds since 1970.
    pub expires_at: u64,
}

/// Why a cursor is refused (AAP.md 16.2 #18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// Not one of ours, or changed on the way.
    #[error("the cursor is not one that this platform wrote")]
    Malformed,
    /// Its time is over.
    #[error("the cursor has expired")]
    Expired,
    /// Given for another dealer, contract, filters or sort.
    #[error("the cursor belongs to another request")]
    Mismatch,
}

impl CursorError {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Expired => "expired",
            Self::Mismatch => "mismatch",
        }
    }
}

/// A number for filters and sort: the same for requests that mean the same, whatever the case of their texts, the
/// order of alternatives, or empty members.
pub fn fingerprint(filters: &Filters, sort: Sort) -> [u8; 16] {
    // Taken apart, so that a new filter cannot be forgotten here.
    let Filters {
        make,
        model,
        trim,
        condition,
        vehicle_type,
        transmission,
        fuel,
        driveline,
        body,
        charge_port,
        exterior_color,
        interior_color,
        rooftops,
        status,
        features,
        dc_fast_charge,
        year_min,
        year_max,
        price_min,
        price_max,
        mileage_max,
        displacement_cc_min,
        displacement_cc_max,
        electric_range_mi_min,
        electric_range_mi_max,
        vin,
        stock,
        query,
    } = filters;
    let mut print = Print(Vec::with_capacity(256));
    print.texts(&[sort.field.as_str(), sort.order.as_str()]);
    for (name, list) in [
        ("make", make),
        ("model", model),
        ("trim", trim),
        ("condition", condition),
        ("vehicle_type", vehicle_type),
        ("transmission", transmission),
        ("fuel", fuel),
        ("driveline", driveline),
        ("body", body),
        ("charge_port", charge_port),
        ("exterior_color", exterior_color),
        ("interior_color", interior_color),
        ("rooftops", rooftops),
        ("status", status),
        ("features", features),
    ] {
        if list.is_empty() {
            continue;
        }
        let mut folded: Vec<String> = list.iter().map(|value| fold(value)).collect();
        folded.sort_unstable();
        folded.dedup();
        print.member(name, &folded);
    }
    print.member("query", &query.as_deref().map(text::tokens).unwrap_or_default());
    print.member("vin", vin.as_slice());
    print.member("stock", stock.as_slice());
    for (name, bound) in [
        ("dc_fast_charge", dc_fast_charge.and_then(|fast| fast.then_some(1))),
        ("year_min", *year_min),
        ("year_max", *year_max),
        ("price_min", *price_min),
        ("price_max", *price_max),
        ("mileage_max", *mileage_max),
        ("displacement_cc_min", *displacement_cc_min),
        ("displacement_cc_max", *displacement_cc_max),
        ("electric_range_mi_min", *electric_range_mi_min),
        ("electric_range_mi_max", *electric_range_mi_max),
    ] {
        print.member(name, bound.map(|bound| bound.to_string()).as_slice());
    }
    shortened(&Sha256::digest(&print.0).into())
}

/// Texts in a form in which no two lists of them are the same bytes. Hashed at the end and at once: many small
/// pieces cost more than all of the hashing.
struct Print(Vec<u8>);

impl Print {
    fn texts(&mut self, texts: &[impl AsRef<str>]) {
        self.0.extend_from_slice(&(texts.len() as u64).to_be_bytes());
        for text in texts {
            self.0.extend_from_slice(&(text.as_ref().len() as u64).to_be_bytes());
            self.0.extend_from_slice(text.as_ref().as_bytes());
        }
    }

    /// A member that asks for nothing leaves no trace.
    fn member(&mut self, name: &str, values: &[impl AsRef<str>]) {
        if !values.is_empty() {
            self.texts(&[name]);
            self.texts(values);
        }
    }
}

fn shortened(hash: &[u8; 32]) -> [u8; 16] {
    let (half, _) = hash.as_chunks::<16>();
    half.first().copied().unwrap_or_default()
}

/// Writes a cursor: base64url without padding, about 80 characters and 4/3 of the id.
pub fn encode(key: &CursorKey, scope: &Scope<'_>, cursor: &Cursor) -> String {
    let mut bytes = Vec::with_capacity(HEAD + cursor.after.len() + SIGNATURE);
    bytes.push(LAYOUT);
    bytes.extend_from_slice(&cursor.version.to_be_bytes());
    bytes.extend_from_slice(&cursor.expires_at.to_be_bytes());
    bytes.extend_from_slice(&scope.digest());
    bytes.extend_from_slice(cursor.after.as_bytes());
    let signature = key.0.clone().chain_update(&bytes).finalize().into_bytes();
    bytes.extend_from_slice(&shortened(&signature.into()));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads a cursor at the time `now` (seconds since 1970).
///
/// # Errors
///
/// [`CursorError::Malformed`] unless it is, bit for bit, one that [`encode`] wrote with this key; then
/// [`CursorError::Mismatch`] if it was written for another scope, then [`CursorError::Expired`].
pub fn decode(key: &CursorKey, scope: &Scope<'_>, text: &str, now: u64) -> Result<Cursor, CursorError> {
    if text.len() > LONGEST {
        return Err(CursorError::Malformed);
    }
    // This engine refuses padding and stray bits in the last character, so every cursor has one spelling.
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError::Malformed)?;
    let read = bytes.len().checked_sub(SIGNATURE).and_then(|signed| bytes.split_at_checked(signed));
    let (signed, signature) = read.ok_or(CursorError::Malformed)?;
    // Compares in constant time.
    let check = key.0.clone().chain_update(signed).verify_truncated_left(signature);
    check.map_err(|_| CursorError::Malformed)?;

    let (head, after) = signed.split_at_checked(HEAD).ok_or(CursorError::Malformed)?;
    let mut head = head.iter().copied();
    if head.next() != Some(LAYOUT) {
        return Err(CursorError::Malformed);
    }
    let mut number = || head.by_ref().take(8).fold(0_u64, |all, byte| all << 8 | u64::from(byte));
    let (version, expires_at) = (number(), number());
    if !head.eq(scope.digest()) {
        return Err(CursorError::Mismatch);
    }
    if now >= expires_at {
        return Err(CursorError::Expired);
    }
    let after = std::str::from_utf8(after).map_err(|_| CursorError::Malformed)?.to_owned();
    Ok(Cursor { version, after, expires_at })
}
