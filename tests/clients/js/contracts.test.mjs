// The official JavaScript SDK, unchanged, in each contract version: all five calls, and one error of each kind.
//
// What a caller sees of the errors is a table of docs/clients.md. It has to be what is seen here; with UPDATE_DOCS set
// it is written anew.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';

import { aapError, fetchOrNotLetIn, NotLetIn } from './aap_error.mjs';
import { Buyer } from './buyer.mjs';
import { lead } from './shopper.mjs';

const origin = process.env.FORECOURT_PUBLIC_ORIGIN;
assert.ok(origin, 'FORECOURT_PUBLIC_ORIGIN names no platform; scripts/client-tests sets it');
const key = process.env.FORECOURT_TEST_KEY;
// Only builds with fault injection can have a dealer that fails inside.
const faults = process.env.FORECOURT_TEST_FAULTS === 'yes';

const here = (name) => new URL(name, import.meta.url);
const page = here('../../../docs/clients.md');
// What is done wrong, with the time and a key that nobody used before.
const errors = JSON.parse(
  (await readFile(here('../errors.json'), 'utf8'))
    .replaceAll('$NOW', new Date().toISOString())
    .replaceAll('$FRESH', randomUUID()),
);
const versions = ['v1.3', 'latest', 'v3.0'];
const [begin, end] = ['<!-- javascript -->\n', '<!-- end of javascript -->\n'];
const base = (dealer, version) => `${origin}/t/${dealer}/${version}/`;

for (const version of versions) {
  test(`each skill is served in ${version}`, async () => {
    const buyer = await Buyer.at(base('brindlewood', version));
    assert.ok(buyer.contract.endsWith(`/extensions/aap/${version}`), buyer.contract);
    assert.ok(buyer.card.supportedInterfaces[0].url.endsWith(`/${version}/a2a`));

    const dealer = await buyer.ask('dealer.information');
    assert.ok(dealer.name.length > 0 && dealer.rooftops.length > 0);
    const facets = await buyer.ask('inventory.facets');
    assert.ok(facets.makes.length > 0);
    const whole = await buyer.ask('inventory.search', { pagination: { limit: 4 } });
    const first = await buyer.ask('inventory.search', { pagination: { limit: 2 } });
    assert.equal('skip' in first, version !== 'v3.0');
    const on = version === 'v3.0' ? { cursor: first.next_cursor } : { skip: 2 };
    const second = await buyer.ask('inventory.search', { pagination: { limit: 2, ...on } });
    assert.deepEqual([...first.vehicles, ...second.vehicles], whole.vehicles);
    const [{ stock, vehicle_id }] = whole.vehicles;
    const vehicle = await buyer.ask('inventory.vehicle', { stock });
    assert.equal(vehicle.vehicle_id, vehicle_id);
    const sent = lead('@a2a-js/sdk tests', { stock });
    const taken = await buyer.ask('lead.submit', sent);
    assert.equal(taken.status, 'received');
    assert.deepEqual(await buyer.ask('lead.submit', sent), taken, 'sent again');
  });

  test(`a key opens a dealer that wants one, in ${version}`, async () => {
    const withKey = (url, init = {}) =>
      fetchOrNotLetIn(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } });
    const buyer = await Buyer.at(base('gatehouse', version), withKey);
    assert.ok('key' in buyer.card.securitySchemes);
    assert.equal((await buyer.ask('dealer.information')).name, 'Gatehouse Autos');
    const stranger = await Buyer.at(base('gatehouse', version), fetchOrNotLetIn);
    const refused = (error) => error instanceof NotLetIn && error.challenge.startsWith('Bearer ');
    await assert.rejects(stranger.ask('dealer.information'), refused);
  });
}

/** Makes the call and returns what the SDK threw. */
async function provoke(wrong, buyer) {
  const { options } = buyer;
  if (wrong.another_message_before) await buyer.send(wrong.skill, { ...wrong.request, message: 'Something else.' });
  for (let call = 0; call < (wrong.until_refused ? 2 : 1); call += 1) {
    try {
      switch (wrong.operation) {
        case 'get_task':
          await buyer.client.getTask({ tenant: '', id: 'none of ours', historyLength: undefined }, options);
          break;
        case 'create_push_config':
          await buyer.client.createTaskPushNotificationConfig(
            { tenant: '', id: '', taskId: 'none of ours', url: 'https://buyer.example/', token: '', authentication: undefined },
            options,
          );
          break;
        default:
          await buyer.send(wrong.skill, wrong.request, {
            options,
            tenant: wrong.tenant,
            message: wrong.task_id ? { taskId: wrong.task_id } : {},
            configuration: wrong.accept ? { acceptedOutputModes: [wrong.accept] } : {},
          });
      }
    } catch (error) {
      return error;
    }
  }
  throw new assert.AssertionError({ message: `${wrong.wrong} was answered, not refused` });
}

/** What of an answer reached the caller: exception, number and data, in words. The message has to be there whole. */
function seen(error, answer, wrong) {
  if (answer === undefined) return ['–', `\`${error.name}\` of the SDK itself`, 'nothing was sent'];
  if (answer.status !== 200) {
    assert.ok(error.message.includes(String(answer.status)), error.message);
    return ['–', `\`${error.name}\``, '`undefined`'];
  }
  assert.ok(error.message.endsWith(answer.body.error.message), `${wrong}: ${error.message}`);
  assert.equal(error.envelopeCode, answer.body.error.code, wrong);
  assert.deepEqual(error.data, answer.body.error.data, wrong);
  return [String(answer.body.error.code), `\`${error.name}\``, 'all of it'];
}

test('what a caller sees of each error is what the page says', { skip: !faults && 'needs fault injection' }, async () => {
  const rows = ['| what is wrong | in | `error.code` | thrown | `error.data` |', '|---|---|---|---|---|'];
  for (const wrong of errors) {
    const cells = new Map();
    for (const version of wrong.contracts ?? versions) {
      let answer;
      // Headers are bent here: A2A-Version is the SDK's own and cannot be set by its callers.
      const watched = async (url, init = {}) => {
        const response = await fetch(url, { ...init, headers: { ...init.headers, ...wrong.headers } });
        const { status } = response;
        answer = { status, body: await response.clone().json() };
        return response;
      };
      const buyer = await Buyer.at(base(wrong.dealer ?? 'brindlewood', version), watched);
      answer = undefined;
      const error = await provoke(wrong, buyer);
      const cell = seen(error, answer, wrong.wrong).join(' | ');
      cells.set(cell, [...(cells.get(cell) ?? []), `\`${version}\``]);
      const code = wrong.wrong.replaceAll('`', '');
      const isCode = code === code.toUpperCase();
      assert.equal(aapError(error)?.code, isCode ? code : undefined, `${version}: ${wrong.wrong}`);
    }
    let name = wrong.wrong;
    for (const [cell, places] of cells) {
      const where = places.length === versions.length ? 'all' : places.join(', ');
      rows.push(`| ${name} | ${where} | ${cell} |`);
      name = '';
    }
  }
  const text = await readFile(page, 'utf8');
  const [before, rest] = text.split(begin);
  const [written, after] = rest.split(end);
  const table = `\n${rows.join('\n')}\n\n`;
  if (process.env.UPDATE_DOCS) await writeFile(page, before + begin + table + end + after);
  else assert.equal(written, table, 'docs/clients.md says otherwise; UPDATE_DOCS=1 writes it');
});

test('the lines that the page recommends are those that are tested', async () => {
  const lines = await readFile(here('./aap_error.mjs'), 'utf8');
  assert.ok((await readFile(page, 'utf8')).includes(`\`\`\`js\n${lines}\`\`\`\n`));
});
