-- The lots. PostgreSQL is their truth; searches are answered from a copy in memory, so there is no index
-- beyond the key and the one that finds what changed since a version.

create table tenant_inventory (
    tenant_id         uuid        primary key references tenants (tenant_id) on delete cascade,
    -- Raised by one by every transaction that changes the lot; its row lock serialises the writers of a tenant.
    version           bigint      not null default 0,
    -- A reader that holds an older version must load the lot anew.
    min_delta_version bigint      not null default 0,
    changed_at        timestamptz not null default now()
);

-- No foreign keys below: a check per row would be a good part of the cost of an import, and tenants are never
-- deleted (their state becomes `removed`).
create table vehicles (
    tenant_id         uuid        not null,
    vehicle_id        text        collate "C" not null,
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
    -- Whole US dollars, as on the wire.
    price_usd         bigint,
    list_price_usd    bigint,
    msrp_usd          bigint,
    mileage_mi        bigint,
    displacement_cc   bigint,
    electric_range_mi double precision,
    features          text[]      not null default '{}',
    description       text,
    updated_at        timestamptz not null,
    content_hash      bytea       not null check (octet_length(content_hash) = 32),
    -- Which rendering made the documents; older ones are made anew.
    render_version    smallint    not null,
    -- The inventory version that wrote the row.
    row_version       bigint      not null,
    listing           text        not null,
    -- The detail document where it differs; apart, so that reading listings does not touch it.
    detail            text,
    primary key (tenant_id, vehicle_id)
);
create index vehicles_row_version on vehicles (tenant_id, row_version);

-- Sold and withdrawn units stay known for 180 days, so that a buyer who asks for one is told that it is gone.
create table removed_vehicles (
    tenant_id   uuid        not null,
    vehicle_id  text        collate "C" not null,
    vin         text        collate "C",
    stock       text        collate "C",
    reason      text        collate "C" not null,
    removed_at  timestamptz not null,
    row_version bigint      not null,
    primary key (tenant_id, vehicle_id)
);
create index removed_vehicles_row_version on removed_vehicles (tenant_id, row_version);

-- Documents are above the size at which PostgreSQL stores a value apart. lz4 is several times cheaper than the
-- default there, but a server may be built without it.
do $$
begin
    alter table vehicles alter column listing set compression lz4;
    alter table vehicles alter column detail set compression lz4;
    alter table vehicles alter column description set compression lz4;
exception when feature_not_supported or invalid_parameter_value then
    raise notice 'this server has no lz4; documents use the default compression';
end
$$;

alter table tenant_inventory enable row level security;
alter table vehicles         enable row level security;
alter table removed_vehicles enable row level security;

create policy tenant   on tenant_inventory to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on tenant_inventory to forecourt_platform using (true) with check (true);
create policy tenant   on vehicles to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on vehicles to forecourt_platform using (true) with check (true);
create policy tenant   on removed_vehicles to forecourt_app
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant());
create policy platform on removed_vehicles to forecourt_platform using (true) with check (true);

grant select, update                 on tenant_inventory to forecourt_app;
grant select, insert, update, delete on vehicles         to forecourt_app;
grant select, insert, update, delete on removed_vehicles to forecourt_app;

grant select, insert                 on tenant_inventory to forecourt_platform;
grant select                         on vehicles         to forecourt_platform;
grant select, delete                 on removed_vehicles to forecourt_platform;
