//! What a server tells Prometheus.

use std::net::SocketAddr;

use anyhow::{Result, ensure};

use crate::data;
use crate::load::Line;

/// The figures of one moment.
pub(crate) struct Metrics(String);

impl Metrics {
    /// # Errors
    /// The server does not tell them.
    pub(crate) fn read(server: SocketAddr) -> Result<Metrics> {
        let answer = Line::to(server).ask(&data::get("/metrics", &[]))?;
        ensure!(answer.status == 200, "/metrics answers {}", answer.status);
        Ok(Metrics(String::from_utf8_lossy(&answer.body).into_owned()))
    }

    /// A metric, all its series together.
    ///
    /// # Errors
    /// There is none of that name.
    pub(crate) fn sum(&self, name: &str) -> Result<f64> {
        let mut values = self.0.lines().filter_map(|line| value(line, name)).peekable();
        ensure!(values.peek().is_some(), "there is no metric {name}");
        Ok(values.sum())
    }
}

/// The value of a line if it is of that metric and no other.
fn value(line: &str, name: &str) -> Option<f64> {
    let rest = line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '{']))?;
    rest.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_found_by_their_whole_name() {
        let text =
            "# HELP lots_bytes x\nlots_bytes_total 1\nlots_bytes{a=\"b\"} 42\nlots_bytes{a=\"c d\"} 2\n";
        let metrics = Metrics(text.into());
        assert_eq!(metrics.sum("lots_bytes").unwrap(), 44.0);
        assert_eq!(metrics.sum("lots_bytes_total").unwrap(), 1.0);
        assert!(metrics.sum("lots").is_err());
    }
}
