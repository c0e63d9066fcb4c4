import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  adminGetAllEmails: { request: async (world) => ({ as: await world.admin() }) },
  adminSearchEmails: {
    request: async (world) => {
      const { name } = await world.user();
      return { as: await world.admin(), query: { q: name } };
    },
    variants: () => Promise.resolve([{ query: { q: "a" } }, { query: { q: "" } }]),
  },
});
