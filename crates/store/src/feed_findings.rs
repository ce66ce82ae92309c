//! Table `feed_findings`: what was found in a file, row by row.

use tracing::instrument;
use uuid::Uuid;

use crate::error::Error;
use crate::tenant::TenantTx;

/// A finding, in the words of the `feeds` crate. Texts must not hold U+0000.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingRow {
    /// Its place in the run, from 0; with the run it is the key.
    pub no: i32,
    /// What it is.
    pub code: String,
    /// How much it weighs.
    pub level: String,
    /// Number of the record; `None` where the file as a whole is meant.
    pub source_row: Option<i32>,
    /// The member that it is about.
    pub field: Option<String>,
    /// The column as the file names it.
    pub column: Option<String>,
    /// The value as it came, shortened.
    pub value: Option<String>,
    /// VIN of the row as it came.
    pub vin: Option<String>,
    /// Stock number of the row.
    pub stock: Option<String>,
    /// The surviving row of a duplicate.
    pub kept_row: Option<i32>,
}

/// Which findings are wanted; the default is all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FindingFilter<'a> {
    /// Only those of this code.
    pub code: Option<&'a str>,
    /// Only those of this weight.
    pub level: Option<&'a str>,
}

/// Rows a statement carries.
const CHUNK: usize = 2000;

impl TenantTx {
    /// Adds findings of a run; those whose place is taken already are left out, so that work done again adds nothing.
    #[instrument(name = "store.add_findings", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "insert feed_findings", rows = findings.len()))]
    pub async fn add_findings(&mut self, run: Uuid, findings: &[FindingRow]) -> Result<(), Error> {
        let id = self.id();
        for chunk in findings.chunks(CHUNK) {
            let maybe =
                |of: fn(&FindingRow) -> Option<&str>| -> Vec<Option<&str>> { chunk.iter().map(of).collect() };
            let numbers: Vec<i32> = chunk.iter().map(|one| one.no).collect();
            let codes: Vec<&str> = chunk.iter().map(|one| one.code.as_str()).collect();
            let levels: Vec<&str> = chunk.iter().map(|one| one.level.as_str()).collect();
            let rows: Vec<Option<i32>> = chunk.iter().map(|one| one.source_row).collect();
            let kept: Vec<Option<i32>> = chunk.iter().map(|one| one.kept_row).collect();
            sqlx::query!(
                "insert into feed_findings (tenant_id, run_id, no, code, level, source_row, field, column_name, value,
                                            vin, stock, kept_row)
                 select $1, $2, f.no, f.code, f.level, f.source_row, f.field, f.column_name, f.value, f.vin, f.stock,
                        f.kept_row
                 from unnest($3::integer[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[],
                             $10::text[], $11::text[], $12::integer[])
                      as f (no, code, level, source_row, field, column_name, value, vin, stock, kept_row)
                 on conflict do nothing",
                id.0,
                run,
                &numbers,
                &codes as &[&str],
                &levels as &[&str],
                &rows as &[Option<i32>],
                &maybe(|one| one.field.as_deref()) as &[Option<&str>],
                &maybe(|one| one.column.as_deref()) as &[Option<&str>],
                &maybe(|one| one.value.as_deref()) as &[Option<&str>],
                &maybe(|one| one.vin.as_deref()) as &[Option<&str>],
                &maybe(|one| one.stock.as_deref()) as &[Option<&str>],
                &kept as &[Option<i32>],
            )
            .execute(self.conn())
            .await?;
        }
        Ok(())
    }

    /// Findings of a run in their order, those after the place `after` (`None`: from the first).
    #[instrument(name = "store.findings", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_findings"))]
    pub async fn findings(
        &mut self,
        run: Uuid,
        filter: FindingFilter<'_>,
        after: Option<i32>,
        limit: u32,
    ) -> Result<Vec<FindingRow>, Error> {
        let id = self.id();
        Ok(sqlx::query_as!(
            FindingRow,
            r#"select no, code, level, source_row, field, column_name as "column", value, vin, stock, kept_row
               from feed_findings
               where tenant_id = $1 and run_id = $2 and no > $3 and ($4::text is null or code = $4)
                 and ($5::text is null or level = $5)
               order by no limit $6"#,
            id.0,
            run,
            after.unwrap_or(-1),
            filter.code,
            filter.level,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Findings of rows with this VIN or this stock number, with their runs, the latest run first.
    #[instrument(name = "store.findings_about", skip_all, fields(otel.kind = "client", db.system = "postgresql", db.operation = "select feed_findings"))]
    pub async fn findings_about(
        &mut self,
        vin: Option<&str>,
        stock: Option<&str>,
        limit: u32,
    ) -> Result<Vec<(Uuid, FindingRow)>, Error> {
        let id = self.id();
        Ok(sqlx::query!(
            "select run_id, no, code, level, source_row, field, column_name, value, vin, stock, kept_row
             from feed_findings where tenant_id = $1 and (vin = $2 or stock = $3)
             order by run_id desc, no limit $4",
            id.0,
            vin,
            stock,
            i64::from(limit)
        )
        .fetch_all(self.conn())
        .await?
        .into_iter()
        .map(|row| {
            let finding = FindingRow {
                no: row.no,
                code: row.code,
                level: row.level,
                source_row: row.source_row,
                field: row.field,
                column: row.column_name,
                value: row.value,
                vin: row.vin,
                stock: row.stock,
                kept_row: row.kept_row,
            };
            (row.run_id, finding)
        })
        .collect())
    }
}
