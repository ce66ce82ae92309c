-- Former versions of a lot, for as long as a cursor that names one can be alive (15 minutes): a process that never
-- held a version rebuilds it, so that a buyer pages on through the lot that the first page came from.
--
-- Unlogged: nothing here is worth a write-ahead log, and what a crash empties is only refused as an old cursor.
-- A version is rebuilt only if every version after it is in `inventory_versions`, which a crash empties as well.

alter table tenant_inventory add column units bigint not null default 0;
comment on column tenant_inventory.units is 'How many units are on offer: decides how a lot is loaded.';
update tenant_inventory i set units = (select count(*) from vehicles v where v.tenant_id = i.tenant_id);

create unlogged table inventory_versions (
    tenant_id    uuid        not null,
    version      bigint      not null,
    published_at timestamptz not null,
    primary key (tenant_id, version)
);
create index inventory_versions_published_at on inventory_versions (published_at);

create unlogged table superseded_vehicles (
    tenant_id         uuid        not null,
    vehicle_id        text        collate "C" not null,
    -- The first version that had the row like this, and the first that had it otherwise or not at all.
    written_by        bigint      not null,
    replaced_by       bigint      not null,
    vin               text        collate "C",
    stock             text        collate "C",
    status            text        collate "C" not null,
    condition         text        collate "C",
    vehicle_type      text        collate "C" not null,
    rooftop           text        collate "C",
    year              integer,
    make              text        collate "C",
    model             text        collate "C",
    trim              text        collate "C",
    body              text        collate "C",
    fuel              text        collate "C",
    driveline         text        collate "C",
    transmission      text        collate "C",
    engine            text        collate "C",
    exterior_color    text        collate "C",
    interior_color    text        collate "C",
    charge_port       text        collate "C",
    dc_fast_charge    boolean,
    price_usd         bigint,
    list_price_usd    bigint,
    msrp_usd          bigint,
    mileage_mi        bigint,
    displacement_cc   bigint,
    electric_range_mi double precision,
    features          text[]      not null,
    description       text,
    updated_at        timestamptz not null,
    content_hash      bytea       not null,
    -- No detail document: former versions are only paged through.
    listing           text        not null,
    primary key (tenant_id, vehicle_id, replaced_by)
);
create index superseded_vehicles_replaced_by on superseded_vehicles (tenant_id, replaced_by);

do $$
begin
    alter table superseded_vehicles alter column listing set compression lz4;
    alter table superseded_vehicles alter column description set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
    raise notice 'this server has no lz4; documents use the default compression';
end
$$;

-- Triggers rather than statements of each writer: no writer can forget them. The writer holds the tenant's row of
-- `tenant_inventory` and raises its version by one at the end. Rows that it wrote itself, and writes again, were
-- never part of a version.
create function keep_superseded() returns trigger
    language plpgsql set search_path = forecourt, pg_temp
as $$
begin
    insert into superseded_vehicles
        (tenant_id, vehicle_id, written_by, replaced_by, vin, stock, status, condition, vehicle_type, rooftop, year,
         make, model, trim, body, fuel, driveline, transmission, engine, exterior_color, interior_color, charge_port,
         dc_fast_charge, price_usd, list_price_usd, msrp_usd, mileage_mi, displacement_cc, electric_range_mi,
         features, description, updated_at, content_hash, listing)
    select r.tenant_id, r.vehicle_id, r.row_version, i.version + 1, r.vin, r.stock, r.status, r.condition,
         r.vehicle_type, r.rooftop, r.year, r.make, r.model, r.trim, r.body, r.fuel, r.driveline, r.transmission,
         r.engine, r.exterior_color, r.interior_color, r.charge_port, r.dc_fast_charge, r.price_usd,
         r.list_price_usd, r.msrp_usd, r.mileage_mi, r.displacement_cc, r.electric_range_mi, r.features,
         r.description, r.updated_at, r.content_hash, r.listing
    from replaced r join tenant_inventory i on i.tenant_id = r.tenant_id
    where r.row_version <= i.version
    on conflict do nothing;
    return null;
end
$$;
create trigger keep_superseded_update after update on vehicles
    referencing old table as replaced for each statement execute function keep_superseded();
create trigger keep_superseded_delete after delete on vehicles
    referencing old table as replaced for each statement execute function keep_superseded();

create function note_version() returns trigger
    language plpgsql set search_path = forecourt, pg_temp
as $$
begin
    insert into inventory_versions (tenant_id, version, published_at)
    values (new.tenant_id, new.version, clock_timestamp())
    on conflict do nothing;
    return null;
end
$$;
create trigger note_version after update of version on tenant_inventory
    for each row when (new.version > old.version) execute function note_version();

-- How much each dealer is asked, so that a new process loads those first that will be asked first.
create table tenant_heat (
    tenant_id uuid             primary key references tenants (tenant_id) on delete cascade,
    -- Questions, those of a day ago counted half, those of two days ago a quarter.
    heat      double precision not null,
    noted_at  timestamptz      not null
);

alter table inventory_versions  enable row level security;
alter table superseded_vehicles enable row level security;
alter table tenant_heat         enable row level security;

create policy tenant   on inventory_versions to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on inventory_versions to forecourt_platform using (true) with check (true);
create policy tenant   on superseded_vehicles to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on superseded_vehicles to forecourt_platform using (true) with check (true);
create policy tenant   on tenant_heat to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on tenant_heat to forecourt_platform using (true) with check (true);

grant select, insert         on inventory_versions  to forecourt_app;
grant select, insert         on superseded_vehicles to forecourt_app;
grant select                 on tenant_heat         to forecourt_app;
grant select, delete         on inventory_versions  to forecourt_platform;
grant select, delete         on superseded_vehicles to forecourt_platform;
grant select, insert, update on tenant_heat         to forecourt_platform;
-- A removed unit that is forgotten is found by no reader of changes; the purge tells them to load anew.
grant update                 on tenant_inventory    to forecourt_platform;
