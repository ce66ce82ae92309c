// The official JavaScript SDKs of MCP, unchanged, in the oldest and the newest protocol version that each speaks: every
// tool, one error of each kind, resources and prompts. scripts/client-tests starts a platform and says where it is.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import * as second from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { lead } from './shopper.mjs';

const origin = process.env.FORECOURT_PUBLIC_ORIGIN;
assert.ok(origin, 'FORECOURT_PUBLIC_ORIGIN names no platform; scripts/client-tests sets it');
const key = process.env.FORECOURT_TEST_KEY;
// Only builds with fault injection can have a dealer that fails inside.
const faults = process.env.FORECOURT_TEST_FAULTS === 'yes';

// What is done wrong at A2A, as far as it is about a skill: the same goes wrong here.
const errors = JSON.parse(
  (await readFile(new URL('../errors.json', import.meta.url), 'utf8')).replaceAll('$NOW', new Date().toISOString()),
).filter((wrong) => wrong.skill && /^`[A-Z_]+`$/.test(wrong.wrong));

const contracts = ['v1.3', 'latest', 'v3.0'];
const tools = [
  'aap_dealer_information',
  'aap_inventory_facets',
  'aap_inventory_search',
  'aap_inventory_vehicle',
  'aap_lead_submit',
];
const tool = (skill) => `aap_${skill.replaceAll('.', '_')}`;

/** The SDK asks for the newest version it knows; an older one is asked for in its place, on the way to the server. */
function asking(version) {
  return (url, init = {}) => {
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    if (body?.method !== 'initialize') return fetch(url, init);
    body.params.protocolVersion = version;
    return fetch(url, { ...init, body: JSON.stringify(body) });
  };
}

const info = { name: 'client tests', version: '1' };
/** Name, and how a client of the SDK is made that speaks a version. */
const clients = [
  ['@modelcontextprotocol/sdk', '2024-11-05'],
  ['@modelcontextprotocol/sdk', '2025-11-25'],
  ['@modelcontextprotocol/client', '2024-11-05'],
  ['@modelcontextprotocol/client', '2026-07-28'],
];

async function connected(sdk, version, dealer, contract, requestInit = {}) {
  const url = new URL(`${origin}/t/${dealer}/${contract}/mcp`);
  const modern = version === '2026-07-28';
  const options = modern ? { requestInit } : { requestInit, fetch: asking(version) };
  const client =
    sdk === '@modelcontextprotocol/sdk'
      ? new FirstClient(info)
      : new second.Client(info, modern ? { versionNegotiation: { mode: { pin: version } } } : {});
  const Transport = sdk === '@modelcontextprotocol/sdk' ? FirstTransport : second.StreamableHTTPClientTransport;
  const transport = new Transport(url, options);
  await client.connect(transport);
  // From here on the SDK checks every structure that it gets, refusals included, against the schemas of the tools.
  const listed = await client.listTools();
  return { client, listed: listed.tools, version: transport.protocolVersion };
}

for (const [sdk, version] of clients) {
  for (const contract of contracts) {
    const title = `${sdk} in ${version}, ${contract}`;

    test(`${title}: every tool is listed and answers`, async () => {
      const { client, listed, version: spoken } = await connected(sdk, version, 'brindlewood', contract);
      if (spoken !== undefined) assert.equal(spoken, version);
      assert.deepEqual(listed.map((entry) => entry.name), tools);
      const ask = async (name, request = {}) => {
        const result = await client.callTool({ name, arguments: request });
        assert.ok(!result.isError, JSON.stringify(result));
        assert.equal(result.content[0].type, 'text');
        assert.equal(result.structuredContent.type, `${name.slice(4).replace('_', '.')}.response`);
        return result.structuredContent.data;
      };
      assert.ok((await ask(tools[0])).rooftops.length > 0);
      assert.ok((await ask(tools[1])).makes.length > 0);
      const found = await ask(tools[2], { pagination: { limit: 3 }, sort: { field: 'price', order: 'asc' } });
      assert.equal(found.vehicles.length, 3);
      const [{ vehicle_id }] = found.vehicles;
      assert.equal((await ask(tools[3], { vehicle_id })).vehicle_id, vehicle_id);
      const sent = lead('MCP client tests', { vehicle_id });
      const taken = await ask(tools[4], sent);
      assert.equal(taken.status, 'received');
      assert.deepEqual(await ask(tools[4], sent), taken, 'sent again');
      await client.close();
    });

    test(`${title}: one error of each kind is read whole`, async () => {
      for (const wrong of errors) {
        if (wrong.contracts && !wrong.contracts.includes(contract)) continue;
        const code = wrong.wrong.slice(1, -1);
        if (code === 'INTERNAL_ERROR' && !faults) continue;
        const { client } = await connected(sdk, version, wrong.dealer ?? 'brindlewood', contract);
        const request = JSON.parse(JSON.stringify(wrong.request ?? {}).replaceAll('$FRESH', randomUUID()));
        const call = (changed) => client.callTool({ name: tool(wrong.skill), arguments: { ...request, ...changed } });
        if (wrong.another_message_before) await call({ message: 'Something else.' });
        let result = await call({});
        if (wrong.until_refused && !result.isError) result = await call({});
        assert.equal(result.isError, true, `${code}: ${JSON.stringify(result)}`);
        const error = result.structuredContent;
        assert.deepEqual([error.type, error.code], ['aap.error', code]);
        assert.equal(typeof error.retryable, 'boolean');
        assert.ok(error.error_id && error.message && error.created_at, JSON.stringify(error));
        if (code === 'SCHEMA_VALIDATION_FAILED') assert.equal(error.details.errors.length, 2);
        if (code === 'RATE_LIMITED') assert.ok(error.details.retry_after_ms > 0);
        assert.ok(result.content[0].text.startsWith(`${code}: `), result.content[0].text);
        await client.close();
      }
    });
  }

  test(`${sdk} in ${version}: errors of the protocol, resources and prompts`, async () => {
    const { client } = await connected(sdk, version, 'brindlewood', 'v3.0');
    const refused = async (call, code) => {
      await assert.rejects(call, (error) => error.code === code || assert.fail(`${error.code}: ${error}`));
    };
    await refused(client.callTool({ name: 'aap_none', arguments: {} }), -32602);
    await refused(client.getPrompt({ name: 'find_a_car', arguments: {} }), -32602);
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map((entry) => entry.uri), ['aap://brindlewood/dealer', 'aap://brindlewood/facets']);
    const { contents } = await client.readResource({ uri: resources[0].uri });
    assert.equal(JSON.parse(contents[0].text).type, 'dealer.information.response');
    const { resourceTemplates } = await client.listResourceTemplates();
    const uri = resourceTemplates[0].uriTemplate.replace('{vehicle_id}', 'none');
    await assert.rejects(client.readResource({ uri }), (error) => error.data?.code === 'VEHICLE_NOT_FOUND');
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((entry) => entry.name), ['find_a_car', 'contact_the_dealer']);
    const { messages } = await client.getPrompt({ name: 'find_a_car', arguments: { wish: 'a small one' } });
    assert.match(messages[0].content.text, /a small one/);
    if (version !== '2026-07-28') assert.deepEqual(await client.ping(), {});
    await client.close();
  });

  test(`${sdk} in ${version}: a key opens a dealer that wants one`, async () => {
    const withKey = { headers: { Authorization: `Bearer ${key}` } };
    const { client } = await connected(sdk, version, 'gatehouse', 'v3.0', withKey);
    const result = await client.callTool({ name: tools[0], arguments: {} });
    assert.equal(result.structuredContent.data.name, 'Gatehouse Autos');
    await client.close();
    await assert.rejects(connected(sdk, version, 'gatehouse', 'v3.0'));
  });
}
