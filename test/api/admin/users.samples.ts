import { freshName, make } from "../../support/make.ts";
import { defineSamples, once } from "../../support/samples/sample.ts";
import type { World } from "../../support/samples/world.ts";

const asAdmin = async (world: World) => ({ as: await world.admin() });
const onUser = async (world: World) => ({
  ...(await asAdmin(world)),
  path: await world.userPath(),
});

export const samples = defineSamples({
  adminSearchUsers: { request: asAdmin },
  adminCreateUser: {
    request: async (world) => {
      const username = freshName("made");
      const email = `${username}@example.com`;
      return { ...(await asAdmin(world)), json: { username, email, password: "correct horse" } };
    },
    announces: once("user.created"),
  },
  adminEditUser: {
    request: async (world) => {
      const name = freshName("made");
      const json = { full_name: name, email: `${name}@example.com` };
      return { ...(await onUser(world)), json };
    },
    announces: once("user.edited"),
  },
  adminDeleteUser: {
    request: async (world) => {
      const { name: username } = await make.user();
      return { ...(await asAdmin(world)), path: { username }, query: { purge: "true" } };
    },
    announces: once("user.deleted"),
    extraRound: "the account is deleted in steps",
  },
  adminRenameUser: {
    request: async (world) => ({
      ...(await onUser(world)),
      json: { new_username: freshName("made") },
    }),
    announces: once("user.renamed"),
  },
});
