// A buyer agent as anybody would write it: it knows a dealer's base address and the official SDK, nothing else.

import { randomUUID } from 'node:crypto';

import { Role } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver } from '@a2a-js/sdk/client';

/** The contract this buyer speaks, as the extension URI that a dealer's card must name. */
export const CONTRACT = 'https://autoagentprotocol.org/extensions/aap/v3.0';

/** Skill id to the stem of its media types; the skill `inventory.vehicle` has the odd one. */
const MEDIA = {
  'dealer.information': 'dealer-information',
  'inventory.facets': 'inventory-facets',
  'inventory.search': 'inventory-search',
  'inventory.vehicle': 'vehicle-detail',
};

export const requestType = (skill) => `application/vnd.autoagent.${MEDIA[skill] ?? skill}-request+json`;
export const responseType = (skill) => `application/vnd.autoagent.${MEDIA[skill] ?? skill}-response+json`;

export class Buyer {
  #client;

  constructor(card, client) {
    this.card = card;
    this.#client = client;
  }

  /** Resolves the dealer's card from its base address (which ends in a slash) and connects to what it names. */
  static async at(base) {
    const card = await new DefaultAgentCardResolver().resolve(base);
    return new Buyer(card, await new ClientFactory().createFromAgentCard(card));
  }

  /**
   * Calls one skill and returns the whole A2A message that answers. `message` and `configuration` replace
   * members of what is sent, `options` goes to the SDK.
   */
  async send(skill, request = {}, { message = {}, configuration = {}, options } = {}) {
    const data = { type: `${skill}.request`, ...request };
    return this.#client.sendMessage(
      {
        tenant: '',
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
      options,
    );
  }

  /** Calls one skill and returns the `data` of its answer. */
  async ask(skill, request) {
    const answer = await this.send(skill, request);
    return answer.parts[0].content.value.data;
  }
}
