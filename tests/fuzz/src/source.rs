//! Bytes as decisions.

/// Input that is read as a row of decisions. At its end every decision is the first choice, so that any input is
/// a whole case and a shorter one a simpler one.
#[derive(Debug, Clone)]
pub struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    /// Decisions from bytes.
    pub fn new(bytes: &'a [u8]) -> Source<'a> {
        Source(bytes)
    }

    /// One byte; zero at the end.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Eight bytes as a number.
    pub fn number(&mut self) -> u64 {
        (0..8).fold(0, |all, _| all << 8 | u64::from(self.byte()))
    }

    /// A number below `n`, which is not zero. Takes one byte, or two where `n` needs them.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = if n > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (wide | usize::from(self.byte())) % n
    }

    /// Yes with a chance of `of_256` in 256; no at the end.
    pub fn chance(&mut self, of_256: u16) -> bool {
        u16::from(255 - self.byte().wrapping_sub(1)) < of_256
    }

    /// One of several.
    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// At most `n` bytes as they are.
    pub fn take(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// What is left.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// splitmix64: small, and the same on every machine. Makes the inputs of the short run.
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// The next number.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.roll().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}
