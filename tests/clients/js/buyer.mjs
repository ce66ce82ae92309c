// A buyer agent as anybody would write it: it knows a dealer's base address and the official SDK, nothing else.

import { randomUUID } from 'node:crypto';

import { Role } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client';

/** The contract this buyer speaks, as the extension URI that a dealer's card must name. */
export const CONTRACT = 'https://autoagentprotocol.org/extensions/aap/v3.0';

/** Skill id to the stem of its media types; the skill `inventory.vehicle` has the odd one. */
const MEDIA = {
  'dealer.information': 'dealer-information',
  'inventory.facets': 'inventory-facets',
  'inventory.search': 'inventory-search',
  'inventory.vehicle': 'vehicle-detail',
  'lead.submit': 'lead-submit',
};

export const requestType = (skill) => `application/vnd.autoagent.${MEDIA[skill] ?? skill}-request+json`;
export const responseType = (skill) => `application/vnd.autoagent.${MEDIA[skill] ?? skill}-response+json`;

export class Buyer {
  constructor(card, client) {
    this.card = card;
    this.client = client;
    /** The contract of the card: what its endpoint wants in `A2A-Extensions`, be it a must or not. */
    this.contract = card.capabilities.extensions.find((entry) => entry.uri.includes('/extensions/aap/')).uri;
  }

  /**
   * Resolves the card from a base address (a dealer's, or that of one of its contract versions; both end in a slash)
   * and connects to what the card names. `fetchImpl` is what makes the requests, for those who want to see more.
   */
  static async at(base, fetchImpl = fetch) {
    const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(base);
    const transports = [new JsonRpcTransportFactory({ fetchImpl })];
    const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }));
    return new Buyer(card, await factory.createFromAgentCard(card));
  }

  /** What goes to the SDK with each call. It sends `A2A-Version` by itself. */
  get options() {
    return { serviceParameters: ServiceParameters.create(withA2AExtensions(this.contract)) };
  }

  /**
   * Calls one skill and returns the whole A2A message that answers. `message` and `configuration` replace
   * members of what is sent, `options` goes to the SDK in place of [`Buyer.options`].
   */
  async send(skill, request = {}, { message = {}, configuration = {}, tenant = '', options } = {}) {
    const data = { type: `${skill}.request`, ...request };
    return this.client.sendMessage(
      {
        tenant,
        message: {
          messageId: randomUUID(),
          contextId: '',
          taskId: '',
          role: Role.ROLE_USER,
          parts: [
            {
              content: { $case: 'data', value: data },
              mediaType: requestType(skill),
              filename: '',
              metadata: undefined,
            },
          ],
          metadata: undefined,
          extensions: [],
          referenceTaskIds: [],
          ...message,
        },
        configuration: {
          acceptedOutputModes: [responseType(skill)],
          taskPushNotificationConfig: undefined,
          returnImmediately: false,
          ...configuration,
        },
        metadata: undefined,
      },
      options ?? this.options,
    );
  }

  /** Calls one skill and returns the `data` of its answer. */
  async ask(skill, request) {
    const answer = await this.send(skill, request);
    return answer.parts[0].content.value.data;
  }
}
