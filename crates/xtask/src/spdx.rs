//! Licence expressions: enough of SPDX to say whether the permissive part of one can be chosen.

/// True if `expression` can be satisfied with licences from `allowed` alone.
///
/// Understands `AND`, `OR`, `WITH`, brackets, and the old way of writing `OR` as a slash. `Err` says why an
/// expression cannot be read; such a package must not pass.
pub(crate) fn satisfied(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    let answer = reader.any()?;
    match reader.words {
        [] => Ok(answer),
        [word, ..] => Err(format!("`{word}` is not expected in `{expression}`")),
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first().is_some_and(|first| *first == word);
        if found {
            self.next();
        }
        found
    }

    /// `OR` binds weaker than `AND`.
    fn any(&mut self) -> Result<bool, String> {
        let mut answer = self.all()?;
        while self.take("OR") {
            answer |= self.all()?;
        }
        Ok(answer)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Ok(answer)
    }

    fn one(&mut self) -> Result<bool, String> {
        match self.next() {
            Some("(") => {
                let answer = self.any()?;
                if self.take(")") { Ok(answer) } else { Err("a bracket stays open".to_owned()) }
            }
            None | Some(")" | "AND" | "OR" | "WITH") => Err("a licence name is missing".to_owned()),
            Some(name) if self.take("WITH") => {
                let exception = self.next().ok_or("the exception after WITH is missing")?;
                Ok(self.allowed.contains(&format!("{name} WITH {exception}").as_str()))
            }
            Some(name) => Ok(self.allowed.contains(&name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::satisfied;

    const ALLOWED: &[&str] = &["MIT", "Apache-2.0", "ISC", "Apache-2.0 WITH LLVM-exception"];

    #[test]
    fn one_of_several_is_enough_and_all_of_several_are_needed() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("MIT/GPL-2.0", true),
            ("GPL-3.0 AND MIT", false),
            ("Apache-2.0 AND ISC", true),
            ("(GPL-3.0 OR MIT) AND ISC", true),
            ("GPL-3.0 OR MIT AND ISC", true),
            ("(GPL-3.0 OR MIT) AND MPL-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT WITH LLVM-exception", false),
            ("GPL-2.0 WITH Classpath-exception-2.0 OR ISC", true),
        ] {
            assert_eq!(satisfied(expression, ALLOWED), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_read_does_not_pass() {
        for expression in ["", "MIT OR", "MIT MIT", "(MIT", "MIT)", "AND MIT", "MIT WITH"] {
            assert!(satisfied(expression, ALLOWED).is_err(), "{expression:?}");
        }
    }
}
