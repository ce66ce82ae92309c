-- Whole lots that senders push in several parts: which parts are there. The parts themselves are files. A part that
-- waits for the others for longer than a day is forgotten.
create table feed_parts (
    tenant_id  uuid        not null,
    source_id  uuid        not null,
    snapshot   text        collate "C" not null,
    no         integer     not null,
    of         integer     not null,
    file_id    uuid        not null,
    created_at timestamptz not null,
    primary key (tenant_id, source_id, snapshot, no)
);

alter table feed_parts enable row level security;
create policy tenant   on feed_parts to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on feed_parts to forecourt_platform using (true) with check (true);
grant select, insert, delete on feed_parts to forecourt_app;
