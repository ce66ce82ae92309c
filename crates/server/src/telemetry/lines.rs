//! The shape of log lines.

use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer, format};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt as lines};

type Boxed<S> = Box<dyn Layer<S> + Send + Sync>;

/// Lines for people: local time, level, the request they belong to, what happened.
pub(super) fn pretty<S>(filter: Targets, colours: bool) -> Boxed<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let shape = format().with_target(false).with_timer(Clock).with_ansi(colours);
    let layer = lines::layer().with_writer(std::io::stderr).with_ansi(colours);
    layer.event_format(Sifted { filter, shape }).boxed()
}

/// One JSON object a line.
pub(super) fn json<S>(filter: Targets) -> Boxed<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let layer = lines::layer().with_writer(std::io::stderr).with_ansi(false);
    layer.fmt_fields(Members).event_format(Sifted { filter, shape: Flat }).boxed()
}

/// Writes the lines that the filter lets through, in some shape.
struct Sifted<F> {
    filter: Targets,
    shape: F,
}

impl<S, N, F> FormatEvent<S, N> for Sifted<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata: &Metadata<'_> = event.metadata();
        if self.filter.would_enable(metadata.target(), metadata.level()) {
            self.shape.format_event(context, writer, event)
        } else {
            Ok(())
        }
    }
}

struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", chrono::Local::now().format("%H:%M:%S%.3f"))
    }
}

/// A flat object: the fields of all spans around the event, outermost first, then the event's own. So a request's
/// id and tenant stand at the top level of every line that belongs to it, and a log search needs no nesting.
struct Flat;

/// Fields that speak to a trace collector only.
fn for_traces_only(name: &str) -> bool {
    name.starts_with("otel.")
}

/// A span's fields as members of a JSON object, each with a comma behind it, so that more can be appended.
///
/// Every request makes a span and few write a line: what comes with the span must cost little. The library's own
/// JSON fields are read and written anew whenever a field is added, which took a tenth of a search.
struct Members;

impl<'w> FormatFields<'w> for Members {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        // Built apart, so that the writer's own text is allocated once and in its size.
        let mut members = String::with_capacity(192);
        fields.record(&mut Appended(&mut members));
        writer.write_str(&members)
    }

    fn add_fields(&self, current: &'w mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        fields.record(&mut Appended(&mut current.fields));
        Ok(())
    }
}

/// Writes members, for [`Members`].
struct Appended<'a>(&'a mut String);

impl Appended<'_> {
    fn name(&mut self, field: &Field) {
        self.0.push('"');
        // A name in the source is an identifier or a literal without anything to escape.
        self.0.push_str(field.name());
        self.0.push_str("\":");
    }

    /// A text, written by `write` and then escaped if it must be, which is rare.
    fn text(&mut self, field: &Field, write: impl FnOnce(&mut String)) {
        self.name(field);
        self.0.push('"');
        let begin = self.0.len();
        write(self.0);
        let odd = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
        let written = self.0.as_bytes().get(begin..).unwrap_or_default();
        // All of it is looked at, so that the processor may look at many bytes at once.
        if !written.iter().fold(false, |found, byte| found | odd(*byte)) {
            self.0.push_str("\",");
        } else {
            let text = Value::from(self.0.split_off(begin)).to_string();
            self.0.push_str(text.get(1..).unwrap_or_default());
            self.0.push(',');
        }
    }

    fn value(&mut self, field: &Field, value: &Value) {
        self.name(field);
        self.0.push_str(&value.to_string());
        self.0.push(',');
    }
}

impl Visit for Appended<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, |line| {
            // Fails only if the value's own `fmt` does; what it wrote so far is kept.
            let _ = fmt::Write::write_fmt(line, format_args!("{value:?}"));
        });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, |line| line.push_str(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.value(field, &value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.value(field, &value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.value(field, &value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.value(field, &value.into());
    }
}

/// What [`Members`] wrote; of a repeated member the last one counts.
fn members(text: &str) -> Map<String, Value> {
    let inner = text.strip_suffix(',').unwrap_or(text);
    serde_json::from_str(&format!("{{{inner}}}")).unwrap_or_default()
}

impl<S> FormatEvent<S, Members> for Flat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, Members>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Map::new();
        if let Some(scope) = context.event_scope() {
            let mut innermost = None;
            for span in scope.from_root() {
                if let Some(fields) = span.extensions().get::<FormattedFields<Members>>() {
                    line.extend(members(fields));
                }
                innermost = Some(span.id());
            }
            if let Some(trace) = innermost.and_then(|id| super::traces::trace_id(&id)) {
                line.insert("trace_id".to_owned(), trace.into());
            }
        }
        event.record(&mut Fields(&mut line));
        line.retain(|name, _| {
            !for_traces_only(name) && !["time", "level", "target"].contains(&name.as_str())
        });
        let metadata = event.metadata();
        // What every line has comes first, for those who read the raw text.
        write!(
            writer,
            r#"{{"time":"{}","level":"{}","target":{}"#,
            chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
            metadata.level(),
            Value::from(metadata.target()),
        )?;
        for (name, value) in &line {
            write!(writer, ",{}:{value}", Value::from(name.as_str()))?;
        }
        writeln!(writer, "}}")
    }
}

/// Writes an event's fields into a line.
struct Fields<'a>(&'a mut Map<String, Value>);

impl Fields<'_> {
    fn set(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.set(field, crate::failure::chain(value).into());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_is_one_object_with_the_fields_of_all_spans() {
        let sink = Sink::default();
        let writer = sink.clone();
        let layer = lines::layer().with_writer(move || writer.clone());
        let layer = layer.fmt_fields(Members).event_format(Flat);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let request = tracing::info_span!("request", request.id = "r-1", tenant = tracing::field::Empty);
            request.record("tenant", "har\"bor\n");
            request.record("tenant", "harbor");
            let _outer = request.enter();
            let _inner = tracing::info_span!("statement", rows = 3).entered();
            tracing::warn!(took_ms = 1.5, ok = false, "two\nlines and a \"quote\"");
        });
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        for (name, value) in [
            ("request.id", Value::from("r-1")),
            ("tenant", "harbor".into()),
            ("rows", 3.into()),
            ("took_ms", 1.5.into()),
            ("ok", false.into()),
            ("message", "two\nlines and a \"quote\"".into()),
            ("level", "WARN".into()),
        ] {
            assert_eq!(line[name], value, "{name} in {text}");
        }
        assert!(line["time"].as_str().unwrap().ends_with('Z'));
    }
}
