-- Leads: what shoppers asked of a dealer, the keys by which a request is known again, and the appointments.
--
-- Requests and answers are JSON as text, where U+0000 is an escape: PostgreSQL can hold it neither in a text nor in
-- jsonb. No foreign keys: a check per row would be a good part of the cost of a lead, and tenants are never deleted.

create table leads (
    tenant_id    uuid        not null,
    lead_id      uuid        not null,
    contract     text        collate "C" not null,
    -- Which interface it came in by, and who sent it: a key, else the declared agent, else an address.
    door         text        collate "C" not null,
    caller       text        collate "C" not null,
    received_at  timestamptz not null,
    status       text        collate "C" not null default 'received' check (status in ('received', 'rejected')),
    -- Of the rooftop that it is about, where that is known.
    rooftop      text        collate "C",
    -- The request as it came.
    request      text        not null,
    request_hash bytea       not null check (octet_length(request_hash) = 32),
    -- The ConsentGrant as it came: the audit record.
    consent      text        not null,
    -- What an equivalent lead is known by: hashes of the normalised address, number and vehicle.
    email_hash   bytea       check (octet_length(email_hash) = 16),
    phone_hash   bytea       check (octet_length(phone_hash) = 16),
    vehicle_hash bytea       not null check (octet_length(vehicle_hash) = 16),
    primary key (tenant_id, lead_id)
);
create index leads_email on leads (tenant_id, email_hash, vehicle_hash, received_at) where email_hash is not null;
create index leads_phone on leads (tenant_id, phone_hash, vehicle_hash, received_at) where phone_hash is not null;

-- What was sent again for a lead that was there: nothing that a shopper said is lost.
create table lead_notes (
    tenant_id    uuid        not null,
    lead_id      uuid        not null,
    note_id      uuid        not null,
    contract     text        collate "C" not null,
    door         text        collate "C" not null,
    caller       text        collate "C" not null,
    received_at  timestamptz not null,
    request      text        not null,
    request_hash bytea       not null check (octet_length(request_hash) = 32),
    consent      text        not null,
    -- By what the lead is known since then and was not before.
    email_hash   bytea       check (octet_length(email_hash) = 16),
    phone_hash   bytea       check (octet_length(phone_hash) = 16),
    vehicle_hash bytea       not null check (octet_length(vehicle_hash) = 16),
    primary key (tenant_id, lead_id, note_id),
    -- The same words a second time say nothing new.
    unique (tenant_id, lead_id, request_hash)
);
create index lead_notes_email on lead_notes (tenant_id, email_hash, vehicle_hash, received_at)
    where email_hash is not null;
create index lead_notes_phone on lead_notes (tenant_id, phone_hash, vehicle_hash, received_at)
    where phone_hash is not null;

-- Requests that were answered, for as long as they are to be known again.
create table lead_keys (
    tenant_id    uuid        not null,
    contract     text        collate "C" not null,
    -- UTF-8; a text could not hold U+0000.
    key          bytea       not null,
    request_hash bytea       not null check (octet_length(request_hash) = 32),
    lead_id      uuid        not null,
    -- The payload that was answered.
    answer       text        not null,
    expires_at   timestamptz not null,
    primary key (tenant_id, contract, key)
);
create index lead_keys_expires_at on lead_keys (expires_at);

create table appointments (
    tenant_id      uuid        not null,
    appointment_id uuid        not null,
    lead_id        uuid        not null,
    rooftop        text        collate "C" not null,
    department     text        collate "C" not null check (department in ('sales', 'service')),
    kind           text        collate "C" not null
                               check (kind in ('sales', 'service', 'test_drive', 'trade_in')),
    status         text        collate "C" not null
                               check (status in ('requested', 'proposed', 'confirmed', 'rejected')),
    -- What was asked for; of a confirmed one, what is booked.
    start_at       timestamptz,
    end_at         timestamptz,
    proposed       timestamptz[] not null default '{}',
    asked_at       timestamptz not null,
    primary key (tenant_id, appointment_id),
    -- Asked again, the same visit of the same lead is moved.
    unique (tenant_id, lead_id, kind),
    check (status <> 'confirmed' or (start_at is not null and end_at > start_at))
);
create index appointments_booked on appointments (tenant_id, rooftop, department, end_at)
    where status = 'confirmed';

do $$
begin
    alter table leads alter column request set compression lz4;
    alter table leads alter column consent set compression lz4;
    alter table lead_notes alter column request set compression lz4;
    alter table lead_notes alter column consent set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
    raise notice 'this server has no lz4; documents use the default compression';
end
$$;

-- Waits for its turn, then looks: what was answered to the key, and the earliest equivalent lead since a moment,
-- which is known by what was added to it as well.
-- A function, because a statement that waited reads what was there before it waited; here each has its own look, in
-- one round trip. Turns are numbers in ascending order, so that nobody waits in a circle; they end with the
-- transaction. A process that hangs with a turn must not hang the others, and nobody is waited for longer than
-- whoever sent the lead waits for us: that holds until the transaction ends.
create function lead_turn(of_tenant uuid, turns bigint[], of_contract text, of_key bytea,
                          email bytea, phone bytea, vehicle bytea, at timestamptz, since timestamptz)
    returns table (known_hash bytea, known_answer text, earlier_lead uuid, earlier_caller text)
    language plpgsql set search_path = forecourt, pg_temp
as $$
declare
    turn bigint;
begin
    perform set_config('lock_timeout', '4s', true);
    foreach turn in array turns loop
        perform pg_advisory_xact_lock(turn);
    end loop;
    return query
        select k.request_hash, k.answer, e.lead_id, e.caller
        from (select 1) one
             left join lateral (
                 select lk.request_hash, lk.answer from lead_keys lk
                 where lk.tenant_id = of_tenant and lk.contract = of_contract and lk.key = of_key
                       and lk.expires_at > at
             ) k on true
             left join lateral (
                 select f.lead_id, f.caller from (
                     (select l.lead_id, l.caller, l.received_at from leads l
                      where l.tenant_id = of_tenant and l.email_hash = email and l.vehicle_hash = vehicle
                            and l.received_at > since
                      order by l.received_at limit 1)
                     union all
                     (select l.lead_id, l.caller, l.received_at from leads l
                      where l.tenant_id = of_tenant and l.phone_hash = phone and l.vehicle_hash = vehicle
                            and l.received_at > since
                      order by l.received_at limit 1)
                     union all
                     (select l.lead_id, l.caller, l.received_at
                      from lead_notes n join leads l on l.tenant_id = n.tenant_id and l.lead_id = n.lead_id
                      where n.tenant_id = of_tenant and n.email_hash = email and n.vehicle_hash = vehicle
                            and n.received_at > since and l.received_at > since
                      order by l.received_at limit 1)
                     union all
                     (select l.lead_id, l.caller, l.received_at
                      from lead_notes n join leads l on l.tenant_id = n.tenant_id and l.lead_id = n.lead_id
                      where n.tenant_id = of_tenant and n.phone_hash = phone and n.vehicle_hash = vehicle
                            and n.received_at > since and l.received_at > since
                      order by l.received_at limit 1)
                 ) f order by f.received_at, f.lead_id limit 1
             ) e on true;
end
$$;

alter table leads        enable row level security;
alter table lead_notes   enable row level security;
alter table lead_keys    enable row level security;
alter table appointments enable row level security;

create policy tenant   on leads to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on leads to forecourt_platform using (true) with check (true);
create policy tenant   on lead_notes to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on lead_notes to forecourt_platform using (true) with check (true);
create policy tenant   on lead_keys to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on lead_keys to forecourt_platform using (true) with check (true);
create policy tenant   on appointments to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on appointments to forecourt_platform using (true) with check (true);

revoke all on function lead_turn(uuid, bigint[], text, bytea, bytea, bytea, bytea, timestamptz, timestamptz)
    from public;
grant execute on function lead_turn(uuid, bigint[], text, bytea, bytea, bytea, bytea, timestamptz, timestamptz)
    to forecourt_app;

-- A lead and what was added to it stay as they came.
grant select, insert         on leads        to forecourt_app;
grant select, insert         on lead_notes   to forecourt_app;
grant select, insert, update on lead_keys    to forecourt_app;
grant select, insert, update on appointments to forecourt_app;
-- Keys that expired are swept.
grant select, delete         on lead_keys    to forecourt_platform;
