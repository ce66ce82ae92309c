-- Feeds: sources, the files that they sent, the runs that those became, what was found, what each source says of each
-- unit, what a person decided, the story of every unit, and the jobs that drive all of it.
--
-- No foreign keys: a check per row would be a good part of the cost of an import, and tenants are never deleted.

-- When the lot was last confirmed by its sources, and until when answers need not say how old it is. Null for a
-- dealer without sources. Neither changes a version: every process sees them in its poll.
alter table tenant_inventory add column confirmed_at timestamptz, add column fresh_until timestamptz;

create table feed_sources (
    tenant_id          uuid        not null,
    source_id          uuid        not null,
    name               text        not null check (name <> ''),
    kind               text        collate "C" not null check (kind in ('file', 'https', 'folder', 'push')),
    enabled            boolean     not null default true,
    settings           jsonb       not null,
    -- Raised by every change of a person, who must have seen the one before.
    revision           bigint      not null default 1,
    -- Encrypted; the key is not in the database.
    credentials        bytea,
    push_token_hash    bytea       check (octet_length(push_token_hash) = 32),
    -- Separator and columns of the first good file.
    signature          jsonb,
    etag               text,
    last_modified      text,
    next_fetch_at      timestamptz,
    last_full_fetch_at timestamptz,
    last_good_at       timestamptz,
    silent_after_s     bigint      not null check (silent_after_s > 0),
    created_at         timestamptz not null,
    created_by         text        not null,
    -- Removed ones stay, so that the story of a unit can name them.
    removed_at         timestamptz,
    primary key (tenant_id, source_id)
);
create unique index feed_sources_name on feed_sources (tenant_id, lower(name)) where removed_at is null;
create unique index feed_sources_push_token on feed_sources (tenant_id, push_token_hash);
-- A source is also addressed by its id alone.
create index feed_sources_id on feed_sources (source_id);
create index feed_sources_due on feed_sources (next_fetch_at) where next_fetch_at is not null and removed_at is null;

-- What was received, and the units that were read from it. One row for one content.
create table feed_files (
    tenant_id    uuid        not null,
    file_id      uuid        not null,
    -- Of the bytes before they were packed; null until all of them are there.
    sha256       bytea       check (octet_length(sha256) = 32),
    bytes        bigint      not null default 0,
    packed_bytes bigint      not null default 0,
    created_at   timestamptz not null,
    keep_until   timestamptz not null,
    primary key (tenant_id, file_id),
    unique (tenant_id, sha256)
);
create index feed_files_keep_until on feed_files (keep_until);

create table feed_file_chunks (
    tenant_id uuid    not null,
    file_id   uuid    not null,
    no        integer not null check (no >= 0),
    body      bytea   not null,
    primary key (tenant_id, file_id, no)
);
-- They are packed already.
alter table feed_file_chunks alter column body set storage external;

create table feed_runs (
    tenant_id         uuid        not null,
    run_id            uuid        not null,
    source_id         uuid        not null,
    state             text        collate "C" not null
                                  check (state in ('received', 'parsed', 'checked', 'held', 'applied', 'unchanged',
                                                   'failed', 'rejected', 'superseded')),
    mode              text        collate "C" not null default 'full' check (mode in ('full', 'delta')),
    cause             text        collate "C" not null,
    actor             text        not null,
    -- The run that this one repeats: the one rolled back to.
    of_run            uuid,
    file_id           uuid,
    file_name         text        not null,
    file_bytes        bigint      not null,
    units_file_id     uuid,
    idempotency_key   text,
    received_at       timestamptz not null,
    -- By the sender's own word.
    generated_at      timestamptz,
    started_at        timestamptz,
    decided_at        timestamptz,
    decided_by        text,
    finished_at       timestamptz,
    inventory_version bigint,
    detected          jsonb,
    signature         jsonb,
    counts            jsonb,
    by_rooftop        jsonb,
    by_code           jsonb,
    verdict           jsonb,
    diff              jsonb,
    timings           jsonb,
    failure           text,
    -- Rows of feed_findings go earlier than the run.
    findings_kept     boolean     not null default true,
    primary key (tenant_id, run_id)
);
create index feed_runs_source on feed_runs (tenant_id, source_id, run_id);
create unique index feed_runs_key on feed_runs (tenant_id, source_id, idempotency_key)
    where idempotency_key is not null;
-- A run is also addressed by its id alone, and listed across tenants; ids ascend with time.
create index feed_runs_id on feed_runs (run_id);
create index feed_runs_open on feed_runs (tenant_id, source_id)
    where state in ('received', 'parsed', 'checked', 'held');

create table feed_findings (
    tenant_id   uuid    not null,
    run_id      uuid    not null,
    no          integer not null,
    code        text    collate "C" not null,
    level       text    collate "C" not null,
    source_row  integer,
    field       text,
    column_name text,
    value       text,
    vin         text    collate "C",
    stock       text    collate "C",
    kept_row    integer,
    primary key (tenant_id, run_id, no)
);
create index feed_findings_vin on feed_findings (tenant_id, vin) where vin is not null;
create index feed_findings_stock on feed_findings (tenant_id, stock) where stock is not null;

create table feed_notices (
    tenant_id   uuid        not null,
    notice_id   uuid        not null,
    kind        text        collate "C" not null,
    severity    text        collate "C" not null check (severity in ('info', 'warning', 'error')),
    source_id   uuid,
    run_id      uuid,
    sentence    text        not null,
    data        jsonb       not null default '{}',
    created_at  timestamptz not null,
    seen_at     timestamptz,
    resolved_at timestamptz,
    -- At most one open notice has it.
    once_key    text        collate "C",
    primary key (tenant_id, notice_id)
);
create unique index feed_notices_once on feed_notices (tenant_id, once_key)
    where once_key is not null and resolved_at is null;
create index feed_notices_id on feed_notices (notice_id);

-- What each source last said of each unit. Written with every import: one narrow row and the key, nothing else.
create table source_units (
    tenant_id   uuid    not null,
    source_id   uuid    not null,
    vehicle_id  text    collate "C" not null,
    vin         text    collate "C",
    stock       text    collate "C",
    rooftop_key text    collate "C",
    price       bigint,
    unit_hash   bytea   not null check (octet_length(unit_hash) = 32),
    run_id      uuid    not null,
    source_row  integer not null,
    -- The unit as JSON, packed by the program: rows are below the size at which PostgreSQL would.
    unit        bytea   not null,
    primary key (tenant_id, source_id, vehicle_id)
);
alter table source_units alter column unit set storage external;

-- Ids that units keep although what they are recognised by changed.
create table vehicle_aliases (
    tenant_id  uuid        not null,
    -- What their VIN or stock number would make of them.
    identity   text        collate "C" not null,
    vehicle_id text        collate "C" not null,
    created_at timestamptz not null,
    primary key (tenant_id, identity)
);

-- Fields that a person set: no source changes them until the lock is lifted or expires.
create table vehicle_edits (
    tenant_id  uuid        not null,
    vehicle_id text        collate "C" not null,
    field      text        collate "C" not null,
    -- JSON null: the field is blank on purpose.
    value      jsonb       not null,
    author     text        not null,
    note       text,
    edited_at  timestamptz not null,
    expires_at timestamptz,
    primary key (tenant_id, vehicle_id, field)
);
create index vehicle_edits_expires_at on vehicle_edits (expires_at) where expires_at is not null;

create table vehicle_history (
    tenant_id  uuid        not null,
    vehicle_id text        collate "C" not null,
    seq        bigint      generated always as identity,
    at         timestamptz not null,
    -- The inventory version that shows it.
    version    bigint      not null,
    kind       text        collate "C" not null,
    field      text        collate "C",
    -- JSON as text, which can hold every character.
    old        text,
    new        text,
    reason     text,
    source_id  uuid,
    run_id     uuid,
    actor      text,
    primary key (tenant_id, vehicle_id, seq)
);
-- For the sweep. Rows come in the order of their time, so this is a few pages.
create index vehicle_history_at on vehicle_history using brin (at);

-- Work to be done once. `job_no` is the order in which it came.
create table jobs (
    -- The nil UUID for work of the platform.
    tenant_id    uuid        not null,
    job_no       bigint      generated always as identity,
    kind         text        collate "C" not null,
    -- Of the jobs of one lane one runs at a time, the oldest first.
    lane         text        collate "C" not null,
    payload      jsonb       not null default '{}',
    weight       integer     not null default 1,
    run_at       timestamptz not null,
    attempts     integer     not null default 0,
    max_attempts integer     not null check (max_attempts > 0),
    -- Who does it, until when it is theirs; owner and number of the attempt together are never given twice.
    owner        text,
    leased_until timestamptz,
    last_error   text,
    failed_at    timestamptz,
    -- At most one job that is not done has it.
    once_key     text        collate "C",
    created_at   timestamptz not null default clock_timestamp(),
    primary key (tenant_id, job_no)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index jobs_lane on jobs (tenant_id, lane, job_no) where failed_at is null;
create unique index jobs_once on jobs (tenant_id, once_key) where once_key is not null and failed_at is null;

-- When each tenant last had a turn, so that the one that waited longest is next.
create table job_turns (
    tenant_id uuid        primary key,
    served_at timestamptz not null
) with (fillfactor = 70);

-- Gives the next job to `by_owner`: of the tenants that have one ready, the one that was served longest ago; of its
-- lanes the one with the oldest job; of a lane always the oldest. One that is to be tried again keeps its place, those
-- behind it wait.
-- A function, because whether a lane is free must be looked at after it was locked: each statement here has its own
-- look. The lock is the lane's, of nobody else, and ends with this short transaction; nobody waits for it.
create function claim_job(of_kinds text[], by_owner text, lease interval, max_weight integer) returns setof jobs
    language plpgsql set search_path = forecourt, pg_temp
as $$
declare
    head record;
    claimed jobs;
begin
    for head in
        select h.tenant_id, h.lane, h.job_no
        from (select distinct on (j.tenant_id, j.lane) j.tenant_id, j.lane, j.job_no, j.kind, j.weight, j.run_at,
                     j.leased_until
              from jobs j
              where j.failed_at is null and (j.attempts > 0 or j.run_at <= clock_timestamp())
              order by j.tenant_id, j.lane, j.job_no) h
             left join job_turns t on t.tenant_id = h.tenant_id
        where h.kind = any(of_kinds) and h.weight <= max_weight and h.run_at <= clock_timestamp()
              and (h.leased_until is null or h.leased_until <= clock_timestamp())
        order by t.served_at nulls first, h.job_no
    loop
        continue when not pg_try_advisory_xact_lock(
            hashtextextended(head.tenant_id::text || '/' || head.lane, 20260601));
        update jobs j
        set owner = by_owner, leased_until = clock_timestamp() + lease, attempts = j.attempts + 1
        where j.tenant_id = head.tenant_id and j.job_no = (
                  -- Not waited for: whoever holds the row is just finishing it.
                  select f.job_no from jobs f
                  where f.tenant_id = head.tenant_id and f.job_no = head.job_no and f.failed_at is null
                        and f.run_at <= clock_timestamp()
                        and (f.leased_until is null or f.leased_until <= clock_timestamp())
                        and not exists (
                            select from jobs o
                            where o.tenant_id = f.tenant_id and o.lane = f.lane and o.failed_at is null
                                  and o.job_no <> f.job_no
                                  and (o.leased_until > clock_timestamp()
                                       or o.job_no < f.job_no
                                          and (o.attempts > 0 or o.run_at <= clock_timestamp())))
                  for update skip locked)
        returning j.* into claimed;
        if found then
            insert into job_turns as t (tenant_id, served_at) values (claimed.tenant_id, clock_timestamp())
            on conflict (tenant_id) do update set served_at = excluded.served_at;
            return next claimed;
            return;
        end if;
    end loop;
end
$$;

alter table feed_sources     enable row level security;
alter table feed_files       enable row level security;
alter table feed_file_chunks enable row level security;
alter table feed_runs        enable row level security;
alter table feed_findings    enable row level security;
alter table feed_notices     enable row level security;
alter table source_units     enable row level security;
alter table vehicle_aliases  enable row level security;
alter table vehicle_edits    enable row level security;
alter table vehicle_history  enable row level security;
alter table jobs             enable row level security;
alter table job_turns        enable row level security;

create policy tenant   on feed_sources to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on feed_sources to forecourt_platform using (true) with check (true);
create policy tenant   on feed_files to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on feed_files to forecourt_platform using (true) with check (true);
create policy tenant   on feed_file_chunks to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on feed_file_chunks to forecourt_platform using (true) with check (true);
create policy tenant   on feed_runs to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on feed_runs to forecourt_platform using (true) with check (true);
create policy tenant   on feed_findings to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on feed_findings to forecourt_platform using (true) with check (true);
create policy tenant   on feed_notices to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on feed_notices to forecourt_platform using (true) with check (true);
create policy tenant   on source_units to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on source_units to forecourt_platform using (true) with check (true);
create policy tenant   on vehicle_aliases to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on vehicle_aliases to forecourt_platform using (true) with check (true);
create policy tenant   on vehicle_edits to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on vehicle_edits to forecourt_platform using (true) with check (true);
create policy tenant   on vehicle_history to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on vehicle_history to forecourt_platform using (true) with check (true);
create policy tenant   on jobs to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on jobs to forecourt_platform using (true) with check (true);
create policy tenant   on job_turns to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on job_turns to forecourt_platform using (true) with check (true);

revoke all on function claim_job(text[], text, interval, integer) from public;
grant execute on function claim_job(text[], text, interval, integer) to forecourt_platform;

grant select, insert, update         on feed_sources     to forecourt_app;
grant select, insert, update, delete on feed_files       to forecourt_app;
grant select, insert, delete         on feed_file_chunks to forecourt_app;
grant select, insert, update         on feed_runs        to forecourt_app;
grant select, insert                 on feed_findings    to forecourt_app;
grant select, insert                 on feed_notices     to forecourt_app;
grant update (seen_at, resolved_at)  on feed_notices     to forecourt_app;
grant select, insert, update, delete on source_units     to forecourt_app;
grant select, insert, update         on vehicle_aliases  to forecourt_app;
grant select, insert, update, delete on vehicle_edits    to forecourt_app;
-- The story is added to and nothing else.
grant select, insert                 on vehicle_history  to forecourt_app;
-- A job that is done is deleted in the transaction that did it.
grant select, insert, delete         on jobs             to forecourt_app;

grant select                         on feed_sources     to forecourt_platform;
grant select, update, delete         on feed_files       to forecourt_platform;
grant select, delete                 on feed_file_chunks to forecourt_platform;
grant select, delete                 on feed_runs        to forecourt_platform;
grant update (findings_kept)         on feed_runs        to forecourt_platform;
grant select, delete                 on feed_findings    to forecourt_platform;
grant select, delete                 on feed_notices     to forecourt_platform;
grant select                         on vehicle_edits    to forecourt_platform;
grant select, delete                 on vehicle_history  to forecourt_platform;
grant select, insert, update, delete on jobs             to forecourt_platform;
grant select, insert, update         on job_turns        to forecourt_platform;
