import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userListEmails: { request: async () => ({}), sameForBound: "accounts are in no repository" },
  userAddEmail: {
    request: async () => ({ json: { emails: [`${freshName("made")}@example.com`] } }),
    announces: once("email.added"),
  },
  userDeleteEmail: {
    request: async (world) => ({ json: { emails: [await world.email()] } }),
    announces: once("email.removed"),
  },
});
