import { describe, expect, it } from "vitest";

import { events } from "../../src/db/schema/index.ts";
import { EVENT_PAYLOADS, type EventKind } from "../../src/shapes/events/event.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestUser } from "../support/make.ts";

/**
 * To whom an event is told, each group a part of the one before: all who see where it happened; those who
 * may read the code; members of the organization; those who administer it; nobody while it is there.
 */
type Audience = "everybody" | "readers" | "members" | "administrators" | "nobody";

/** Of events that happen in a repository. */
const IN_REPOSITORIES: Partial<Record<EventKind, Audience>> = {
  "repository.created": "everybody",
  "repository.forked": "everybody",
  "repository.edited": "everybody",
  "repository.renamed": "everybody",
  "repository.visibility_changed": "everybody",
  "repository.topics_changed": "everybody",
  "repository.deleted": "everybody",
  "repository.pushed": "readers",
  "commit_status.created": "readers",
  "lfs_lock.created": "readers",
  "lfs_lock.deleted": "readers",
  "star.created": "everybody",
  "star.deleted": "everybody",
  "watch.created": "everybody",
  "watch.deleted": "everybody",
  "hook.created": "administrators",
  "hook.edited": "administrators",
  "hook.deleted": "administrators",
  "hook.tested": "administrators",
  "hook.paused": "administrators",
  "hook.redelivered": "administrators",
  "public_key.added": "administrators",
  "public_key.removed": "administrators",
};

/** Of events that happen to an organization. */
const IN_ORGANIZATIONS: Partial<Record<EventKind, Audience>> = {
  "organization.created": "everybody",
  "organization.member_added": "members",
  "organization.member_removed": "members",
  "organization.member_visibility_changed": "members",
  "hook.created": "administrators",
  "hook.edited": "administrators",
  "hook.deleted": "administrators",
  "hook.paused": "administrators",
  "hook.redelivered": "administrators",
};

/** Of events that happen to a user: the user alone hears of them. */
const IN_ACCOUNTS: readonly EventKind[] = [
  "user.created",
  "user.edited",
  "user.renamed",
  "email.added",
  "email.removed",
  "access_token.created",
  "access_token.deleted",
  "public_key.added",
  "public_key.removed",
  "gpg_key.added",
  "gpg_key.verified",
  "gpg_key.removed",
  "follow.created",
  "follow.deleted",
  "hook.created",
  "hook.edited",
  "hook.deleted",
  "hook.paused",
  "hook.redelivered",
];

const KINDS = Object.keys(EVENT_PAYLOADS) as EventKind[];

/** All that any payload holds, in the form in which it is stored. */
const PAYLOAD = {
  name: "n",
  from: "a",
  to: "b",
  changed: ["website"],
  isPrivate: false,
  refCount: 1,
  updates: [{ ref: "refs/heads/main", before: null, after: "1".repeat(40) }],
  commitOid: "1".repeat(40),
  number: 1,
  state: "success",
  context: "ci",
  ref: "refs/heads/main",
  path: "p",
  hookId: 1,
  userId: 1,
  teamId: 1,
  isPublic: true,
  fingerprint: "SHA256:x",
  keyId: "K",
};

/** Records one event of each kind as if it had happened there. */
async function record(ownerId: number, repoId: number | null, kinds: readonly string[]) {
  for (const type of kinds) {
    await db.insert(events).values({
      type,
      actorId: ownerId,
      ownerId,
      repoId,
      payload: { ...PAYLOAD, pushId: crypto.randomUUID(), part: 0 },
      createdAt: 1000,
    });
  }
}

/** The kinds that a caller is told on a stream, "none" where it is not there for them. */
async function told(path: string, as?: TestUser, token = as?.token): Promise<string[] | "none"> {
  const { status, body } = await call(
    "GET",
    `${path}?limit=50`,
    token === undefined ? {} : { token },
  );
  if (status === 404) return "none";
  expect(status).toBe(200);
  return (body as { events: { type: string }[] }).events.map(({ type }) => type);
}

const ofAudiences = (table: Partial<Record<string, Audience>>, ...audiences: Audience[]) =>
  Object.keys(table).filter((kind) => audiences.includes(table[kind] ?? "nobody"));

const EVERYBODY = ofAudiences(IN_REPOSITORIES, "everybody");
const READERS = ofAudiences(IN_REPOSITORIES, "everybody", "readers");
const ALL = Object.keys(IN_REPOSITORIES);

/** An organization with a member who reads, one repository of each openness, and events of all kinds. */
async function makeScene() {
  const [owner, member, stranger] = [await make.user(), await make.user(), await make.user()];
  const org = await make.org([owner]);
  await make.member(org, await make.team(org), member);
  const place = async (fields: Parameters<typeof make.repo>[1]) => {
    const repo = await make.repo(org, fields);
    await record(org.id, repo.id, ALL);
    return `/repos/${org.name}/${repo.name}/events`;
  };
  return { owner, member, stranger, org, place };
}

describe("each kind of event", () => {
  it("has its audience here", () => {
    const known = new Set([...ALL, ...Object.keys(IN_ORGANIZATIONS), ...IN_ACCOUNTS]);
    expect([...known].toSorted()).toEqual(KINDS.toSorted());
  });

  it("is told of a repository to whom it concerns", async () => {
    const { owner, member, stranger, place } = await makeScene();
    const open = await place({});
    for (const as of [undefined, stranger, member]) expect(await told(open, as)).toEqual(READERS);
    expect(await told(open, owner)).toEqual(ALL);

    const hidden = await place({ isPrivate: true });
    for (const as of [undefined, stranger]) expect(await told(hidden, as)).toBe("none");
    expect(await told(hidden, member)).toEqual(READERS);
    expect(await told(hidden, owner)).toEqual(ALL);

    const codeless = await place({ hasCode: false });
    expect(await told(codeless, stranger)).toEqual(EVERYBODY);
  });

  it("is told of an organization to whom it concerns", async () => {
    const { owner, member, stranger, org, place } = await makeScene();
    await record(org.id, null, Object.keys(IN_ORGANIZATIONS));
    const path = `/orgs/${org.name}/events`;
    const open = ofAudiences(IN_ORGANIZATIONS, "everybody");
    for (const as of [undefined, stranger]) expect(await told(path, as)).toEqual(open);
    const inside = ofAudiences(IN_ORGANIZATIONS, "everybody", "members");
    expect(await told(path, member)).toEqual(inside);
    expect(await told(path, owner)).toEqual(Object.keys(IN_ORGANIZATIONS));

    await place({ isPrivate: true });
    expect(await told(path, stranger)).toEqual(open);
    expect(await told(path, member)).toEqual([...inside, ...READERS]);
    expect(await told(path, owner)).toEqual([...Object.keys(IN_ORGANIZATIONS), ...ALL]);
    // SECURITY: a token for what is public hears what a stranger hears.
    const narrow = await make.token(owner, { scopes: "public-only,all" });
    expect(await told(path, undefined, narrow)).toEqual(open);
  });

  it("is told of a user to that user alone", async () => {
    const { stranger: user, owner: other } = await makeScene();
    await record(user.id, null, IN_ACCOUNTS);
    expect(await told("/user/events", user)).toEqual(IN_ACCOUNTS);
    expect(await told("/user/events", other)).toEqual([]);
    expect(await told(`/orgs/${user.name}/events`, user)).toBe("none");
    const narrow = await make.token(user, { scopes: "public-only,all" });
    expect(await told("/user/events", undefined, narrow)).toEqual([]);
  });

  // What happens to hooks of the service belongs to no account: only a queue of the operator hears of it.
  it("is told of the service on no stream", async () => {
    const admin = await make.admin();
    await record(0, null, ["hook.created"]);
    expect(await told("/user/events", admin)).toEqual([]);
  });
});

describe("writers at once in one repository", () => {
  it("are told in the order of ids that rise, and the cursor leaves out none", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const users = await Promise.all(Array.from({ length: 8 }, () => make.user()));
    const path = `/repos/${owner.name}/${repo.name}`;
    const writing = Promise.all([
      ...users.flatMap((as) => [
        call("PUT", `/user/starred/${owner.name}/${repo.name}`, { as }),
        call("PUT", `${path}/subscription`, { as }),
      ]),
      ...users.map((_, at) =>
        call("PATCH", path, { as: owner, json: { description: `version ${at + 1}` } }),
      ),
    ]);
    const ids: number[] = [];
    const read = async (limit: number): Promise<number> => {
      const after = ids.at(-1) ?? 0;
      const { body } = await call("GET", `${path}/events?after=${after}&limit=${limit}`);
      ids.push(...body.events.map(({ id }: { id: number }) => id));
      return body.events.length;
    };
    for (let count = 0; count < 6; count++) await read(3);
    const answers = await writing;
    expect(answers.every(({ status }) => status < 300)).toBe(true);
    while ((await read(5)) > 0);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(ids.length);
    const { body } = await call("GET", `${path}/events?limit=50`);
    expect(body.events.map(({ id }: { id: number }) => id)).toEqual(ids);
    const types: string[] = body.events.map(({ type }: { type: string }) => type);
    for (const type of ["star.created", "watch.created", "repository.edited"]) {
      expect(types.filter((each) => each === type)).toHaveLength(users.length);
    }
  });
});
