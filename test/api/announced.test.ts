import { and, asc, eq, gt, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { accessTokens, events, users } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { EVENT_PAYLOADS, toEvent, type EventKind } from "../../src/shapes/event.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { typesOf } from "../support/events.ts";
import { makeGpgKey, makeSshKey, signText } from "../support/keys.ts";
import { make, type TestUser } from "../support/make.ts";
import { type Operation, operations } from "../support/operations.ts";
import { makeWorld, type World } from "../support/world.ts";

/** What an operation that writes records, in the order of the ids. */
interface Told {
  /** By doing it. */
  first: string[];
  /** By the very same request once more; nothing, where it is left out. */
  again?: string[];
}

const once = (...first: string[]): Told => ({ first });
const eachTime = (...first: string[]): Told => ({ first, again: first });

/** A text is made from what is sent, and nothing is stored. */
const RENDERED = once();
/** It only reads: the names of many files do not fit an address. */
const READ = once();

/** Every operation that is no GET, with the kinds of events that it records. */
const TOLD: Readonly<Record<string, Told>> = {
  renderMarkdown: RENDERED,
  renderMarkdownRaw: RENDERED,
  renderMarkup: RENDERED,
  repoGetFileContentsPost: READ,

  // The watch of whoever creates it comes with the repository, and so do the default hooks.
  createCurrentUserRepo: once("repository.created", "repository.pushed"),
  createOrgRepo: once("repository.created"),
  createOrgRepoDeprecated: once("repository.created"),
  createFork: once("repository.forked"),
  // The second request is led to the new name, and finds all as it asks for.
  repoEdit: once("repository.edited", "repository.renamed", "repository.visibility_changed"),
  repoDelete: once("repository.deleted"),
  userCurrentPutSubscription: once(),
  userCurrentDeleteSubscription: once("watch.deleted"),
  userCurrentPutStar: once(),
  userCurrentDeleteStar: once("star.deleted"),
  repoUpdateTopics: once("repository.topics_changed"),
  repoAddTopic: once(),
  repoDeleteTopic: once("repository.topics_changed"),
  repoCreateKey: once("public_key.added"),
  repoDeleteKey: once("public_key.removed"),

  // Two hooks of one address are two hooks.
  repoCreateHook: eachTime("hook.created"),
  repoEditHook: once("hook.edited"),
  repoDeleteHook: once("hook.deleted"),
  repoTestHook: eachTime("hook.tested"),
  orgTestHook: eachTime("hook.tested"),
  userTestHook: eachTime("hook.tested"),
  adminTestHook: eachTime("hook.tested"),
  // What is being sent is not asked for once more, and what was asked for did not fail.
  repoRedeliverHookDelivery: once("hook.redelivered"),
  repoRedeliverFailedHookDeliveries: once("hook.redelivered"),
  orgRedeliverHookDelivery: once("hook.redelivered"),
  orgRedeliverFailedHookDeliveries: once("hook.redelivered"),
  userRedeliverHookDelivery: once("hook.redelivered"),
  userRedeliverFailedHookDeliveries: once("hook.redelivered"),
  adminRedeliverHookDelivery: once("hook.redelivered"),
  adminRedeliverFailedHookDeliveries: once("hook.redelivered"),
  orgCreateHook: eachTime("hook.created"),
  orgEditHook: once("hook.edited"),
  orgDeleteHook: once("hook.deleted"),
  userCreateHook: eachTime("hook.created"),
  userEditHook: once("hook.edited"),
  userDeleteHook: once("hook.deleted"),
  adminCreateHook: eachTime("hook.created"),
  adminEditHook: once("hook.edited"),
  adminDeleteHook: once("hook.deleted"),

  // Whatever moves refs is a push.
  repoCreateBranch: once("repository.pushed"),
  repoRenameBranch: once("repository.pushed"),
  repoUpdateBranch: once(),
  repoDeleteBranch: once("repository.pushed"),
  repoCreateTag: once("repository.pushed"),
  repoDeleteTag: once("repository.pushed"),
  repoCreateNote: once("repository.pushed"),
  // As git does: the same text makes another commit, which moves the ref.
  repoEditNote: eachTime("repository.pushed"),
  repoDeleteNote: once("repository.pushed"),
  repoChangeFiles: eachTime("repository.pushed"),
  repoCreateFile: once("repository.pushed"),
  repoUpdateFile: once("repository.pushed"),
  repoDeleteFile: once("repository.pushed"),
  repoApplyDiffPatch: once("repository.pushed"),
  // A check may say the same twice.
  repoCreateStatus: eachTime("commit_status.created"),

  updateUserSettings: once("user.edited"),
  userAddEmail: once("email.added"),
  userDeleteEmail: once("email.removed"),
  userCurrentPostKey: once("public_key.added"),
  userCurrentDeleteKey: once("public_key.removed"),
  userCurrentPostGPGKey: once("gpg_key.added"),
  userVerifyGPGKey: once("gpg_key.verified"),
  userCurrentDeleteGPGKey: once("gpg_key.removed"),
  userCurrentPutFollow: once(),
  userCurrentDeleteFollow: once("follow.deleted"),
  userCreateToken: once("access_token.created"),
  userDeleteAccessToken: once("access_token.deleted"),

  // Its creator owns it: a membership of their own needs no telling.
  orgCreate: once("organization.created"),
  orgPublicizeMember: once(),
  orgConcealMember: once("organization.member_visibility_changed"),
  orgAddTeamMember: once(),
  orgRemoveTeamMember: once("organization.member_removed"),

  adminCreateUser: once("user.created"),
  adminEditUser: once("user.edited"),
  adminRenameUser: once("user.renamed"),
};

/** Operations that find done what they ask for, with what undoes it. */
const UNDONE_BY: Readonly<Record<string, { undo: string; told: string }>> = {
  userCurrentPutSubscription: { undo: "userCurrentDeleteSubscription", told: "watch.created" },
  userCurrentPutStar: { undo: "userCurrentDeleteStar", told: "star.created" },
  userCurrentPutFollow: { undo: "userCurrentDeleteFollow", told: "follow.created" },
  repoAddTopic: { undo: "repoDeleteTopic", told: "repository.topics_changed" },
  orgAddTeamMember: { undo: "orgRemoveTeamMember", told: "organization.member_added" },
  orgPublicizeMember: {
    undo: "orgConcealMember",
    told: "organization.member_visibility_changed",
  },
};

const writes = operations.filter(({ method }) => method !== "GET");

/** What the world lacks for some: keys that are keys, things to be deleted. */
const COMPLETIONS: Readonly<Record<string, (world: World) => Promise<Partial<World>>>> = {
  repoCreateKey: ({ json }) => Promise.resolve({ json: { ...json, key: makeSshKey().line } }),
  userCurrentPostKey: ({ json }) => Promise.resolve({ json: { ...json, key: makeSshKey().line } }),
  userCurrentPostGPGKey: async ({ caller }) => ({
    json: { armored_public_key: (await makeGpgKey(caller.email)).armored },
  }),
  userVerifyGPGKey: async ({ caller }) => {
    const key = await makeGpgKey(caller.email);
    const added = await call("POST", "/user/gpg_keys", {
      as: caller,
      json: { armored_public_key: key.armored },
    });
    expect(added.status).toBe(201);
    const { body: token } = await call("GET", "/user/gpg_key_token", { as: caller });
    return { json: { key_id: key.keyId, armored_signature: await signText(key, token) } };
  },
  userDeleteEmail: async ({ caller, json }) => {
    expect((await call("POST", "/user/emails", { as: caller, json })).status).toBe(201);
    return {};
  },
  userDeleteAccessToken: async ({ caller, path }) => {
    await make.token(caller);
    const tokens = await db
      .select()
      .from(accessTokens)
      .where(eq(accessTokens.userId, caller.id))
      .orderBy(asc(accessTokens.id));
    return { path: path.replace("no-such-token", String(tokens.at(-1)?.id)) };
  },
};

async function makeWhole(operation: Operation): Promise<World> {
  const world = await makeWorld(operation);
  return { ...world, ...(await COMPLETIONS[operation.id]?.(world)) };
}

const NOBODY = { userId: undefined, isSiteAdmin: false, rootUrl: "", noReplyDomain: "" };

const lastId = async (): Promise<number> =>
  only(await db.select({ id: sql<number>`coalesce(max(id), 0)`.as("id") }).from(events)).id;

/** Sends a request, and says which kinds of events it recorded. */
async function tellOf({ method }: Operation, { caller, path, json }: World, token = caller.token) {
  const before = await lastId();
  const answer = await call(method, path, { token, ...(json && { json }) });
  const recorded = await db
    .select()
    .from(events)
    .where(and(eq(events.actorId, caller.id), gt(events.id, before)))
    .orderBy(asc(events.id));
  for (const event of recorded) {
    const { payload } = toEvent({ event, actor: undefined, repo: undefined }, NOBODY);
    const { shape } = EVENT_PAYLOADS[event.type as EventKind];
    expect(Object.keys(payload).toSorted(), event.type).toEqual(Object.keys(shape).toSorted());
  }
  return { status: answer.status, told: typesOf(recorded), answer };
}

describe("what is told of each write", () => {
  it("is said here of every one", () => {
    expect(Object.keys(TOLD).toSorted()).toEqual(writes.map(({ id }) => id).toSorted());
  });

  it.each(writes.map((operation) => [operation.id, operation] as const))(
    "is what changed: %s",
    async (id, operation) => {
      const world = await makeWhole(operation);
      const { first, again = [] } = TOLD[id] ?? once("nothing is said of it");

      const token = await make.token(only(await selectUser(world.caller)), { scopes: "read:user" });
      const refused = await tellOf(operation, world, token);
      const needsScope = (operation.scopes ?? []).length > 0;
      expect(refused.status === 403).toBe(needsScope);
      expect(refused.told).toEqual([]);

      const done = await tellOf(operation, world);
      expect(done.status, JSON.stringify(done.answer.body)).toBeLessThan(300);
      expect(done.told).toEqual(first);

      const repeated = await tellOf(operation, world);
      expect(repeated.status).toBeLessThan(500);
      expect(repeated.told).toEqual(again);
    },
  );

  it.each(Object.entries(UNDONE_BY))("is that it is so again: %s", async (id, { undo, told }) => {
    const find = (wanted: string) => only(writes.filter((each) => each.id === wanted));
    const world = await makeWhole(find(id));
    expect((await tellOf(find(undo), world)).told).toEqual(TOLD[undo]?.first);
    expect((await tellOf(find(id), world)).told).toEqual([told]);
    expect((await tellOf(find(id), world)).told).toEqual([]);
  });
});

const selectUser = (user: TestUser) => db.select().from(users).where(eq(users.id, user.id));
