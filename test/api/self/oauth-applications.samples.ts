import { freshName } from "../../support/make.ts";
import { CALLBACK } from "../../support/oauth.ts";
import { defineSamples, eachTime, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const sameForBound = "applications are in no repository";

const path = async (world: World) => ({ id: (await world.application()).id });

export const samples = defineSamples({
  userGetOauth2Application: {
    request: async (world) => {
      await world.application();
      return {};
    },
    sameForBound,
  },
  userCreateOAuth2Application: {
    request: async () => ({ json: { name: freshName("made"), redirect_uris: [CALLBACK] } }),
    announces: eachTime("oauth_application.created"),
  },
  userGetOAuth2Application: {
    request: async (world) => ({ path: await path(world) }),
    sameForBound,
  },
  userUpdateOAuth2Application: {
    request: async (world) => ({
      path: await path(world),
      json: { name: freshName("edited"), redirect_uris: [CALLBACK] },
    }),
    announces: eachTime("oauth_application.edited"),
  },
  userDeleteOAuth2Application: {
    request: async (world) => ({ path: await path(world) }),
    announces: once("oauth_application.deleted"),
  },
});
