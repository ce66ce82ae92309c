// inventory.search of one dealer, answered by SQL, behind the official JavaScript SDK: as its samples set it up,
// as many processes as processors.
//
//   node server.mjs SOCKET_FOLDER PORT_OF_POSTGRES DATABASE SLUG PROCESSES

import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { randomUUID } from 'node:crypto';

const [socket, postgres, database, slug, processes] = process.argv.slice(2);

if (cluster.isPrimary) {
  const port = await freePort();
  let listening = 0;
  for (let n = 0; n < Number(processes); n += 1) cluster.fork({ PEER_PORT: String(port) });
  cluster.on('listening', () => {
    listening += 1;
    if (listening === Number(processes)) console.log(`listening on 127.0.0.1:${port}`);
  });
  cluster.on('exit', () => process.exit(1));
} else {
  await serve(Number(process.env.PEER_PORT));
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function serve(port) {
  const { default: express } = await import('express');
  const { default: pg } = await import('pg');
  const sdk = await import('@a2a-js/sdk');
  const { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } = await import('@a2a-js/sdk/server');
  const { UserBuilder, jsonRpcHandler } = await import('@a2a-js/sdk/server/express');

  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({
    host: socket, port: Number(postgres), database, user: 'postgres', max: 4, options: '-c search_path=forecourt',
  });
  const { rows } = await pool.query('select tenant_id from tenant_slugs where slug = $1', [slug]);
  const tenant = rows[0].tenant_id;

  const executor = {
    async execute(context, bus) {
      const request = context.userMessage.parts[0].content.value;
      const data = { type: 'inventory.search.response', data: await search(pool, tenant, request) };
      bus.publish(AgentEvent.message({
        messageId: randomUUID(),
        contextId: context.contextId,
        taskId: '',
        role: sdk.Role.ROLE_AGENT,
        parts: [{
          content: { $case: 'data', value: data },
          metadata: undefined,
          filename: '',
          mediaType: 'application/vnd.autoagent.inventory-search-response+json',
        }],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      }));
      bus.finished();
    },
    async cancelTask() {},
  };
  const path = `/t/${slug}/v3.0/a2a`;
  const modes = ['application/json'];
  const card = {
    name: slug,
    description: 'A dealer',
    supportedInterfaces: [
      { url: `http://127.0.0.1:${port}${path}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    ],
    provider: undefined,
    version: '1.0.0',
    capabilities: { streaming: false, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: [],
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(path, jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  app.listen(port, '127.0.0.1');
}

const ONE_OF = ['make', 'model', 'trim', 'condition', 'body', 'fuel', 'driveline', 'exterior_color'];
const ORDERS = { price: 'price_usd', mileage: 'mileage_mi', year: 'year', updated_at: 'updated_at' };

async function search(pool, tenant, request) {
  const values = [tenant];
  const bind = (value) => `$${values.push(value)}`;
  const conditions = ['tenant_id = $1'];
  for (const [name, value] of Object.entries(request.filters ?? {})) {
    if (ONE_OF.includes(name)) conditions.push(`${name} = any(${bind(value)})`);
    else if (name === 'features') conditions.push(`features @> ${bind(value)}`);
    else if (name === 'year_min') conditions.push(`year >= ${bind(value)}`);
    else if (name === 'price_max') conditions.push(`price_usd <= ${bind(value)}`);
    else if (name === 'mileage_max') conditions.push(`mileage_mi <= ${bind(value)}`);
    else throw new Error(`the filter ${name} is not known here`);
  }
  const { field, order } = request.sort;
  const limit = request.pagination.limit;
  const text = `select count(*) over () as total, listing from vehicles where ${conditions.join(' and ')}
    order by ${ORDERS[field]} ${order === 'desc' ? 'desc' : 'asc'} nulls last, vehicle_id limit ${bind(limit)}`;
  // A name makes it a prepared statement, one for each set of filters and order.
  const name = `${Object.keys(request.filters ?? {}).join()} ${field} ${order}`;
  const { rows } = await pool.query({ name, text, values });
  return {
    total: rows.length ? rows[0].total : 0,
    limit,
    next_cursor: null,
    applied_filters: request.filters ?? {},
    sort: request.sort,
    vehicles: rows.map((row) => JSON.parse(row.listing)),
  };
}
