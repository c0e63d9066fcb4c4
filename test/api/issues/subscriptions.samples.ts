import { defineSamples, NOTHING } from "../../support/samples/sample.ts";
import { makeSubscription } from "../../support/notifications.ts";
import type { World } from "../../support/samples/world.ts";

const ofUser = async (world: World) => ({
  path: { ...(await world.issuePath()), user: (await world.user()).name },
});

export const samples = defineSamples({
  issueSubscriptions: {
    request: async (world) => {
      await makeSubscription(await world.stranger(), await world.issue());
      return { path: await world.issuePath() };
    },
  },
  issueCheckSubscription: { request: async (world) => ({ path: await world.issuePath() }) },
  issueAddSubscription: { request: ofUser, announces: NOTHING },
  issueDeleteSubscription: { request: ofUser, announces: NOTHING },
});
