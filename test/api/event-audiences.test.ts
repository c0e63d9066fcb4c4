import { describe, expect, it } from "vitest";

import { events } from "../../src/db/schema/index.ts";
import { EVENT_PAYLOADS, type EventKind } from "../../src/shapes/events/event.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestUser } from "../support/make.ts";
import { makePackage } from "../support/packages.ts";

/**
 * The callers that an event is listed for: callers that see the event's repository or owner;
 * callers that may read its code, its issues, its pull requests, its releases, its wiki; members of
 * the organization; its administrators; nobody while the repository exists.
 */
type Audience =
  | "everybody"
  | "code"
  | "issues"
  | "pulls"
  | "releases"
  | "wiki"
  | "actions"
  | "members"
  | "administrators"
  | "nobody";

/** Events of a repository. */
const IN_REPOSITORIES: Partial<Record<EventKind, Audience>> = {
  "repository.created": "everybody",
  "repository.forked": "everybody",
  "repository.edited": "everybody",
  "repository.renamed": "everybody",
  "repository.visibility_changed": "everybody",
  "repository.archived": "everybody",
  "repository.expiring": "everybody",
  "repository.topics_changed": "everybody",
  "repository.mirror_ended": "everybody",
  "push_mirror.added": "administrators",
  "push_mirror.removed": "administrators",
  "mirror.failed": "administrators",
  "mirror.recovered": "administrators",
  "migration.finished": "everybody",
  "migration.failed": "administrators",
  "repository.transferred": "everybody",
  "repository.transfer_started": "administrators",
  "repository.transfer_cancelled": "administrators",
  "repository.transfer_rejected": "administrators",
  "collaborator.added": "administrators",
  "collaborator.edited": "administrators",
  "collaborator.removed": "administrators",
  "repository.deleted": "everybody",
  "repository.pushed": "code",
  "commit_status.created": "code",
  "label.created": "everybody",
  "label.edited": "everybody",
  "label.deleted": "everybody",
  "release.published": "releases",
  "release.updated": "releases",
  "release.deleted": "releases",
  "wiki.changed": "wiki",
  "workflow_run.changed": "actions",
  "workflow_job.changed": "actions",
  "package.created": "everybody",
  "package.deleted": "everybody",
  "milestone.created": "everybody",
  "milestone.edited": "everybody",
  "milestone.closed": "everybody",
  "milestone.reopened": "everybody",
  "milestone.deleted": "everybody",
  "lfs_lock.created": "code",
  "lfs_lock.deleted": "code",
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
  "issue.opened": "issues",
  "issue.closed": "issues",
  "issue.reopened": "issues",
  "issue.edited": "issues",
  "issue.estimate_changed": "issues",
  "issue.deleted": "issues",
  "issue.assigned": "issues",
  "issue.unassigned": "issues",
  "issue.labeled": "issues",
  "issue.labels_cleared": "issues",
  "issue.milestoned": "issues",
  "issue.demilestoned": "issues",
  "issue.locked": "issues",
  "issue.unlocked": "issues",
  "issue.pinned": "issues",
  "issue.unpinned": "issues",
  "issue.deadline_changed": "issues",
  "issue.dependency_added": "issues",
  "issue.dependency_removed": "issues",
  "issue.time_added": "issues",
  "issue.time_deleted": "issues",
  "issue.times_reset": "issues",
  "issue.stopwatch_started": "issues",
  "issue.stopwatch_cancelled": "issues",
  "comment.created": "issues",
  "comment.edited": "issues",
  "comment.deleted": "issues",
  "pull.synchronized": "pulls",
  "pull.merged": "pulls",
  "pull.retargeted": "pulls",
  "pull.ready": "pulls",
  "pull.review_requested": "pulls",
  "pull.review_request_removed": "pulls",
  "pull.merge_scheduled": "pulls",
  "pull.merge_unscheduled": "pulls",
  "pull.enqueued": "pulls",
  "pull.dequeued": "pulls",
  "review.submitted": "pulls",
  "review.dismissed": "pulls",
  "review.undismissed": "pulls",
  "review.deleted": "pulls",
  "conversation.resolved": "pulls",
  "conversation.reopened": "pulls",
};

/** Events of an organization. */
const IN_ORGANIZATIONS: Partial<Record<EventKind, Audience>> = {
  "organization.created": "everybody",
  "label.created": "members",
  "label.edited": "members",
  "label.deleted": "members",
  "package.created": "members",
  "package.deleted": "members",
  "organization.deleted": "members",
  "organization.edited": "members",
  "organization.renamed": "members",
  "team.created": "members",
  "team.deleted": "members",
  "team.edited": "members",
  "team.repository_added": "administrators",
  "team.repository_removed": "administrators",
  "organization.avatar_changed": "members",
  "organization.member_added": "members",
  "organization.member_removed": "members",
  "organization.member_visibility_changed": "members",
  "block.created": "administrators",
  "block.deleted": "administrators",
  "hook.created": "administrators",
  "hook.edited": "administrators",
  "hook.deleted": "administrators",
  "hook.paused": "administrators",
  "hook.redelivered": "administrators",
};

/** Events of a user's account, listed for that user only. */
const IN_ACCOUNTS: readonly EventKind[] = [
  "user.created",
  "user.edited",
  "user.renamed",
  "user.deleted",
  "email.added",
  "email.removed",
  "access_token.created",
  "access_token.deleted",
  "public_key.added",
  "public_key.removed",
  "gpg_key.added",
  "gpg_key.verified",
  "gpg_key.removed",
  "oauth_application.created",
  "oauth_application.edited",
  "oauth_application.deleted",
  "oauth_grant.created",
  "oauth_grant.revoked",
  "follow.created",
  "follow.deleted",
  "block.created",
  "block.deleted",
  "hook.created",
  "hook.edited",
  "hook.deleted",
  "hook.paused",
  "hook.redelivered",
  "package.created",
  "package.deleted",
];

const KINDS = Object.keys(EVENT_PAYLOADS) as EventKind[];

/** The fields of all payloads, as they are stored. */
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
  recipientId: 1,
  permission: "read",
  teamId: 1,
  repositoryId: 1,
  isPublic: true,
  fingerprint: "SHA256:x",
  keyId: "K",
  labelId: 1,
  issueId: 1,
  isPull: false,
  commentId: 1,
  milestoneId: 1,
  reviewId: 1,
  before: "1".repeat(40),
  after: "2".repeat(40),
  isForced: false,
  commitCount: 1,
  mergeCommitOid: "3".repeat(40),
  mergeKind: "merge",
  isAutomatic: false,
  added: [1],
  removed: [2],
  deadlineAt: 1000,
  blockerId: 1,
  timeId: 1,
  seconds: 60,
  lastPayload: { issue: { body: "a former text" } },
};

/** Fields that have another form in the payloads of some kinds. */
const OTHER_PAYLOADS: Partial<Record<string, object>> = {
  "issue.edited": { from: { title: "a former title", body: "a former text" } },
  "comment.edited": { from: "a former text" },
  "review.submitted": { state: "approved" },
  "pull.enqueued": { branch: "main" },
  "pull.dequeued": { branch: "main", reason: "left", detail: "" },
};

/** Records one event of each given kind. */
async function record(
  ownerId: number,
  repoId: number | null,
  kinds: readonly string[],
  fields: object = {},
) {
  for (const type of kinds) {
    await db.insert(events).values({
      type,
      actorId: ownerId,
      ownerId,
      repoId,
      visibility: "public",
      isPrivate: false,
      payload: {
        ...PAYLOAD,
        pushId: crypto.randomUUID(),
        part: 0,
        ...OTHER_PAYLOADS[type],
        ...fields,
      },
      createdAt: 1000,
    });
  }
}

interface ListedEvent {
  type: EventKind;
  payload: Record<string, unknown>;
}

/** The events that a stream lists for a caller, "none" if it responds with 404. */
async function listedEvents(
  path: string,
  as?: TestUser,
  token = as?.token,
): Promise<ListedEvent[] | "none"> {
  const found: ListedEvent[] = [];
  for (let after = 0; ;) {
    const { status, body } = await call(
      "GET",
      `${path}?limit=50&after=${after}`,
      token === undefined ? {} : { token },
    );
    if (status === 404) return "none";
    expect(status).toBe(200);
    const page = body as { events: ListedEvent[]; next: number };
    found.push(...page.events);
    if (page.next === after) return found;
    after = page.next;
  }
}

/** Their kinds. */
async function listed(...asked: Parameters<typeof listedEvents>): Promise<string[] | "none"> {
  const found = await listedEvents(...asked);
  return found === "none" ? found : found.map(({ type }) => type);
}

const ofAudiences = (table: Partial<Record<string, Audience>>, ...audiences: Audience[]) =>
  Object.keys(table).filter((kind) => audiences.includes(table[kind] ?? "nobody"));

const EVERYBODY = ofAudiences(IN_REPOSITORIES, "everybody");
const UNITS = ["code", "issues", "pulls", "releases", "wiki", "actions"] as const;
const READERS = ofAudiences(IN_REPOSITORIES, "everybody", ...UNITS);
const ALL = Object.keys(IN_REPOSITORIES);

/**
 * Makes an organization with a member who reads; `makeStream` adds a repository with events of all
 * kinds.
 */
async function makeScene() {
  const [owner, member, stranger] = [await make.user(), await make.user(), await make.user()];
  const org = await make.org([owner]);
  await make.member(org, await make.team(org), member);
  const makeStream = async (
    fields: Parameters<typeof make.repo>[1],
    payload: object = {},
    kinds: readonly string[] = ALL,
  ) => {
    const repo = await make.repo(org, fields);
    await record(org.id, repo.id, kinds, payload);
    return `/repos/${org.name}/${repo.name}/events`;
  };
  return { owner, member, stranger, org, makeStream };
}

describe("each kind of event", () => {
  it("has an audience in these tables", () => {
    const known = new Set([...ALL, ...Object.keys(IN_ORGANIZATIONS), ...IN_ACCOUNTS]);
    expect([...known].toSorted()).toEqual(KINDS.toSorted());
  });

  it("is listed in a repository's stream for its audience", async () => {
    const { owner, member, stranger, makeStream } = await makeScene();
    const publicStream = await makeStream({});
    for (const as of [undefined, stranger, member])
      expect(await listed(publicStream, as)).toEqual(READERS);
    expect(await listed(publicStream, owner)).toEqual(ALL);

    const privateStream = await makeStream({ isPrivate: true });
    for (const as of [undefined, stranger]) expect(await listed(privateStream, as)).toBe("none");
    expect(await listed(privateStream, member)).toEqual(READERS);
    expect(await listed(privateStream, owner)).toEqual(ALL);

    const streamWithoutCode = await makeStream({ hasCode: false });
    const without = (unit: Audience) =>
      ofAudiences(IN_REPOSITORIES, "everybody", ...UNITS.filter((each) => each !== unit));
    expect(await listed(streamWithoutCode, stranger)).toEqual(without("code"));
    const streamWithoutIssues = await makeStream({ hasIssues: false });
    expect(await listed(streamWithoutIssues, stranger)).toEqual(without("issues"));
    const streamWithoutPulls = await makeStream({ hasPullRequests: false });
    expect(await listed(streamWithoutPulls, stranger)).toEqual(without("pulls"));
    const streamWithoutReleases = await makeStream({ hasReleases: false });
    expect(await listed(streamWithoutReleases, stranger)).toEqual(without("releases"));
    const streamWithoutWiki = await makeStream({ hasWiki: false });
    expect(await listed(streamWithoutWiki, stranger)).toEqual(without("wiki"));
    const streamWithoutActions = await makeStream({ hasActions: false });
    expect(await listed(streamWithoutActions, stranger)).toEqual(without("actions"));
    const none = {
      hasIssues: false,
      hasCode: false,
      hasPullRequests: false,
      hasReleases: false,
      hasWiki: false,
      hasActions: false,
    };
    const streamWithoutUnits = await makeStream(none);
    expect(await listed(streamWithoutUnits, stranger)).toEqual(EVERYBODY);
    expect(await listed(streamWithoutUnits, owner)).toEqual(ALL);
  });

  it("is listed for readers of pull requests if it is about one", async () => {
    const { stranger, makeStream } = await makeScene();
    const kinds = ofAudiences(IN_REPOSITORIES, "issues");
    const about = { isPull: true };
    const withoutPulls = await makeStream({ hasPullRequests: false }, about, kinds);
    expect(await listed(withoutPulls, stranger)).toEqual([]);
    const withoutIssues = await makeStream({ hasIssues: false }, about, kinds);
    expect(await listed(withoutIssues, stranger)).toEqual(kinds);
  });

  // SECURITY: a team may read the code and not the issues, or the other way around.
  it("is listed for the members of a team by the units that it grants", async () => {
    const { org, makeStream } = await makeScene();
    const [coder, tracker] = [await make.user(), await make.user()];
    const [reviewer, publisher] = [await make.user(), await make.user()];
    await make.member(org, await make.team(org, { units: { code: 1 } }), coder);
    await make.member(org, await make.team(org, { units: { pulls: 1 } }), reviewer);
    await make.member(org, await make.team(org, { units: { issues: 1 } }), tracker);
    await make.member(org, await make.team(org, { units: { releases: 1 } }), publisher);
    const writer = await make.user();
    await make.member(org, await make.team(org, { units: { wiki: 1 } }), writer);
    const stream = await makeStream({ isPrivate: true });
    expect(await listed(stream, coder)).toEqual(ofAudiences(IN_REPOSITORIES, "everybody", "code"));
    expect(await listed(stream, tracker)).toEqual(
      ofAudiences(IN_REPOSITORIES, "everybody", "issues"),
    );
    expect(await listed(stream, reviewer)).toEqual(
      ofAudiences(IN_REPOSITORIES, "everybody", "pulls"),
    );
    expect(await listed(stream, publisher)).toEqual(
      ofAudiences(IN_REPOSITORIES, "everybody", "releases"),
    );
    expect(await listed(stream, writer)).toEqual(ofAudiences(IN_REPOSITORIES, "everybody", "wiki"));
  });

  it("is listed of public repositories only for a token without a scope for issues or packages", async () => {
    const { owner, makeStream } = await makeScene();
    const token = await make.token(owner, { scopes: "read:repository" });
    const others = ALL.filter(
      (kind) => IN_REPOSITORIES[kind as EventKind] !== "issues" && !kind.startsWith("package."),
    );
    expect(await listed(await makeStream({ isPrivate: true }), undefined, token)).toEqual(others);
    expect(await listed(await makeStream({}), undefined, token)).toEqual(ALL);
    const both = await make.token(owner, { scopes: "read:repository,read:issue,read:package" });
    expect(await listed(await makeStream({ isPrivate: true }), undefined, both)).toEqual(ALL);
  });

  it("has a payload with the fields of its kind, and no text that was removed", async () => {
    const { owner, makeStream } = await makeScene();
    const found = await listedEvents(await makeStream({}), owner);
    expect(JSON.stringify(found)).not.toContain("a former text");
    const issueKinds = ofAudiences(IN_REPOSITORIES, "issues");
    const payloads = Object.fromEntries(
      found === "none" ? [] : found.map(({ type, payload }) => [type, payload]),
    );
    for (const kind of issueKinds) {
      expect(payloads[kind]).toMatchObject({ issue_id: 1, number: 1, is_pull: false });
    }
    expect(payloads["issue.edited"]).toMatchObject({ from: { title: "a former title" } });
    expect(payloads["issue.labeled"]).toMatchObject({ added: [1], removed: [2] });
    expect(payloads["issue.closed"]).toMatchObject({ commit_oid: "1".repeat(40) });
    expect(payloads["comment.created"]).toMatchObject({ comment_id: 1 });
    for (const kind of ofAudiences(IN_REPOSITORIES, "pulls")) {
      expect(payloads[kind]).toMatchObject({ issue_id: 1, number: 1 });
    }
    expect(payloads["pull.merged"]).toMatchObject({ merge_commit_oid: "3".repeat(40) });
    expect(payloads["review.submitted"]).toMatchObject({ review_id: 1, state: "approved" });
  });

  it("is listed in an organization's stream for its audience", async () => {
    const { owner, member, stranger, org, makeStream } = await makeScene();
    await record(org.id, null, Object.keys(IN_ORGANIZATIONS));
    const path = `/orgs/${org.name}/events`;
    const publicKinds = ofAudiences(IN_ORGANIZATIONS, "everybody");
    for (const as of [undefined, stranger]) expect(await listed(path, as)).toEqual(publicKinds);
    const inside = ofAudiences(IN_ORGANIZATIONS, "everybody", "members");
    expect(await listed(path, member)).toEqual(inside);
    expect(await listed(path, owner)).toEqual(Object.keys(IN_ORGANIZATIONS));

    await makeStream({ isPrivate: true });
    expect(await listed(path, stranger)).toEqual(publicKinds);
    expect(await listed(path, member)).toEqual([...inside, ...READERS]);
    expect(await listed(path, owner)).toEqual([...Object.keys(IN_ORGANIZATIONS), ...ALL]);
    // SECURITY: a token for public data sees the same events as a stranger.
    const narrow = await make.token(owner, { scopes: "public-only,all" });
    expect(await listed(path, undefined, narrow)).toEqual(publicKinds);
  });

  it("is listed in a user's stream for that user alone", async () => {
    const { stranger: user, owner: other } = await makeScene();
    await record(user.id, null, IN_ACCOUNTS);
    expect(await listed("/user/events", user)).toEqual(IN_ACCOUNTS);
    expect(await listed("/user/events", other)).toEqual([]);
    expect(await listed(`/orgs/${user.name}/events`, user)).toBe("none");
    const narrow = await make.token(user, { scopes: "public-only,all" });
    expect(await listed("/user/events", undefined, narrow)).toEqual([]);
  });

  // Events of system webhooks belong to no account: only the operator's queue receives them.
  // SECURITY: the package is hidden from members who may not write packages, and so is what happens
  // to it.
  it("is listed for owners only if it is about a package whose private repository is gone", async () => {
    const { owner, member, org } = await makeScene();
    const { id: packageId } = await makePackage(org, { isRestricted: true });
    await record(org.id, null, ["package.created"], { packageId });
    const path = `/orgs/${org.name}/events`;
    expect(await listed(path, member)).toEqual([]);
    expect(await listed(path, owner)).toEqual(["package.created"]);
  });

  it("is listed for tokens with a scope for packages only, if it is about one", async () => {
    const { owner, org } = await makeScene();
    await record(org.id, null, ["package.created"]);
    const streams = { scopes: "read:organization,read:repository" };
    const path = `/orgs/${org.name}/events`;
    expect(await listed(path, undefined, await make.token(owner, streams))).toEqual([]);
    const all = { scopes: `${streams.scopes},read:package` };
    expect(await listed(path, undefined, await make.token(owner, all))).toEqual([
      "package.created",
    ]);
  });

  it("is listed in no stream if it belongs to the service", async () => {
    const admin = await make.admin();
    await record(0, null, ["hook.created"]);
    expect(await listed("/user/events", admin)).toEqual([]);
  });
});

describe("concurrent writers in one repository", () => {
  it("record events with rising ids, and the cursor skips none", async () => {
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
