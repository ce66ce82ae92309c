//! The address of the page that follows a page of search results.

use contract::Paging;

/// Where a page leaves off.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Next<'p> {
    /// The parameter that continues.
    name: &'static str,
    value: std::borrow::Cow<'p, str>,
}

/// What a payload of `inventory.search` says of its next page; `None` on the last one.
///
/// Only its beginning is looked at, in which nothing of a dealer's own stands: reading all of it would take as long
/// as making it did.
pub(super) fn next(paging: Paging, payload: &[u8]) -> Option<Next<'_>> {
    let after = |name: &str| {
        let head = payload.get(..payload.len().min(4096))?;
        let at = head.windows(name.len()).position(|part| part == name.as_bytes())?;
        payload.get(at + name.len()..)
    };
    match paging {
        Paging::Cursor => {
            let text = after("\"next_cursor\":")?.strip_prefix(b"\"")?;
            let end = text.iter().position(|byte| *byte == b'"')?;
            let cursor = std::str::from_utf8(text.get(..end)?).ok()?;
            Some(Next { name: "cursor", value: cursor.into() })
        }
        Paging::Skip => {
            let number = |name| {
                let text = after(name)?;
                let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
                std::str::from_utf8(text.get(..end)?).ok()?.parse::<u64>().ok()
            };
            let next = number("\"skip\":")?.saturating_add(number("\"limit\":")?);
            (next < number("\"total\":")?).then(|| Next { name: "skip", value: next.to_string().into() })
        }
    }
}

impl Next<'_> {
    /// The query of the next page, from that of this one.
    pub(super) fn query(&self, query: &str) -> String {
        let mut next = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in
            url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != self.name)
        {
            next.append_pair(&name, &value);
        }
        next.append_pair(self.name, &self.value).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_query_stays() {
        let page = br#"{"type":"inventory.search.response","data":{"total":9,"limit":2,"next_cursor":"a-_","applied"#;
        let found = next(Paging::Cursor, page).unwrap();
        assert_eq!(found.query("make=a%26b&cursor=x&make=%22c"), "make=a%26b&make=%22c&cursor=a-_");
        let last = br#"{"type":"t","data":{"total":9,"limit":2,"next_cursor":null,"vehicles":[{"next_cursor":"x"}]}}"#;
        assert_eq!(next(Paging::Cursor, last), None);
        let page =
            |skip| format!(r#"{{"type":"t","data":{{"total":9,"limit":2,"skip":{skip},"vehicles":[]}}}}"#);
        assert_eq!(next(Paging::Skip, page(0).as_bytes()).unwrap().query(""), "skip=2");
        assert_eq!(next(Paging::Skip, page(6).as_bytes()).unwrap().query("skip=6"), "skip=8");
        for last in [7, 8, 9, u64::MAX] {
            assert_eq!(next(Paging::Skip, page(last).as_bytes()), None);
        }
    }
}
