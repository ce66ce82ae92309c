// The official JavaScript SDK, unchanged, against every dealer in FORECOURT_TEST_BASES (base addresses, blanks
// between them). scripts/client-tests starts a platform and sets it.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { Role } from '@a2a-js/sdk';
import { ServiceParameters, withA2AExtensions } from '@a2a-js/sdk/client';
import {
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  TaskNotFoundError,
  isJsonRpcError,
} from '@a2a-js/sdk/errors';

import { Buyer, CONTRACT, requestType, responseType } from './buyer.mjs';

const bases = (process.env.FORECOURT_TEST_BASES ?? '').split(/\s+/).filter(Boolean);
assert.ok(bases.length > 0, 'FORECOURT_TEST_BASES names no dealer; scripts/client-tests sets it');

/** What the call was refused with; fails if it was answered. */
async function refusal(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: 'the call was answered, not refused' });
}

const detail = (error, name) => error.data.find((entry) => entry['@type'].endsWith(`.${name}`));

for (const base of bases) {
  describe(`@a2a-js/sdk at ${base}`, () => {
    /** @type {Buyer} */
    let buyer;
    before(async () => {
      buyer = await Buyer.at(base);
    });

    test('the card is found below the base address and names this dealer', () => {
      const { card } = buyer;
      assert.ok(card.name.length > 0);
      const [preferred] = card.supportedInterfaces;
      assert.equal(preferred.protocolBinding, 'JSONRPC');
      assert.equal(preferred.protocolVersion, '1.0');
      assert.ok(preferred.url.endsWith('a2a'), preferred.url);
      const contracts = card.capabilities.extensions.filter((entry) => entry.uri.includes('/extensions/aap/'));
      assert.deepEqual(contracts.map((entry) => [entry.uri, entry.required]), [[CONTRACT, true]]);
      const ids = card.skills.map((skill) => skill.id);
      for (const id of ['dealer.information', 'inventory.facets', 'inventory.search', 'inventory.vehicle']) {
        assert.ok(ids.includes(id), `${id} is not on the card: ${ids}`);
        assert.ok(card.defaultInputModes.includes(requestType(id)));
        assert.ok(card.defaultOutputModes.includes(responseType(id)));
      }
    });

    test('a search answers one message with one part', async () => {
      const answer = await buyer.send('inventory.search', { pagination: { limit: 3 } });
      assert.equal(answer.role, Role.ROLE_AGENT);
      assert.ok(answer.messageId.length > 0);
      assert.ok(answer.contextId.length > 0);
      assert.equal(answer.parts.length, 1);
      assert.equal(answer.parts[0].mediaType, responseType('inventory.search'));
      const { type, data } = answer.parts[0].content.value;
      assert.equal(type, 'inventory.search.response');
      assert.equal(data.vehicles.length, 3);
      assert.ok(Number.isInteger(data.total) && data.total > 3, `total ${data.total}`);
      assert.equal(data.limit, 3);
      assert.deepEqual(data.applied_filters, {});
      for (const vehicle of data.vehicles) {
        assert.ok(['available', 'intransit', 'pending'].includes(vehicle.status), vehicle.status);
        assert.ok(vehicle.vehicle_id.length > 0 && vehicle.updated_at.length > 0);
      }
    });

    test('a conversation keeps its context id', async () => {
      const message = { contextId: 'shopping for a used wagon' };
      const answer = await buyer.send('dealer.information', {}, { message });
      assert.equal(answer.contextId, message.contextId);
    });

    test('filters and sort hold for every vehicle', async () => {
      const [{ value: make }] = (await buyer.ask('inventory.facets')).makes;
      const cheap = await buyer.ask('inventory.search', {
        filters: { make: [make] },
        pagination: { limit: 5 },
        sort: { field: 'price', order: 'asc' },
      });
      const price_max = cheap.vehicles.at(-1).price;
      const filters = { make: [make.toUpperCase()], price_max };
      const sort = { field: 'price', order: 'desc' };
      const found = await buyer.ask('inventory.search', { filters, sort });
      assert.ok(found.total >= cheap.vehicles.length);
      assert.deepEqual(found.applied_filters, filters);
      assert.deepEqual(found.sort, sort);
      const prices = found.vehicles.map((vehicle) => vehicle.price);
      assert.equal(prices[0], price_max);
      assert.deepEqual(prices, prices.toSorted((a, b) => b - a));
      assert.ok(found.vehicles.every((vehicle) => vehicle.make === make));
    });

    test('cursor pages hold each match once, as many as facets count', async () => {
      const { makes } = await buyer.ask('inventory.facets');
      const { value: make, count } = makes[0];
      const request = { filters: { make: [make] }, sort: { field: 'updated_at', order: 'desc' } };
      const limit = Math.min(100, Math.ceil(count / 3));
      const ids = [];
      let cursor = null;
      do {
        const pagination = cursor === null ? { limit } : { limit, cursor };
        const page = await buyer.ask('inventory.search', { ...request, pagination });
        assert.equal(page.total, count);
        assert.ok(page.vehicles.length > 0, 'an empty page before the end');
        ids.push(...page.vehicles.map((vehicle) => vehicle.vehicle_id));
        cursor = page.next_cursor;
      } while (cursor !== null && ids.length <= count);
      assert.equal(ids.length, count);
      assert.equal(new Set(ids).size, count);
    });

    test('facets count what a search finds', async () => {
      const filters = { status: ['available'] };
      const facets = await buyer.ask('inventory.facets', { filters });
      const { total } = await buyer.ask('inventory.search', { filters, pagination: { limit: 1 } });
      assert.deepEqual(facets.statuses, [{ value: 'available', count: total }]);
    });

    test('the dealer introduces itself', async () => {
      const dealer = await buyer.ask('dealer.information');
      assert.ok(dealer.name.length > 0);
      assert.ok(dealer.rooftops.length > 0 && dealer.rooftops[0].name.length > 0);
    });

    test('a vehicle of a search is found by each of its keys', async () => {
      const { vehicles } = await buyer.ask('inventory.search', { pagination: { limit: 1 } });
      const [{ vehicle_id, stock, vin }] = vehicles;
      for (const key of [{ vehicle_id }, { stock }, { vin }]) {
        if (Object.values(key)[0] === undefined) continue;
        const vehicle = await buyer.ask('inventory.vehicle', key);
        assert.equal(vehicle.vehicle_id, vehicle_id, JSON.stringify(key));
      }
    });

    test('an unknown vehicle arrives as the AAP error in a Struct', async () => {
      const error = await refusal(buyer.send('inventory.vehicle', { stock: 'no such unit' }));
      assert.ok(isJsonRpcError(error), String(error));
      assert.equal(error.envelopeCode, -32000);
      assert.match(error.message, /VEHICLE_NOT_FOUND/);
      const { value } = detail(error, 'Struct');
      assert.equal(value.type, 'aap.error');
      assert.equal(value.code, 'VEHICLE_NOT_FOUND');
      assert.equal(value.retryable, false);
      const info = detail(error, 'ErrorInfo');
      assert.equal(error.data[0], info, 'ErrorInfo leads');
      assert.equal(info.domain, 'autoagentprotocol.org');
      assert.equal(info.metadata.error_id, value.error_id);
    });

    test('a wrong request arrives with all of its problems', async () => {
      const wrong = { filters: { colour: ['red'], year_min: 'new' }, pagination: { limit: 0 } };
      const error = await refusal(buyer.send('inventory.search', wrong));
      assert.ok(isJsonRpcError(error), String(error));
      assert.equal(error.envelopeCode, -32602);
      assert.equal(detail(error, 'Struct').value.code, 'SCHEMA_VALIDATION_FAILED');
      const fields = detail(error, 'BadRequest').fieldViolations.map((violation) => violation.field);
      assert.deepEqual(fields.toSorted(), ['/filters/colour', '/filters/year_min', '/pagination/limit']);
    });

    test('a made-up cursor and a skill nobody has are told apart', async () => {
      const cursor = await refusal(buyer.send('inventory.search', { pagination: { cursor: 'made-up' } }));
      assert.equal(cursor.envelopeCode, -32602);
      assert.equal(detail(cursor, 'Struct').value.code, 'INVALID_CURSOR');
      const skill = await refusal(buyer.send('service.booking'));
      assert.equal(skill.envelopeCode, -32602);
      const { value } = detail(skill, 'Struct');
      assert.equal(value.code, 'UNSUPPORTED_SKILL');
      assert.ok(value.details.supported_skills.includes('inventory.search'));
    });

    test('protocol errors arrive as the classes the SDK has for them', async () => {
      const configuration = { acceptedOutputModes: ['text/plain'] };
      const modes = await refusal(buyer.send('inventory.search', {}, { configuration }));
      assert.ok(modes instanceof ContentTypeNotSupportedError, String(modes));
      const task = await refusal(buyer.send('inventory.search', {}, { message: { taskId: 'none of ours' } }));
      assert.ok(task instanceof TaskNotFoundError, String(task));
      const other = 'https://autoagentprotocol.org/extensions/aap/v1.3';
      const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(other)) };
      const extension = await refusal(buyer.send('inventory.search', {}, { options }));
      assert.ok(extension instanceof ExtensionSupportRequiredError, String(extension));
      assert.ok(extension.message.includes(CONTRACT), extension.message);
    });
  });
}
