/** The AAP error object of a call that was refused, wherever its contract version puts it. */
export function aapError(error) {
  for (const entry of [error.data].flat()) {
    const found = entry?.value ?? entry;
    if (found?.type === 'aap.error') return found;
  }
  return undefined;
}

/** Thrown where a dealer wants a key or a token; `challenge` says which. */
export class NotLetIn extends Error {
  constructor(challenge) {
    super(`the dealer wants a credential: ${challenge}`);
    this.challenge = challenge;
  }
}

/** To be the `fetchImpl` of a transport: the SDK keeps no headers of an answer. */
export async function fetchOrNotLetIn(...request) {
  const response = await fetch(...request);
  if (response.status === 401) throw new NotLetIn(response.headers.get('WWW-Authenticate'));
  return response;
}
