import { freshName } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  userGetCurrent: {
    request: async () => ({}),
    sameForBound: "accounts are in no repository",
  },
  getUserSettings: { request: async () => ({}), sameForBound: "accounts are in no repository" },
  updateUserSettings: {
    request: async () => ({ json: { full_name: freshName("made"), hide_email: true } }),
    announces: once("user.edited"),
  },
});
