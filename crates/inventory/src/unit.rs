//! A unit's documents and identifiers, in one allocation that later versions of the lot share.

use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use crate::hash::Seed;

/// The same for all lots, so that descriptions of two versions can be held against each other.
static SEED: LazyLock<Seed> = LazyLock::new(Seed::random);

/// What is answered about a unit.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// The listing document, then the detail document if it differs, then identifiers that the documents do
    /// not spell as they are.
    text: Arc<str>,
    listing_end: u32,
    detail_end: u32,
    vehicle_id: Span,
    vin: Span,
    stock: Span,
    /// Tells descriptions apart without keeping them.
    description: u64,
}

/// Stands for a description.
pub(crate) fn digest(description: Option<&str>) -> u64 {
    // A text that happens to have the number of none is taken for none once in 2^64 times, as any other two are.
    description.map_or(0, |text| SEED.hash_one(text))
}

/// A part of the text.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    len: u32,
}

impl Span {
    const ABSENT: Span = Span { start: 0, len: u32::MAX };

    /// Identifiers usually stand in the document as they are; borrowing them there saves about 50 bytes a unit.
    fn place(text: &mut String, part: Option<&str>) -> Span {
        let Some(part) = part else { return Span::ABSENT };
        let start = text.find(part).unwrap_or_else(|| {
            text.push_str(part);
            text.len() - part.len()
        });
        Span { start: offset(start), len: offset(part.len()) }
    }

    fn of(self, text: &str) -> Option<&str> {
        let start = self.start as usize;
        text.get(start..start.checked_add(self.len as usize)?)
    }
}

/// Documents are bounded far below 4 GB by what is accepted from feeds.
fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Unit {
    /// Takes over the documents of a unit. `text` is room to work in, the same for all units of a lot.
    pub(crate) fn new(unit: &contract::Listing, text: &mut String) -> Unit {
        text.clear();
        text.push_str(&unit.listing);
        let listing_end = offset(text.len());
        text.push_str(unit.detail.as_deref().unwrap_or_default());
        let detail_end = offset(text.len());
        let vehicle_id = Span::place(text, Some(&unit.vehicle_id));
        let vin = Span::place(text, unit.vin.as_deref());
        let stock = Span::place(text, unit.stock.as_deref());
        let description = digest(unit.description.as_deref());
        Unit { text: text.as_str().into(), listing_end, detail_end, vehicle_id, vin, stock, description }
    }

    /// Whether free text finds in the other unit what it finds in this one, beside the terms.
    pub(crate) fn reads_as(&self, other: &contract::Listing) -> bool {
        self.vin() == other.vin.as_deref()
            && self.stock() == other.stock.as_deref()
            && self.description == digest(other.description.as_deref())
    }

    /// Which allocation the documents are in.
    pub(crate) fn allocation(&self) -> *const u8 {
        self.text.as_ptr()
    }

    /// The document of search results. As bytes, since to cut a text is to look at where it is cut, which has to
    /// be waited for.
    pub(crate) fn listing(&self) -> &[u8] {
        self.text.as_bytes().get(..self.listing_end as usize).unwrap_or_default()
    }

    /// The document of the detail answer.
    pub(crate) fn detail(&self) -> &str {
        if self.detail_end > self.listing_end {
            self.text.get(self.listing_end as usize..self.detail_end as usize)
        } else {
            self.text.get(..self.listing_end as usize)
        }
        .unwrap_or_default()
    }

    /// The dealer's id.
    pub(crate) fn vehicle_id(&self) -> &str {
        self.vehicle_id.of(&self.text).unwrap_or_default()
    }

    /// The VIN, if there is one.
    pub(crate) fn vin(&self) -> Option<&str> {
        self.vin.of(&self.text)
    }

    /// The stock number, if there is one.
    pub(crate) fn stock(&self) -> Option<&str> {
        self.stock.of(&self.text)
    }

    /// Bytes of the documents.
    pub(crate) fn documents(&self) -> usize {
        self.detail_end as usize
    }

    /// Bytes on the heap: the text and the two counters of the `Arc`.
    pub(crate) fn weight(&self) -> usize {
        self.text.len() + 2 * size_of::<usize>()
    }
}
