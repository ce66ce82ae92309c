// The pages for people in a real browser, and a web page of somebody else's that asks a dealer.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

const origin = process.env.FORECOURT_PUBLIC_ORIGIN;
const bases = process.env.FORECOURT_TEST_BASES.trim().split(/\s+/);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const extension = 'https://autoagentprotocol.org/extensions/aap/v3.0';

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  });
});
after(() => browser?.close());

/** A page that fails the test for anything the browser complains about. */
async function open(url, width = 1100) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, bypassCSP: false });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  const response = await page.goto(url, { waitUntil: 'load' });
  assert.equal(response.status(), 200);
  return { page, complaints };
}

/** What axe finds. It is run in a context that may run scripts, which the pages themselves may not. */
async function accessibility(url) {
  const context = await browser.newContext({ bypassCSP: true });
  const page = await context.newPage();
  await page.goto(url);
  await page.addScriptTag({ content: axe });
  const found = await page.evaluate(() => globalThis.axe.run());
  await context.close();
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

for (const [name, url] of [['the platform', `${origin}/`], ...bases.map((base) => [base, base])]) {
  test(`the page of ${name} is whole, fits a phone and is accessible`, async () => {
    const { page, complaints } = await open(url);
    assert.ok((await page.locator('h1').innerText()).length > 0);
    assert.deepEqual(complaints, []);
    const phone = await open(url, 390);
    const overflow = await phone.page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(overflow <= 0, `the page is ${overflow}px wider than a phone`);
    assert.deepEqual(await accessibility(url), []);
  });
}

test("the platform's page leads to every dealer, and from there to its card", async () => {
  const { page } = await open(`${origin}/`);
  for (const base of bases) {
    await page.goto(`${origin}/`);
    await page.click(`a[href="${base}"]`);
    assert.equal(page.url(), base);
    const card = await page.locator('link[rel=alternate]').getAttribute('href');
    const answer = await page.request.get(card);
    assert.equal((await answer.json()).supportedInterfaces[0].protocolBinding, 'JSONRPC');
  }
});

test('photos of the demo cars are shown', async () => {
  const { page } = await open(`${origin}/demo/photos/suv-1f2a44-1.svg`);
  assert.ok((await page.locator('svg title').first().textContent()).length > 0);
});

test("a web page of another origin reads a card and searches", async () => {
  const site = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html');
    answer.end('<!doctype html><title>A shopping assistant</title>');
  });
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
  try {
    const { page, complaints } = await open(`http://localhost:${site.address().port}/`);
    const seen = await page.evaluate(
      async ({ base, extension }) => {
        const card = await fetch(`${base}.well-known/agent-card.json`);
        const { supportedInterfaces } = await card.json();
        const answer = await fetch(supportedInterfaces[0].url, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', 'A2A-Extensions': extension },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'SendMessage',
            params: {
              message: {
                messageId: 'm-1',
                role: 'ROLE_USER',
                parts: [
                  {
                    mediaType: 'application/vnd.autoagent.inventory-search-request+json',
                    data: { type: 'inventory.search.request', pagination: { limit: 1 } },
                  },
                ],
              },
            },
          }),
        });
        return {
          etag: card.headers.get('etag'),
          activated: answer.headers.get('a2a-extensions'),
          total: (await answer.json()).result.message.parts[0].data.data.total,
        };
      },
      { base: bases[0], extension },
    );
    assert.match(seen.etag, /^"[0-9a-f-]{36}"$/);
    assert.equal(seen.activated, extension);
    assert.ok(seen.total > 0);
    assert.deepEqual(complaints, []);
  } finally {
    site.close();
  }
});
