// Shoppers for the tests of every interface.

import { randomUUID } from 'node:crypto';

/** A lead of a shopper whom nobody has seen before, about a vehicle, sent by an agent of that name. */
export function lead(agent, vehicle) {
  const shopper = randomUUID();
  return {
    customer: { first_name: 'Ilse', last_name: 'Marchetti', email: `${shopper}@post.example` },
    consent: {
      granted_at: new Date(Date.now() - 5 * 60_000).toISOString(),
      allowed_channels: ['email'],
      consent_text: 'The dealer may write to me about this car.',
      scope: ['lead_submission'],
    },
    source_agent: { name: agent },
    vehicle_of_interest: vehicle,
    idempotency_key: shopper,
  };
}
