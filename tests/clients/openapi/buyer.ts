// A buyer that was generated: it knows an OpenAPI document and nothing else. `schema.ts` is made from that document by
// openapi-typescript; the compiler then holds every call below against it.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const baseUrl = process.argv[2];
assert.ok(baseUrl, 'node buyer.js BASE');
const client = createClient<paths>({ baseUrl });

// By POST: all five skills. `type` may be left out.
const who = await client.POST('/skills/dealer.information', { body: {} });
assert.ok(who.data?.data.rooftops[0]?.name, JSON.stringify(who.error));
const counted = await client.POST('/skills/inventory.facets', { body: { filters: { condition: ['used'] } } });
const make = counted.data?.data.makes?.[0]?.value;
assert.equal(typeof make, 'string', JSON.stringify(counted.error));
const found = await client.POST('/skills/inventory.search', {
  body: { filters: { make: [String(make)] }, sort: { field: 'price', order: 'asc' }, pagination: { limit: 3 } },
});
const vehicle = found.data?.data.vehicles[0];
assert.ok(vehicle?.vehicle_id, JSON.stringify(found.error));
const detail = await client.POST('/skills/inventory.vehicle', { body: { vehicle_id: vehicle.vehicle_id } });
assert.equal(detail.data?.data.vehicle_id, vehicle.vehicle_id);
const lead = await client.POST('/skills/lead.submit', {
  body: {
    customer: { first_name: 'Typed', last_name: 'Buyer', email: 'typed.buyer@post.example' },
    consent: {
      granted_at: new Date().toISOString(),
      allowed_channels: ['email'],
      consent_text: 'The dealer may email me about this vehicle.',
      scope: ['lead_submission'],
    },
    source_agent: { name: 'generated-typescript-buyer' },
    vehicle_of_interest: { vehicle_id: vehicle.vehicle_id },
    idempotency_key: crypto.randomUUID(),
  },
});
assert.equal(lead.data?.type, 'lead.submit.response', JSON.stringify(lead.error));

// By GET: the same answers, and the way to the next page.
const page = await client.GET('/inventory', {
  params: { query: { make: [String(make)], sort: 'price', order: 'asc', limit: 3 } },
});
assert.deepEqual(page.data?.data.vehicles, found.data?.data.vehicles);
assert.match(page.response.headers.get('link') ?? '', /rel="next"/);
const one = await client.GET('/inventory/{vehicle_id}', { params: { path: { vehicle_id: vehicle.vehicle_id } } });
assert.deepEqual(one.data, detail.data);
assert.deepEqual((await client.GET('/dealer')).data, who.data);
const facets = await client.GET('/facets', { params: { query: { condition: ['used'] } } });
assert.deepEqual(facets.data, counted.data);

// A refusal is typed too.
const nothing = await client.GET('/inventory/{vehicle_id}', { params: { path: { vehicle_id: 'no such/id' } } });
assert.equal(nothing.response.status, 404);
assert.equal(nothing.error?.error?.code, 'VEHICLE_NOT_FOUND');
const wrong = await client.POST('/skills/inventory.search', {
  // @ts-expect-error: the compiler knows better.
  body: { filters: { price_max: 'cheap' } },
});
assert.equal(wrong.response.status, 422);
console.log('ok: the TypeScript client makes all five calls, by POST and GET');
